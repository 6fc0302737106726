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

/** Called after migrations were applied, with their names in order and how long they took together. */
export type MigrationListener = (names: readonly string[], durationMs: number) => void;

/**
 * Notes which migrations are to come; the function that it returns reports them once they are applied. A new database has none
 * to report: it is made as this version wants it.
 */
export function watchMigrations(folder: string, applied: number | undefined, report: MigrationListener): () => void {
  const startedAt = performance.now();
  const pending = applied === undefined ? [] : entriesOf(folder).filter(({ when }) => when > applied);
  const names = pending.map(({ tag }) => tag);
  return () => {
    if (names.length > 0) report(names, Math.round(performance.now() - startedAt));
  };
}

function latestOf(folder: string): number {
  return Math.max(...entriesOf(folder).map(({ when }) => when));
}

/** The migrations of a folder, in order, with the times that drizzle knows them by. */
function entriesOf(folder: string): { readonly when: number; readonly tag: string }[] {
  const journal: unknown = JSON.parse(readFileSync(path.join(folder, "meta", "_journal.json"), "utf8"));
  return (journal as { entries: { when: number; tag: string }[] }).entries;
}
