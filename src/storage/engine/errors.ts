// The errors that storage throws. Services translate them for callers.
import { DrizzleError, DrizzleQueryError } from "../schema/drizzle.ts";

/** A row with the same unique key exists. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/** A row refers to a missing row, or a row to be deleted is still referred to. */
export class ReferenceViolation extends Error {
  override readonly name = "ReferenceViolation";
}

/** The database to open does not exist. */
export class DatabaseMissing extends Error {
  override readonly name = "DatabaseMissing";
}

/**
 * The database was migrated by a newer version of the program. The message completes a sentence that begins with the
 * database.
 */
export class DatabaseNewer extends Error {
  override readonly name = "DatabaseNewer";
}

/** The database is not available now; the call may be retried. */
export class StorageUnavailable extends Error {
  override readonly name: string = "StorageUnavailable";
}

/** The database is read-only now. The message says why, without host or file names. */
export class StorageReadOnly extends StorageUnavailable {
  override readonly name = "StorageReadOnly";
}

/** The database is damaged: a retry does not help, a backup does. */
export class StorageDamaged extends Error {
  override readonly name = "StorageDamaged";
}

/**
 * An optimistic concurrency conflict: a row changed after this transaction read it, and the transaction must run again.
 * Never leaves storage.
 */
export class ConcurrencyConflict extends Error {
  override readonly name = "StaleRow";
}

/**
 * Translations by error code, by primary code of SQLite, or by class of PostgreSQL codes (appendix A of its manual).
 */
const translations: Record<string, (cause: unknown) => Error> = {
  SQLITE_CONSTRAINT_PRIMARYKEY: unique,
  SQLITE_CONSTRAINT_UNIQUE: unique,
  SQLITE_CONSTRAINT_FOREIGNKEY: reference,
  SQLITE_BUSY: unavailable,
  SQLITE_LOCKED: unavailable,
  SQLITE_FULL: unavailable,
  SQLITE_IOERR: unavailable,
  SQLITE_READONLY: readOnly,
  SQLITE_CORRUPT: damaged,
  SQLITE_NOTADB: damaged,
  "23505": unique,
  "23503": reference,
  "25006": readOnly,
  "25P03": unavailable,
  "26000": pooled,
  "42P05": pooled,
  "55P03": unavailable,
  "08": unavailable,
  "40": unavailable,
  "53": unavailable,
  "57": unavailable,
  "58030": unavailable,
  XX001: damaged,
  XX002: damaged,
  ECONNREFUSED: unavailable,
  ECONNRESET: unavailable,
  EPIPE: unavailable,
  ECONNABORTED: unavailable,
  ETIMEDOUT: unavailable,
  EHOSTUNREACH: unavailable,
  EHOSTDOWN: unavailable,
  ENETUNREACH: unavailable,
  ENETDOWN: unavailable,
  ENOTFOUND: unavailable,
  EAI_AGAIN: unavailable,
};

/** Messages of node-postgres, which have no code, about a connection that broke or timed out. */
const lostConnection =
  /^(?:Connection terminated|timeout exceeded|Query read timeout|Client (?:has encountered a connection error|was closed))/;

/** Translates the error of a driver. Returns an unknown error unchanged. */
export function translateError(error: unknown): unknown {
  if (error instanceof ConcurrencyConflict) return unavailable(error);
  const inner = withoutQuery(error);
  if (inner instanceof StorageUnavailable) return inner;
  const code = driverCode(inner);
  if (code !== undefined) return translationOf(code)?.(inner) ?? inner;
  return isLostConnection(inner) ? unavailable(inner) : inner;
}

/** Returns whether the connection of this error, translated or not, is unusable. */
export function isLostConnection(error: unknown): boolean {
  const inner = error instanceof StorageUnavailable ? error.cause : withoutQuery(error);
  return inner instanceof Error && lostConnection.test(inner.message);
}

/** Returns the code of a driver error, also of a translated one. */
export function driverCode(error: unknown): string | undefined {
  const isOurs = error instanceof StorageUnavailable || error instanceof StorageDamaged;
  const inner = isOurs ? error.cause : withoutQuery(error);
  return inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
}

function translationOf(code: string) {
  return translations[code] ?? translations[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code.slice(0, 2)];
}

/**
 * Unwraps the errors of Drizzle. Its errors for node-postgres have the parameters in the message, which would put
 * secrets into the log. For SQLite, it wraps errors of migrations.
 */
function withoutQuery(error: unknown): unknown {
  const isWrapped = error instanceof DrizzleQueryError || error instanceof DrizzleError;
  return isWrapped ? (error.cause ?? error) : error;
}

function unique(cause: unknown): Error {
  return new UniqueViolation("a row of this key exists", { cause });
}

function reference(cause: unknown): Error {
  return new ReferenceViolation("a reference does not hold", { cause });
}

function unavailable(cause: unknown): Error {
  return new StorageUnavailable("the database is not available", { cause });
}

function readOnly(cause: unknown): Error {
  return new StorageReadOnly("the database accepts no writes", { cause });
}

/** A prepared statement is missing, or exists already: the pooler gave the transaction another session. */
function pooled(cause: unknown): Error {
  return new StorageUnavailable("the connection pooler must keep sessions: set pool_mode = session in PgBouncer", {
    cause,
  });
}

function damaged(cause: unknown): Error {
  return new StorageDamaged("the database is damaged", { cause });
}
