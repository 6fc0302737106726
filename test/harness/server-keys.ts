// Signing keys for the servers of the tests: to make two for each takes longer than all else of a start.
import { loadKey, newKey } from "../../src/authn/signing-key.ts";
import type { Clock } from "../../src/base/clock.ts";
import { once } from "../../src/base/lazy.ts";
import type { Config } from "../../src/config/config.ts";
import { readKeyRing } from "../../src/config/key-ring-file.ts";
import { newCertificate } from "../../src/registry-token/certificate.ts";
import type { Database } from "../../src/storage/database.ts";
import { newEncryption } from "../../src/storage/installation/encryption.ts";
import { getOrSetSecret } from "../../src/storage/installation/secret-settings.ts";
import { keyStore } from "../../src/storage/installation/signing-keys.ts";

/** Made when first needed, and given out in turn: servers that run together have different ones. */
const keys = Array.from({ length: 8 }, () => once(() => newKey("RS256", 0)));
let given = 0;

/** Gives a new database the keys that a server would make at its first start. */
export async function bringKeys(config: Config, database: Database, clock: Clock): Promise<void> {
  const encryption = newEncryption(readKeyRing(config));
  if (config.signingAlgorithm === "RS256")
    await keyStore(database, encryption, clock).add([await nextKey(clock)], clock());
  const { retireTime, ...key } = await nextKey(clock);
  const certificate = await newCertificate(loadKey({ ...key, retireTime }).privateKey, "of the tests", clock());
  const context = { actor: "", method: "start", requestId: "", time: clock() };
  const value = JSON.stringify({ ...key, certificate });
  await database.write(context, (tx) => getOrSetSecret(tx, encryption, "registry_signing_key", value));
}

async function nextKey(clock: Clock) {
  const key = keys[given++ % keys.length]!;
  return { ...(await key()), createTime: clock() };
}
