// What storage reports. Services decide what a caller is told.

/** A row of the same key is there already. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/** A row that is referred to is missing, or one that is to go is still referred to. */
export class ReferenceViolation extends Error {
  override readonly name = "ReferenceViolation";
}

/** The database cannot serve now; the call may be tried again. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

const codes: Record<string, (cause: unknown) => Error> = {
  // SQLite
  SQLITE_CONSTRAINT_PRIMARYKEY: unique,
  SQLITE_CONSTRAINT_UNIQUE: unique,
  SQLITE_CONSTRAINT_FOREIGNKEY: reference,
  SQLITE_BUSY: unavailable,
  SQLITE_LOCKED: unavailable,
  SQLITE_FULL: unavailable,
  SQLITE_IOERR: unavailable,
  // PostgreSQL, appendix A of its manual
  "23505": unique,
  "23503": reference,
  "40001": unavailable,
  "40P01": unavailable,
  "53300": unavailable,
  "57P01": unavailable,
  "57P03": unavailable,
  ECONNREFUSED: unavailable,
  ECONNRESET: unavailable,
};

/** Translates the error of a driver; anything unknown comes back as it is. */
export function translateError(error: unknown): unknown {
  const code = driverCode(error);
  return code === undefined ? error : (codes[code]?.(error) ?? error);
}

/** The code of a driver's error. Drizzle wraps those of node-postgres and passes on those of better-sqlite3. */
export function driverCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = error.cause instanceof Error ? error.cause : error;
  return "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
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
