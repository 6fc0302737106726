// Migrations by their times, which the folder has and drizzle records. A database that has the latest of them is left as it is:
// to read all of them at every start takes as long as everything else that opening the database does.
import { readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseNewer } from "./errors.ts";

/** Whether the migration of this time is the last one of the folder; undefined is that of a database that has none. */
export function isLatest(folder: string, applied: number | undefined): boolean {
  return applied === latestOf(folder);
}

/** Throws DatabaseNewer when the database was migrated by a later version of the program, which could not read it rightly. */
export function refuseNewer(folder: string, applied: number | undefined): void {
  if (applied !== undefined && applied > latestOf(folder))
    throw new DatabaseNewer("was written by a newer version of Gatehouse; start that version or restore a backup");
}

function latestOf(folder: string): number {
  const journal: unknown = JSON.parse(readFileSync(path.join(folder, "meta", "_journal.json"), "utf8"));
  return Math.max(...(journal as { entries: { when: number }[] }).entries.map((entry) => entry.when));
}
