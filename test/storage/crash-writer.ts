// A process that tests start: creates root groups with two children each, and prints acknowledged writes.
import { insertRow } from "../../src/storage/collection/rows.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { groupRow, groups, write } from "./fixtures.ts";

const [url = "", label = "", count = "0"] = process.argv.slice(2);
const database = await openDatabase(url, defaultDatabaseLimits);

async function createGroups(writer: number): Promise<void> {
  for (let i = 0; i < Number(count); i++) {
    const parent = groupRow(null, `${label} ${writer} ${i}`);
    await write(database, async (tx) => {
      for (const row of [parent, groupRow(parent.uid, 1), groupRow(parent.uid, 2)]) await insertRow(tx, groups, row);
    });
    process.stdout.write(`${parent.uid}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, writer) => createGroups(writer)));
await database.close();
