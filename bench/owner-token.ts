// A token of the owner of generated data. In production nobody can sign in there, since the issuer of its identity does not exist.
import { openKeyRing } from "../src/authn/key-ring.ts";
import { newTokens, type Tokens } from "../src/authn/tokens.ts";
import { systemClock } from "../src/base/clock.ts";
import { readKeyRing } from "../src/config/key-ring-file.ts";
import type { Database } from "../src/storage/database.ts";
import { newEncryption } from "../src/storage/installation/encryption.ts";
import { keyStore } from "../src/storage/installation/signing-keys.ts";
import type { Landmarks } from "./population.ts";

/** Signs a token with the keys of an installation, whose secrets key is in the data directory. It is valid for an hour. */
export async function issueOwnerToken(
  database: Database,
  dataDir: string,
  { ownerUid }: Pick<Landmarks, "ownerUid">,
  issuer: string,
): Promise<{ tokens: Tokens; token: string }> {
  // A server of an earlier run may have encrypted its keys with the one in the directory.
  const encryption = newEncryption(readKeyRing({ dev: true, dataDir, secretsKeys: [] }));
  const keys = await openKeyRing(keyStore(database, encryption, systemClock), {
    algorithm: "RS256",
    clock: systemClock,
    refreshCooldownMs: 1000,
    patienceMs: 1000,
    maxAgeMs: 1000,
  });
  const tokens = newTokens({ issuer, audiences: [issuer], keys, clock: systemClock });
  const act = { iss: issuer, sub: "owner", aud: issuer };
  const { token } = await tokens.issue({ subject: ownerUid, audience: [issuer], act, grants: {}, narrowing: {} });
  return { tokens, token };
}
