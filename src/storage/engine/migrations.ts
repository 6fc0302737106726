// Compares the migrations of a folder with those that a database has. A database that has the latest one needs only the
// names of the folder: reading all of its files would double the time to open it. docs/decisions/0058 has the rules.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseMissing, DatabaseVersionMismatch } from "./errors.ts";

/** A migration of this program. */
export interface Migration {
  readonly name: string;
  /** Identifies it in the database, in the form of drizzle-kit: milliseconds since the epoch. */
  readonly when: number;
  /** The digest that the database stores with it. */
  readonly digest: string;
  readonly statements: readonly string[];
  /** The migration that a program must have to run on the database from now on, if this one changes that. */
  readonly compatibleSince: string | undefined;
}

/** The migrations of a database. */
export interface SchemaState {
  /** The time of its latest migration; undefined if it has none. */
  readonly applied: number | undefined;
  /** The migration that a program must have to run on it; undefined if any will do. */
  readonly compatibleSince: string | undefined;
}

/** A migration that was applied. */
export interface AppliedMigration {
  readonly name: string;
  readonly durationMs: number;
}

/** Called after migrations, in order. `isNew` says whether the database had none before. */
export type MigrationListener = (applied: readonly AppliedMigration[], isNew: boolean) => void;

/**
 * The changes of the schema that opening a database may make: create a database, migrate an existing one, or neither. With "migrated", a
 * database with pending migrations is rejected.
 */
export type OpenMode = "create" | "existing" | "migrated";

/** The setting of `SchemaState.compatibleSince`. */
export const compatibleSinceSetting = "compatible_since";

/** A commit with the migrations that `0000_initial` replaces (docs/design/database.md). */
const commitBefore = "d01e5454af8dbb753e7e1b3f94c472cc5a7863f8";

/**
 * Returns the migrations that a database lacks. Throws DatabaseVersionMismatch if this program can neither use nor
 * migrate it.
 */
export function pendingMigrations(folder: string, { applied, compatibleSince }: SchemaState): readonly Migration[] {
  const entries = entriesOf(folder);
  if (applied === entries.at(-1)?.when) return [];
  refuseOlder(entries, applied);
  if (isNewer(folder, applied)) refuseIncompatible(entries, compatibleSince);
  return entries.filter(({ when }) => applied === undefined || when > applied).map((entry) => read(folder, entry));
}

/** Returns whether a newer version of the program has migrated the database. */
export function isNewer(folder: string, applied: number | undefined): boolean {
  return applied !== undefined && applied > (entriesOf(folder).at(-1)?.when ?? 0);
}

/** Throws the error of a database with pending migrations if the mode does not let them be applied. */
export function requireMode(mode: OpenMode, state: Pick<SchemaState, "applied">, pending: readonly Migration[]): void {
  if (mode !== "create" && state.applied === undefined) throw new DatabaseMissing("it has no tables of Gatehouse");
  if (mode !== "migrated" || pending.length === 0) return;
  const names = pending.map(({ name }) => name).join(", ");
  throw new DatabaseVersionMismatch(
    `lacks migrations (${names}), and migrate is off; run gatehouse db migrate, or set --migrate=auto`,
  );
}

/**
 * Throws DatabaseVersionMismatch unless the database has the migrations of the folder and no others: a copy would lack
 * the tables and columns of others.
 */
export function requireSame(folder: string, state: SchemaState): void {
  if (state.applied === undefined) throw new DatabaseVersionMismatch("is not a database of Gatehouse");
  if (isNewer(folder, state.applied))
    throw new DatabaseVersionMismatch("was written by a newer version of Gatehouse, and only that version can copy it");
  if (pendingMigrations(folder, state).length > 0)
    throw new DatabaseVersionMismatch(
      "was written by an older version of Gatehouse; migrate a copy of it with `gatehouse db migrate --database-url COPY`, and use that",
    );
}

/** Throws if the database stopped before the first migration, whose time is that of the last one that it replaces. */
function refuseOlder(entries: readonly Entry[], applied: number | undefined): void {
  if (applied === undefined || applied >= (entries[0]?.when ?? 0)) return;
  const commit = `commit ${commitBefore.slice(0, 8)} of its repository (${commitBefore})`;
  throw new DatabaseVersionMismatch(
    `was written by an older version of Gatehouse that this one cannot migrate; start ${commit} once, then this version`,
  );
}

/** Throws if a newer version has removed what this program uses. */
function refuseIncompatible(entries: readonly Entry[], compatibleSince: string | undefined): void {
  if (compatibleSince === undefined || entries.some(({ tag }) => tag === compatibleSince)) return;
  throw new DatabaseVersionMismatch(
    `was written by a newer version of Gatehouse, and only versions with migration ${compatibleSince} can use it; start such a version or restore a backup`,
  );
}

interface Entry {
  readonly when: number;
  readonly tag: string;
}

/** Returns the migrations of a folder in order, with the times that identify them. */
function entriesOf(folder: string): readonly Entry[] {
  const journal: unknown = JSON.parse(readFileSync(path.join(folder, "meta", "_journal.json"), "utf8"));
  return (journal as { entries: Entry[] }).entries;
}

/** The statement of a contract migration (CONTRIBUTING, "To change the schema"). */
const contract = /^INSERT INTO settings \(name, value\) VALUES \('compatible_since', '([^']+)'\)/m;

function read(folder: string, { tag: name, when }: Entry): Migration {
  const text = readFileSync(path.join(folder, `${name}.sql`), "utf8");
  // drizzle-kit writes the schema `public` into references. The tables are in the schema of the connection.
  const statements = text.replaceAll('"public".', "").split("--> statement-breakpoint");
  return { name, when, digest: hash("sha256", text), statements, compatibleSince: contract.exec(text)?.[1] };
}
