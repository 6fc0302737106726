// Counts the rows of the tables about images.
import type { PgTable } from "drizzle-orm/pg-core";
import type { Database } from "../../src/storage/database.ts";
import { count } from "../../src/storage/schema/drizzle.ts";

const tables = [
  "images",
  "imageChildren",
  "imageQueue",
  "imageSboms",
  "imagePackages",
  "packages",
  "packageKeys",
  "packageFindings",
  "imageUses",
  "tagUses",
  "repoRegistries",
] as const;

/** Returns the numbers of rows by table, without empty tables. */
export async function imageRows({ session }: Pick<Database, "session">): Promise<Record<string, number>> {
  const found: [string, number][] = [];
  for (const name of tables) {
    const statement = session.prepared(`test.count.${name}`, (db) =>
      db.select({ rows: count() }).from(session.tables[name] as PgTable),
    );
    const rows = (await statement.execute())[0]!.rows;
    if (rows > 0) found.push([name, rows]);
  }
  return Object.fromEntries(found);
}
