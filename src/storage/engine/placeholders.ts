import type { Placeholder, SQL } from "drizzle-orm";
import { sql } from "../schema/drizzle.ts";

/** Placeholders for columns, under their own names or under the names given first. */
export function placeholders(
  names: readonly string[],
  columns: readonly string[] = names,
): Record<string, Placeholder> {
  return Object.fromEntries(columns.map((column, i) => [column, sql.placeholder(names[i]!)]));
}

/** Placeholders for all columns of a new row: one that is missing does not compile. */
export function rowPlaceholders<C extends string>(columns: readonly C[]): Record<C, Placeholder> {
  return placeholders(columns) as Record<C, Placeholder>;
}

/**
 * How many rows a statement answers: a number, or the placeholder of this name.
 *
 * `LIMIT ?` would have SQLite parse and plan the statement anew at every run, since the value may decide about the plan
 * (https://sqlite.org/c3ref/prepare.html, on sqlite3_prepare_v3). Of an expression it does not ask.
 */
export function limitOf(rows: number | string): Placeholder {
  const limit = typeof rows === "number" ? sql.raw(String(rows)) : sql`cast(${sql.placeholder(rows)} as bigint)`;
  // Drizzle takes any expression here; its types know of placeholders only.
  return limit as unknown as Placeholder;
}

/**
 * A placeholder for a text. PostgreSQL needs the type where the text may be missing. SQLite needs the expression in a statement with
 * `ORDER BY`: with a bare `column = ?` it plans the statement again at every run, because the value may decide about the order.
 */
export function textPlaceholder(name: string): SQL {
  return sql`cast(${sql.placeholder(name)} as text)`;
}

/** A placeholder for a number. */
export function numberPlaceholder(name: string): SQL {
  return sql`cast(${sql.placeholder(name)} as bigint)`;
}
