import { type Translation, translateWith, translations } from "../errors.ts";

const { unique, reference, unavailable, readOnly, damaged } = translations;

/** By code, or by primary code (https://sqlite.org/rescode.html). */
const byCode: Readonly<Record<string, Translation>> = {
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
};

/** The messages that the triggers of an overlay raise in place of SQLite's own (overlay.ts). */
export const uniqueMessage = "UNIQUE constraint failed";
export const referenceMessage = "FOREIGN KEY constraint failed";

const byMessage: Readonly<Record<string, Translation>> = { [uniqueMessage]: unique, [referenceMessage]: reference };

/** Translates an error of better-sqlite3. Returns an unknown error unchanged. */
export const translateSqliteError = translateWith((code, error) => {
  if (code === undefined) return undefined;
  if (code === "SQLITE_CONSTRAINT_TRIGGER") return byMessage[(error as Error).message];
  return byCode[code] ?? byCode[primaryCodeOf(code)];
});

function primaryCodeOf(code: string): string {
  return /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code;
}
