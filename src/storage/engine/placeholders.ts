import type { Placeholder, SQL } from "drizzle-orm";
import { sql } from "../schema/drizzle.ts";

/** Returns placeholders for columns, with their own names or the names given first. */
export function placeholders(
  names: readonly string[],
  columns: readonly string[] = names,
): Record<string, Placeholder> {
  return Object.fromEntries(columns.map((column, i) => [column, sql.placeholder(names[i]!)]));
}

/** Returns placeholders for all columns of a new row; a missing column does not compile. */
export function rowPlaceholders<C extends string>(columns: readonly C[]): Record<C, Placeholder> {
  return placeholders(columns) as Record<C, Placeholder>;
}

/**
 * Returns the limit of a statement: a number, or the placeholder with this name.
 *
 * With `LIMIT ?`, SQLite prepares the statement again at every run, because the value may affect the plan
 * (https://sqlite.org/c3ref/prepare.html, sqlite3_prepare_v3). With an expression it does not.
 */
export function limitOf(rows: number | string): Placeholder {
  const limit = typeof rows === "number" ? sql.raw(String(rows)) : sql`cast(${sql.placeholder(rows)} as bigint)`;
  // Drizzle accepts any expression here; its types only know placeholders.
  return limit as unknown as Placeholder;
}

/**
 * Returns a placeholder for a text. PostgreSQL needs the type if the text may be null. SQLite needs an expression in
 * statements with ORDER BY: with a bare `column = ?` it prepares the statement again at every run, because the value
 * may affect the order.
 */
export function textPlaceholder(name: string): SQL {
  return sql`cast(${sql.placeholder(name)} as text)`;
}

/** Returns a placeholder for a number. */
export function numberPlaceholder(name: string): SQL {
  return sql`cast(${sql.placeholder(name)} as bigint)`;
}
