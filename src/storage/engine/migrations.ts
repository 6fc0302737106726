// Compares the migrations of a folder with those that drizzle recorded in the database. A database with the latest one
// is not migrated: reading all of them would double the time to open it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseNewer } from "./errors.ts";

/**
 * Returns whether a migration time is that of the latest migration of the folder. `applied` is undefined for a database
 * without migrations.
 */
export function isLatest(folder: string, applied: number | undefined): boolean {
  return applied === latestOf(folder);
}

/**
 * Throws DatabaseNewer if a newer version of the program migrated the database: this one could not read it correctly.
 */
export function refuseNewer(folder: string, applied: number | undefined): void {
  if (applied !== undefined && applied > latestOf(folder))
    throw new DatabaseNewer("was written by a newer version of Gatehouse; start that version or restore a backup");
}

/** Called after migrations, with their names in order and their total duration. */
export type MigrationListener = (names: readonly string[], durationMs: number) => void;

/** Returns a function that reports the pending migrations once they are applied. A new database has none to report. */
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

/** Returns the migrations of a folder in order, with the times that drizzle identifies them by. */
function entriesOf(folder: string): { readonly when: number; readonly tag: string }[] {
  const journal: unknown = JSON.parse(readFileSync(path.join(folder, "meta", "_journal.json"), "utf8"));
  return (journal as { entries: { when: number; tag: string }[] }).entries;
}
