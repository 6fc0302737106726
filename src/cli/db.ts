import type { Config } from "../config.ts";
import { collections } from "../services/collections.ts";
import { checkDatabase, repairDatabase } from "../storage/check.ts";
import { withDatabase } from "./open.ts";

/** Compares what is derived with the rows it is derived from; 1 when they differ and are not repaired. */
export async function checkDatabaseCommand(config: Config, repair: boolean): Promise<number> {
  return await withDatabase(config, async (database) => {
    const result = await checkDatabase(database.session, collections);
    for (const finding of result.findings) console.log(finding);
    if (result.findings.length === 0) {
      console.log(`${result.rows} rows: counters and indexes agree with them`);
      return 0;
    }
    if (!repair) return 1;
    const context = { actor: "", method: "db check --repair", requestId: "", time: Date.now() };
    await database.write(context, (tx) => repairDatabase(tx, collections));
    console.log("repaired");
    return 0;
  });
}
