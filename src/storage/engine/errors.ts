// What storage reports. Services decide what a caller is told.
import { DrizzleError, DrizzleQueryError } from "../schema/drizzle.ts";

/** A row of the same key is there already. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/** A row that is referred to is missing, or one that is to go is still referred to. */
export class ReferenceViolation extends Error {
  override readonly name = "ReferenceViolation";
}

/** Where a database is to be opened that is there already, there is none. */
export class DatabaseMissing extends Error {
  override readonly name = "DatabaseMissing";
}

/** The database is of a later version of the program. The message is what is to be said of it, without its name. */
export class DatabaseNewer extends Error {
  override readonly name = "DatabaseNewer";
}

/** The database cannot serve now; the call may be tried again. */
export class StorageUnavailable extends Error {
  override readonly name: string = "StorageUnavailable";
}

/** The database can be read, but not written now. The message says why, and names neither hosts nor files. */
export class StorageReadOnly extends StorageUnavailable {
  override readonly name = "StorageReadOnly";
}

/** What is stored cannot be read: to try again does not help, a backup does. */
export class StorageDamaged extends Error {
  override readonly name = "StorageDamaged";
}

/** A row is no longer as its transaction read it; the transaction has to run again. Never leaves storage. */
export class ConcurrencyConflict extends Error {
  override readonly name = "StaleRow";
}

/** By code, by SQLite's primary code, or by PostgreSQL's class of codes (appendix A of its manual). */
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

/** What node-postgres says, without a code, of a connection that broke or could not be had in time. */
const lostConnection =
  /^(?:Connection terminated|timeout exceeded|Query read timeout|Client (?:has encountered a connection error|was closed))/;

/** Translates the error of a driver; anything unknown comes back as it is. */
export function translateError(error: unknown): unknown {
  if (error instanceof ConcurrencyConflict) return unavailable(error);
  const inner = withoutQuery(error);
  if (inner instanceof StorageUnavailable) return inner;
  const code = driverCode(inner);
  if (code !== undefined) return translationOf(code)?.(inner) ?? inner;
  return isLostConnection(inner) ? unavailable(inner) : inner;
}

/** Whether nothing can be asked any more on the connection that this error, translated or not, comes from. */
export function isLostConnection(error: unknown): boolean {
  const inner = error instanceof StorageUnavailable ? error.cause : withoutQuery(error);
  return inner instanceof Error && lostConnection.test(inner.message);
}

/** The code of a driver's error, also of one that has been translated. */
export function driverCode(error: unknown): string | undefined {
  const isOurs = error instanceof StorageUnavailable || error instanceof StorageDamaged;
  const inner = isOurs ? error.cause : withoutQuery(error);
  return inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
}

function translationOf(code: string) {
  return translations[code] ?? translations[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code.slice(0, 2)];
}

/**
 * Drizzle wraps the errors of node-postgres, with the parameters in the message: secrets would come into the log. Those of
 * SQLite it wraps in a migration.
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

/** A statement that was prepared is gone, or there already: the transaction came to another session of PostgreSQL. */
function pooled(cause: unknown): Error {
  return new StorageUnavailable("the connection pooler must keep sessions: set pool_mode = session in PgBouncer", {
    cause,
  });
}

function damaged(cause: unknown): Error {
  return new StorageDamaged("the database is damaged", { cause });
}
