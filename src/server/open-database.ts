// Opens the configured database. Errors name the setting, never the password.
import { hostsOf, parsePostgresUrl } from "../base/postgres-url.ts";
import type { Config } from "../config/config.ts";
import { defaultDatabase } from "../config/config.ts";
import { ConfigError } from "../config/settings.ts";
import {
  type Database,
  isPostgresUrl,
  type OpenOptions,
  openDatabase,
  pendingMigrationsOf,
} from "../storage/database.ts";
import { type DatabaseLimits, defaultDatabaseLimits } from "../storage/engine/dialect.ts";
import {
  DatabaseMissing,
  DatabaseUnfinished,
  DatabaseUnsuitable,
  DatabaseVersionMismatch,
  driverCode,
  StorageDamaged,
  StorageUnavailable,
} from "../storage/engine/errors.ts";
import type { Migration, MigrationListener, OpenMode } from "../storage/engine/migrations.ts";

/** The database to open, and the options. */
export type DatabaseConfig = Pick<Config, "databaseUrl" | "dataDir" | "migrates" | "database"> &
  OpenOptions & {
    /** The setting that errors name; the one that names the database if absent. */
    readonly setting?: string;
  };

/**
 * Opens the configured database, with these limits in place of others; without migrations if the setting says so. Throws
 * a ConfigError if it cannot be used.
 */
export async function openConfiguredDatabase(
  config: DatabaseConfig,
  overrides: Partial<DatabaseLimits>,
  mode: OpenMode,
  onMigrated?: MigrationListener,
): Promise<Database> {
  const allowed = config.migrates ? mode : "migrated";
  const limits = limitsOf(config, overrides);
  return await withPlace(config, () => openDatabase(config.databaseUrl, limits, allowed, onMigrated, config));
}

/** Returns the migrations that the configured database lacks. Throws a ConfigError if it cannot be used. */
export async function pendingConfiguredMigrations(
  config: DatabaseConfig,
  overrides: Partial<DatabaseLimits>,
): Promise<readonly Migration[]> {
  return await withPlace(config, () => pendingMigrationsOf(config.databaseUrl, limitsOf(config, overrides)));
}

/** Returns the limits that the settings choose, with these in place of others. */
export function limitsOf({ database }: DatabaseConfig, overrides: Partial<DatabaseLimits>): DatabaseLimits {
  return { ...defaultDatabaseLimits, ...database, ...overrides };
}

/** Adds the database to the errors of opening it. */
async function withPlace<T>(config: DatabaseConfig, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof DatabaseMissing) {
      const remedy = config.migrates ? "" : ", and migrate is off; create it with gatehouse db migrate";
      throw unusableDatabase(config, `there is no database of Gatehouse at ${placeOf(config)}${remedy}`);
    }
    const isTold = [DatabaseVersionMismatch, DatabaseUnfinished, DatabaseUnsuitable].some(
      (kind) => error instanceof kind,
    );
    if (isTold && error instanceof Error) throw unusableDatabase(config, `${placeOf(config)} ${error.message}`);
    if (isPostgresUrl(config.databaseUrl) && error instanceof StorageUnavailable)
      throw unusableDatabase(
        config,
        `no connection to ${placeOf(config)} could be had: ${databaseErrorMessage(error.cause ?? error)}`,
      );
    // System errors of directories and files contain their names.
    if (error instanceof Error && "syscall" in error)
      throw unusableDatabase(config, `${placeOf(config)} cannot be opened: ${error.message}`);
    throw toStorageError(config, error);
  }
}

/**
 * Adds the database to an error: a ConfigError if the setting may be wrong, an Error if the database is damaged.
 * Returns other errors unchanged.
 */
export function toStorageError(config: DatabaseConfig, error: unknown): unknown {
  const isTranslated = error instanceof StorageUnavailable || error instanceof StorageDamaged;
  const cause = isTranslated ? error.cause : error;
  if (unusable.test(driverCode(cause) ?? ""))
    return unusableDatabase(config, `${placeOf(config)} cannot be used as a database: ${databaseErrorMessage(cause)}`);
  if (!(error instanceof StorageDamaged)) return error;
  const named = isPostgresUrl(config.databaseUrl) ? "the database" : "the database file";
  return new Error(`${named} ${placeOf(config)} is damaged: ${databaseErrorMessage(cause)}. Restore a backup.`);
}

const unusable = /^SQLITE_(NOTADB|CANTOPEN|READONLY|PERM|AUTH|BUSY|FULL|IOERR)/;

function unusableDatabase(config: DatabaseConfig, sentence: string): ConfigError {
  const configured = config.databaseUrl === defaultDatabase(config.dataDir) ? "data-dir" : "database-url";
  return new ConfigError(`${config.setting ?? configured}: ${sentence}.`);
}

/** Returns the path of the file, or host and name of the database. */
export function placeOf({ databaseUrl }: DatabaseConfig): string {
  if (!isPostgresUrl(databaseUrl)) return databaseUrl;
  const hosts = hostsOf(databaseUrl);
  const url = parsePostgresUrl(hosts[0]!.url);
  return url ? `postgres://${hosts.map(({ name }) => name).join(",")}${url.pathname}` : "PostgreSQL";
}

/** Returns the message of an error; if several addresses were tried, there are only codes. */
export function databaseErrorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || driverCode(error) || error.name;
}
