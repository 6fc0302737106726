// Compares the migrations of a folder with those that drizzle recorded in the database. A database with the latest one
// is not migrated: reading all of them would double the time to open it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseVersionMismatch } from "./errors.ts";

/**
 * Returns whether a migration time is that of the latest migration of the folder. `applied` is undefined for a database
 * without migrations.
 */
export function isLatest(folder: string, applied: number | undefined): boolean {
  return applied === latestOf(folder);
}

/** A commit with the migrations that `0000_initial` replaces (docs/decisions/0054). */
const commitBefore = "d01e5454af8dbb753e7e1b3f94c472cc5a7863f8";

/**
 * Throws DatabaseVersionMismatch if the database stopped before the first migration of the folder. That one has the time
 * of the last migration that it replaces, so a database with all of those counts as migrated.
 */
export function refuseOlder(folder: string, applied: number | undefined): void {
  if (applied === undefined || applied >= firstOf(folder)) return;
  const commit = `commit ${commitBefore.slice(0, 8)} of its repository (${commitBefore})`;
  throw new DatabaseVersionMismatch(
    `was written by an older version of Gatehouse that this one cannot migrate; start ${commit} once, then this version`,
  );
}

/**
 * Throws DatabaseVersionMismatch if a newer version of the program migrated the database: this one could not read it
 * correctly.
 */
export function refuseNewer(folder: string, applied: number | undefined): void {
  if (applied !== undefined && applied > latestOf(folder))
    throw new DatabaseVersionMismatch(
      "was written by a newer version of Gatehouse; start that version or restore a backup",
    );
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

function firstOf(folder: string): number {
  return Math.min(...entriesOf(folder).map(({ when }) => when));
}

function latestOf(folder: string): number {
  return Math.max(...entriesOf(folder).map(({ when }) => when));
}

/** Returns the migrations of a folder in order, with the times that drizzle identifies them by. */
function entriesOf(folder: string): { readonly when: number; readonly tag: string }[] {
  const journal: unknown = JSON.parse(readFileSync(path.join(folder, "meta", "_journal.json"), "utf8"));
  return (journal as { entries: { when: number; tag: string }[] }).entries;
}
