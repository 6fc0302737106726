// The rights that a database user needs. An error names the statements that grant them.
import pg from "pg";
import { DatabaseUnsuitable, driverCode } from "../errors.ts";
import type { InstallationSchema } from "./installation-schema.ts";

/** The code of a statement that the user may not execute (appendix A of the manual). */
const insufficientPrivilege = "42501";

type Grantee = Pick<InstallationSchema, "name" | "user" | "migrationsTable">;

/** The tables of `$2` in the schema, and their sequences, that the user may not use. */
const deniedQuery = `SELECT c.relname AS name FROM pg_class c LEFT JOIN pg_depend d ON d.objid = c.oid AND d.deptype = 'i' AND relkind = 'S'
  LEFT JOIN pg_class owner ON owner.oid = d.refobjid
WHERE c.relnamespace = $1::text::regnamespace AND coalesce(owner.relname, c.relname) = ANY ($2)
  AND CASE c.relkind WHEN 'S' THEN NOT has_sequence_privilege(c.oid, 'USAGE')
    WHEN 'r' THEN NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
      AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) END
ORDER BY 1`;

/** Throws DatabaseUnsuitable unless the user may read and write these tables. */
export async function checkRights(
  client: pg.ClientBase,
  schema: InstallationSchema,
  tables: readonly string[],
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(deniedQuery, [pg.escapeIdentifier(schema.name), tables]);
  requireRights(
    schema,
    rows.map(({ name }) => name),
  );
}

/** Throws DatabaseUnsuitable if there are tables that the user may not use. */
export function requireRights(schema: Grantee, denied: readonly string[]): void {
  if (denied.length === 0) return;
  throw new DatabaseUnsuitable(
    `does not let the user ${JSON.stringify(schema.user)} use ${denied[0]}${denied.length > 1 ? ` and ${denied.length - 1} more` : ""} ` +
      `in the schema ${schema.name}; as owner of the tables, run: ${useGrants(schema)}`,
  );
}

/** Throws DatabaseUnsuitable if the user may not create tables in the schema. */
export function requireCreate(schema: InstallationSchema): void {
  if (schema.mayCreate) return;
  throw new DatabaseUnsuitable(
    `cannot be migrated: permission denied for schema ${schema.name}; ${migrateRemedy(schema)}`,
  );
}

/** Translates the error of a migration: a missing right becomes DatabaseUnsuitable, anything else stays. */
export function migrationError(error: unknown, schema: InstallationSchema): unknown {
  if (driverCode(error) !== insufficientPrivilege || !(error instanceof Error)) return error;
  return new DatabaseUnsuitable(`cannot be migrated: ${error.message}; ${migrateRemedy(schema)}`, { cause: error });
}

function migrateRemedy({ name, user }: Grantee): string {
  return (
    `let the user ${JSON.stringify(user)} create there, as owner of the schema: GRANT USAGE, CREATE ON SCHEMA ` +
    `${pg.escapeIdentifier(name)} TO ${pg.escapeIdentifier(user)}; or, where another user owns the tables, run ` +
    "gatehouse db migrate as that user and set --migrate=off"
  );
}

function useGrants({ name, user, migrationsTable }: Grantee): string {
  const schema = pg.escapeIdentifier(name);
  const grantee = pg.escapeIdentifier(user);
  const isSeparate = migrationsTable.startsWith('"drizzle".');
  return [
    `GRANT USAGE ON SCHEMA ${schema}${isSeparate ? ", drizzle" : ""} TO ${grantee}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema}${isSeparate ? ", drizzle" : ""} TO ${grantee}`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${grantee}`,
  ].join("; ");
}
