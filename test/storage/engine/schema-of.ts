// The schema of a database as lines of text, for comparison.
import BetterSqlite from "better-sqlite3";
import pg from "pg";

/** Returns the statements that made the tables, indexes and triggers of a SQLite file, in one way of quoting and spacing. */
export function schemaOfSqlite(file: string): string[] {
  const connection = new BetterSqlite(file, { readonly: true });
  try {
    const statements = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").pluck().all();
    return (statements as string[]).map(normalized).toSorted();
  } finally {
    connection.close();
  }
}

// A column that was added to a table is written without a line break.
function normalized(statement: string): string {
  return statement
    .replaceAll('"', "`")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([(),]) ?/g, "$1");
}

/** Returns the columns in order, constraints, indexes, functions and extensions of a PostgreSQL database. */
export async function schemaOfPostgres(url: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const lines: string[] = [];
    for (const query of postgresQueries) {
      const { rows } = await client.query<Record<string, unknown>>(query);
      lines.push(...rows.map((row) => JSON.stringify(row)));
    }
    // It is in another schema in databases of 0.3.0 and earlier.
    return lines.filter((line) => !line.includes("__drizzle_migrations"));
  } finally {
    await client.end();
  }
}

/**
 * Positions are recounted, because dropped columns leave gaps. Names of NOT NULL constraints, which PostgreSQL 18
 * introduced, still have the name that a renamed column had, so only columns say whether they may be null.
 */
const postgresQueries = [
  `SELECT table_schema, table_name, row_number() OVER (PARTITION BY table_schema, table_name ORDER BY ordinal_position) AS position,
    column_name, data_type, collation_name, is_nullable, column_default, identity_generation
  FROM information_schema.columns WHERE table_schema IN ('public', 'drizzle') ORDER BY 1, 2, 3`,
  `SELECT conrelid::regclass AS table, conname, pg_get_constraintdef(oid) AS definition
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY conrelid::regclass::text, conname`,
  "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname",
  `SELECT pg_get_functiondef(oid) AS function FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') ORDER BY proname`,
  "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
  "SELECT extname FROM pg_extension ORDER BY extname",
];
