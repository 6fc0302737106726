import type { Config } from "../config/config.ts";
import { openSeals } from "../config/key-ring-file.ts";
import { collections } from "../services/collections.ts";
import { checkDatabase, repairDatabase } from "../storage/check/check-database.ts";
import { confinedBindings } from "../storage/check/confinement-check.ts";
import type { Database } from "../storage/database.ts";
import { unopenableSecrets } from "../storage/installation/encrypted-columns.ts";
import type { Seals } from "../storage/installation/encryption.ts";
import { withDatabase } from "./open.ts";

/** Somebody who reads a hundred warnings will not read more. */
const maxWarnings = 100;

/** Compares what is derived with the rows it is derived from; 1 when they differ, also after a repair. Warnings change nothing. */
export async function checkDatabaseCommand(config: Config, repair: boolean): Promise<number> {
  return await withDatabase(config, "existing", async (database) => {
    await warnOfConfined(database);
    const areSecretsOpen = await opensSecrets(database, openSeals(config));
    if (await isSound(database)) return areSecretsOpen ? 0 : 1;
    if (!repair) return 1;
    console.log(`${await repairAll(database)} entries and counters were put right; checking again`);
    return (await isSound(database)) && areSecretsOpen ? 0 : 1;
  });
}

/**
 * Tells of bindings that give less than they say, as far as somebody reads. They are no fault of the database, and nothing that a
 * repair could put right.
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

/** Each collection in a transaction of its own: servers that run wait for it before they write. */
async function repairAll(database: Database): Promise<number> {
  const context = { actor: "", method: "db check --repair", requestId: "", time: Date.now() };
  let repaired = 0;
  for (const collection of collections) {
    repaired += await database.write(context, (tx) => repairDatabase(tx, [collection]));
  }
  return repaired;
}

async function isSound(database: Database): Promise<boolean> {
  const { findings, rows, truncated } = await database.read((session) => checkDatabase(session, collections));
  for (const finding of findings) console.log(finding);
  if (truncated) console.log("… and more");
  if (findings.length === 0) console.log(`${rows} rows: counters and indexes agree with them`);
  return findings.length === 0;
}

/** Whether the keys that are set open every secret; no repair can help with one that they do not open. */
async function opensSecrets(database: Database, seals: Seals): Promise<boolean> {
  return await database.read(async (session) => {
    let areOpen = true;
    for await (const finding of unopenableSecrets(session, seals)) {
      console.log(finding);
      areOpen = false;
    }
    return areOpen;
  });
}
