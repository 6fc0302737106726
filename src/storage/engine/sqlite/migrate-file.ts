// Migrates a SQLite file.
import type BetterSqlite from "better-sqlite3";
import { programFile } from "../../../base/program-file.ts";
import {
  type AppliedMigration,
  compatibleSinceSetting,
  isNewer,
  type Migration,
  type MigrationListener,
  type OpenMode,
  pendingMigrations,
  requireMode,
  requireSame,
  type SchemaState,
} from "../migrations.ts";

const defaultFolder = programFile("storage/schema/migrations/sqlite");

/**
 * Applies pending migrations, if the mode allows it. Throws the errors of SQLite, DatabaseVersionMismatch and
 * DatabaseMissing.
 */
export function migrateFile(
  connection: BetterSqlite.Database,
  mode: OpenMode,
  onMigrated: MigrationListener,
  folder = defaultFolder,
): void {
  const state = schemaState(connection, folder);
  const pending = pendingMigrations(folder, state);
  requireMode(mode, state, pending);
  if (pending.length === 0) return;
  const applied: AppliedMigration[] = [];
  // BEGIN IMMEDIATE: another process may have migrated the file while this one waited for the lock.
  const applyNext = connection.transaction(() => applyFirstPending(connection, folder));
  for (let next = applyNext.immediate(); next; next = applyNext.immediate()) applied.push(next);
  if (applied.length > 0) onMigrated(applied, state.applied === undefined);
}

/** Returns the migrations that the file lacks. Throws the errors of SQLite and DatabaseVersionMismatch. */
export function pendingFileMigrations(connection: BetterSqlite.Database | undefined): readonly Migration[] {
  return pendingMigrations(defaultFolder, connection ? schemaState(connection, defaultFolder) : nothing);
}

/** Throws DatabaseVersionMismatch unless the file has the migrations of this version and no others. */
export function requireSameFile(connection: BetterSqlite.Database): void {
  requireSame(defaultFolder, schemaState(connection, defaultFolder));
}

const nothing: SchemaState = { applied: undefined, compatibleSince: undefined };

function applyFirstPending(connection: BetterSqlite.Database, folder: string): AppliedMigration | undefined {
  const [next] = pendingMigrations(folder, schemaState(connection, folder));
  if (!next) return undefined;
  const startedAt = performance.now();
  connection.exec(
    "CREATE TABLE IF NOT EXISTS `__drizzle_migrations` (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)",
  );
  for (const statement of next.statements) connection.exec(statement);
  connection.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)").run(next.digest, next.when);
  return { name: next.name, durationMs: Math.round(performance.now() - startedAt) };
}

function schemaState(connection: BetterSqlite.Database, folder: string): SchemaState {
  const read = (sql: string) => connection.prepare(sql).pluck().get();
  if (!read("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'")) return nothing;
  const applied = (read("SELECT max(created_at) FROM __drizzle_migrations") as number | null) ?? undefined;
  if (!isNewer(folder, applied)) return { applied, compatibleSince: undefined };
  const since = read(`SELECT value FROM settings WHERE name = '${compatibleSinceSetting}'`) as string | undefined;
  return { applied, compatibleSince: since };
}
