// Migrates a SQLite file.

import type BetterSqlite from "better-sqlite3";
import { programFile } from "../../../base/program-file.ts";
import type { loadSqliteDriver } from "../../schema/drizzle.ts";
import { isLatest, type MigrationListener, refuseNewer, refuseOlder, watchMigrations } from "../migrations.ts";
import { withPrepare } from "./custom-prepare.ts";

const migrationsFolder = programFile("storage/schema/migrations/sqlite");

/** Applies missing migrations. Throws the errors of SQLite, and DatabaseVersionMismatch. */
export function migrateFile(
  connection: BetterSqlite.Database,
  { drizzle, migrate }: ReturnType<typeof loadSqliteDriver>,
  onMigrated: MigrationListener,
): void {
  const applied = appliedTo(connection);
  if (isLatest(migrationsFolder, applied)) return;
  refuseOlder(migrationsFolder, applied);
  const report = watchMigrations(migrationsFolder, applied, onMigrated);
  const db = drizzle(withRollback(connection), { casing: "snake_case" });
  try {
    migrate(db, { migrationsFolder });
  } catch {
    // Another process may have migrated the file in between. Any other failure happens again.
    if (connection.inTransaction) connection.exec("ROLLBACK");
    migrate(db, { migrationsFolder });
  }
  refuseNewer(migrationsFolder, appliedTo(connection));
  report();
}

/** Returns the time of the latest migration of the file. */
function appliedTo(connection: BetterSqlite.Database): number | undefined {
  const read = (sql: string) => connection.prepare(sql).pluck().get();
  if (!read("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'")) return undefined;
  return (read("SELECT max(created_at) FROM __drizzle_migrations") as number | null) ?? undefined;
}

/**
 * Returns a connection on which ROLLBACK never fails. If the disk is full or does not write, SQLite has already rolled
 * back (https://sqlite.org/lang_transaction.html, section 3), and an error of drizzle's ROLLBACK would hide the cause.
 */
function withRollback(connection: BetterSqlite.Database): BetterSqlite.Database {
  return withPrepare(connection, (sql) => prepareAfterFailure(connection, sql));
}

function prepareAfterFailure(connection: BetterSqlite.Database, sql: string): BetterSqlite.Statement {
  if (sql.trim() === "ROLLBACK" && !connection.inTransaction) connection.exec("BEGIN");
  return connection.prepare(sql);
}
