// Finds the schema of an installation: the first of the search path that has one, else the first of all, for a new one. So unqualified
// names mean the tables of this installation, and several installations can share a database.
import pg from "pg";
import { DatabaseUnsuitable } from "../errors.ts";

/** The schema with the tables of an installation. */
export interface InstallationSchema {
  readonly name: string;
  /** The user of the connection, who needs rights there. */
  readonly user: string;
  /** Whether the user may create tables in it. */
  readonly mayCreate: boolean;
  /** The table of applied migrations, escaped; in a new installation it does not exist yet. */
  readonly migrationsTable: string;
  readonly isNew: boolean;
  /** Whether the user may read the tables of an existing installation. */
  readonly mayRead: boolean;
  /** Returns the key of an advisory lock that only servers of this installation take. */
  lockKey(lock: number): string;
}

/** A schema of the search path, with what it has. */
interface SchemaRow {
  readonly name: string;
  readonly oid: string;
  readonly may_create: boolean;
  readonly may_read: boolean | null;
  readonly has_migrations: boolean;
  readonly has_migrations_of_database: boolean;
}

/** `may_read` is null without the tables of an installation. Catalogs can be read without rights on the schemas. */
const schemasQuery = `SELECT n.nspname AS name, n.oid::text AS oid, has_schema_privilege(n.oid, 'CREATE') AS may_create,
  (SELECT has_table_privilege(oid, 'SELECT') FROM pg_class WHERE relnamespace = n.oid AND relname = 'settings') AS may_read,
  EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid AND relname = '__drizzle_migrations') AS has_migrations,
  EXISTS (SELECT FROM pg_class JOIN pg_namespace d ON d.oid = relnamespace
    WHERE d.nspname = 'drizzle' AND relname = '__drizzle_migrations') AS has_migrations_of_database
FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place) JOIN pg_namespace n ON n.nspname = path.name
ORDER BY place`;

interface SessionRow {
  readonly user: string;
  readonly path: string;
  readonly encoding: string;
}

const sessionQuery = `SELECT current_user AS "user", current_setting('search_path') AS path,
  current_setting('server_encoding') AS encoding`;

/** Finds the schema. Throws DatabaseUnsuitable if there is none, or the database cannot have one. */
export async function findInstallationSchema(client: pg.ClientBase): Promise<InstallationSchema> {
  const [session] = (await client.query<SessionRow>(sessionQuery)).rows;
  const { user, path, encoding } = session!;
  if (encoding !== "UTF8") throw new DatabaseUnsuitable(unsuitableEncoding(encoding));
  const { rows } = await client.query<SchemaRow>(schemasQuery);
  const [first] = rows;
  if (!first) throw new DatabaseUnsuitable(noSchema(user, path));
  const found = rows.find((row) => isInstallation(row) && (row === first || row.may_read));
  const { name, oid, may_create } = found ?? first;
  return {
    name,
    user,
    mayCreate: may_create,
    migrationsTable: migrationsTableOf(found ?? first),
    isNew: !found,
    mayRead: found?.may_read ?? true,
    lockKey: (lock) => lockKey(lock, name, oid),
  };
}

function isInstallation(row: SchemaRow): boolean {
  return row.may_read !== null && (row.has_migrations || isBefore040(row));
}

/** Up to 0.3.0 all tables were in `public`, and the list of migrations in the schema `drizzle`, where servers of 0.3.0 look. */
function isBefore040({ name, has_migrations, has_migrations_of_database }: SchemaRow): boolean {
  return name === "public" && has_migrations_of_database && !has_migrations;
}

function migrationsTableOf(row: SchemaRow): string {
  const isOlder = row.may_read !== null && isBefore040(row);
  return `${pg.escapeIdentifier(isOlder ? "drizzle" : row.name)}."__drizzle_migrations"`;
}

/** Advisory locks belong to the database. In `public` the key is the one that servers of 0.3.0 take, too. */
function lockKey(lock: number, schema: string, oid: string): string {
  return String(schema === "public" ? lock : BigInt.asIntN(64, (BigInt(oid) << 32n) | BigInt(lock)));
}

function unsuitableEncoding(encoding: string): string {
  return `has the encoding ${encoding}, which cannot store every text; create one with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'`;
}

function noSchema(user: string, path: string): string {
  return (
    `has no schema for the user ${JSON.stringify(user)}: none of search_path (${path}) exists and may be used; ` +
    `create one with CREATE SCHEMA ${pg.escapeIdentifier(user)} AUTHORIZATION ${pg.escapeIdentifier(user)}, or set search_path`
  );
}
