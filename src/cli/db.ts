import type { Config } from "../config/config.ts";
import { readKeyRing } from "../config/key-ring-file.ts";
import { collections } from "../services/resources.ts";
import { checkDatabase, repairDatabase } from "../storage/check/check-database.ts";
import { confinedBindings } from "../storage/check/confinement-check.ts";
import type { Database } from "../storage/database.ts";
import { undecryptableSecrets } from "../storage/installation/encrypted-columns.ts";
import { type Encryption, newEncryption } from "../storage/installation/encryption.ts";
import { withDatabase } from "./open.ts";

/** The maximum number of printed warnings. */
const maxWarnings = 100;

/**
 * Compares derived data with the rows it is derived from. Returns exit code 1 if they differ, even after a repair.
 * Warnings do not change the exit code.
 */
export async function checkDatabaseCommand(config: Config, repair: boolean): Promise<number> {
  return await withDatabase(config, "existing", async (database) => {
    await warnOfConfined(database);
    const areSecretsOpen = await opensSecrets(database, newEncryption(readKeyRing(config)));
    if (await isSound(database)) return areSecretsOpen ? 0 : 1;
    if (!repair) return 1;
    console.log(`${await repairAll(database)} entries and counters were put right; checking again`);
    return (await isSound(database)) && areSecretsOpen ? 0 : 1;
  });
}

/**
 * Warns about role bindings that grant less than they seem to. They are not damage, and a repair does not change them.
 */
async function warnOfConfined(database: Database): Promise<void> {
  await database.read(async (session) => {
    let told = 0;
    for await (const { uid, identityUid, roleUid, groupUid, home, countsAtHome } of confinedBindings(session)) {
      if (told++ === maxWarnings) return console.log("warning: … and more");
      const counts = countsAtHome ? `counts in ${home} only` : "counts nowhere";
      console.log(
        `warning: role_bindings ${uid}: identity ${identityUid} is confined to ${home}, so role ${roleUid} at ${groupUid} ${counts}`,
      );
    }
  });
}

/** Repairs each collection in its own transaction. Running servers wait with their writes. */
async function repairAll(database: Database): Promise<number> {
  const context = { actor: "", method: "db check --repair", requestId: "", time: Date.now() };
  let repaired = 0;
  for (const collection of collections) {
    repaired += await database.write(context, (tx) => repairDatabase(tx, [collection]));
  }
  return repaired;
}

/** Prints inconsistencies. Returns whether there are none. */
export async function isSound(database: Database): Promise<boolean> {
  const { findings, rows, truncated } = await database.read((session) => checkDatabase(session, collections));
  for (const finding of findings) console.log(finding);
  if (truncated) console.log("… and more");
  if (findings.length === 0) console.log(`${rows} rows: counters and indexes agree with them`);
  return findings.length === 0;
}

/** Reports whether the configured keys decrypt every secret. A repair cannot help with secrets that they do not. */
export async function opensSecrets(database: Database, encryption: Encryption): Promise<boolean> {
  return await database.read(async (session) => {
    let areOpen = true;
    for await (const finding of undecryptableSecrets(session, encryption)) {
      console.log(finding);
      areOpen = false;
    }
    return areOpen;
  });
}
