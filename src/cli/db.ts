import type { Config } from "../config.ts";
import { collections } from "../services/collections.ts";
import { checkDatabase, repairDatabase } from "../storage/check.ts";
import type { Database } from "../storage/database.ts";
import { withDatabase } from "./open.ts";

/** Compares what is derived with the rows it is derived from; 1 when they differ, also after a repair. */
export async function checkDatabaseCommand(config: Config, repair: boolean): Promise<number> {
  return await withDatabase(config, async (database) => {
    if (await isSound(database)) return 0;
    if (!repair) return 1;
    const context = { actor: "", method: "db check --repair", requestId: "", time: Date.now() };
    const repaired = await database.write(context, (tx) => repairDatabase(tx, collections));
    console.log(`${repaired} entries and counters were put right; checking again`);
    return (await isSound(database)) ? 0 : 1;
  });
}

async function isSound(database: Database): Promise<boolean> {
  const { findings, rows, truncated } = await database.read((session) => checkDatabase(session, collections));
  for (const finding of findings) console.log(finding);
  if (truncated) console.log("… and more");
  if (findings.length === 0) console.log(`${rows} rows: counters and indexes agree with them`);
  return findings.length === 0;
}
