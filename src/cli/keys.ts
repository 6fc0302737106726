import { logKeyRotation } from "../access-log/key-rotations.ts";
import { openKeyRing } from "../authn/key-ring.ts";
import { type SigningPurpose, signingPurposes } from "../authn/signing-purposes.ts";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { readKeyRing } from "../config/key-ring-file.ts";
import { limits } from "../server/limits.ts";
import { newEncryption } from "../storage/installation/encryption.ts";
import { keyStore, listSigningKeys } from "../storage/installation/signing-keys.ts";
import { withDatabase } from "./open.ts";

const purposeTexts: Readonly<Record<SigningPurpose, string>> = {
  own: "signs tokens for the API",
  others: "signs tokens for others",
};

/** Lists the signing keys, without their private parts. */
export async function listKeys(config: Config): Promise<number> {
  const keys = await withDatabase(config, "existing", (database) => listSigningKeys(database.session));
  if (keys.length === 0) console.log("there is no key yet; the server creates one when it starts");
  const purposesOf = signingPurposes(keys, Date.now());
  for (const { kid, algorithm, createTime, retireTime } of keys) {
    const purposes = purposesOf(kid).map((purpose) => purposeTexts[purpose]);
    const end = retireTime === null ? "" : `verifies until ${new Date(retireTime).toISOString()}`;
    const isRetired = retireTime !== null && retireTime <= Date.now();
    const state = isRetired ? "retired" : [...purposes, end].filter((text) => text !== "").join(", ");
    console.log(`${kid}  ${algorithm}  made ${new Date(createTime).toISOString()}  ${state}`);
  }
  return 0;
}

/** Adds a new signing key. Running servers use it, publish it, and reject retired keys within a second. */
export async function rotateKeys(config: Config, retireNow: boolean): Promise<number> {
  const kid = await withDatabase(config, "existing", async (database) => {
    const isFirst = (await listSigningKeys(database.session)).length === 0;
    const encryption = newEncryption(readKeyRing(config));
    const ring = await openKeyRing(keyStore(database, encryption, systemClock, logKeyRotation), {
      algorithm: config.signingAlgorithm,
      clock: systemClock,
      refreshCooldownMs: limits.keyRefreshCooldownMs,
      patienceMs: limits.keyPatienceMs,
      maxAgeMs: limits.keyMaxAgeMs,
    });
    // Opening the key ring of an empty database creates its first key.
    return isFirst ? (await ring.signing("others")).kid : (await ring.rotate(retireNow ? 0 : limits.keyOverlapMs)).kid;
  });
  console.log(`new keys sign from now on; ${kid} signs tokens for others`);
  return 0;
}
