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
 * The database was migrated by a version of the program that this one cannot follow: a newer one, or a too old one; or it
 * has pending migrations that may not be applied now. The message completes a sentence that begins with the database.
 */
export class DatabaseVersionMismatch extends Error {
  override readonly name = "DatabaseVersionMismatch";
}

/**
 * The database cannot hold an installation as it is set up: its encoding, its schemas, or the rights of the user. The message
 * completes a sentence that begins with the database.
 */
export class DatabaseUnsuitable extends Error {
  override readonly name = "DatabaseUnsuitable";
}

/** A copy into the database has not finished. The message completes a sentence that begins with the database. */
export class DatabaseUnfinished extends Error {
  override readonly name = "DatabaseUnfinished";
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

/** Creates the error that a driver error is translated to. */
export type Translation = (cause: unknown) => Error;

/** The translations that both databases use. */
export const translations = {
  unique: (cause) => new UniqueViolation("a row of this key exists", { cause }),
  reference: (cause) => new ReferenceViolation("a reference does not hold", { cause }),
  unavailable: (cause) => new StorageUnavailable("the database is not available", { cause }),
  readOnly: (cause) => new StorageReadOnly("the database accepts no writes", { cause }),
  damaged: (cause) => new StorageDamaged("the database is damaged", { cause }),
} as const satisfies Record<string, Translation>;

/** Translates the errors of a driver. `find` returns the translation of an error, given with its code if it has one. */
export function translateWith(
  find: (code: string | undefined, error: unknown) => Translation | undefined,
): (error: unknown) => unknown {
  return (error) => {
    if (error instanceof ConcurrencyConflict) return translations.unavailable(error);
    const inner = withoutQuery(error);
    if (inner instanceof StorageUnavailable) return inner;
    return find(driverCode(inner), inner)?.(inner) ?? inner;
  };
}

/** Returns the code of a driver error, also of a translated one. */
export function driverCode(error: unknown): string | undefined {
  const isOurs = error instanceof StorageUnavailable || error instanceof StorageDamaged;
  const inner = isOurs ? error.cause : withoutQuery(error);
  return inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
}

/**
 * Unwraps the errors of Drizzle. Its errors for node-postgres have the parameters in the message, which would put secrets into the
 * log. For SQLite, it wraps errors of migrations.
 */
export function withoutQuery(error: unknown): unknown {
  const isWrapped = error instanceof DrizzleQueryError || error instanceof DrizzleError;
  return isWrapped ? (error.cause ?? error) : error;
}
