import { readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseNewer } from "./errors.ts";

/** Throws DatabaseNewer when the database was migrated by a later version of the program, which could not read it rightly. */
export function refuseNewer(folder: string, latestApplied: number): void {
  const journal: unknown = JSON.parse(readFileSync(path.join(folder, "meta", "_journal.json"), "utf8"));
  const known = (journal as { entries: { when: number }[] }).entries.map((entry) => entry.when);
  if (latestApplied > Math.max(...known))
    throw new DatabaseNewer("was written by a newer version of Gatehouse; start that version or restore a backup");
}
