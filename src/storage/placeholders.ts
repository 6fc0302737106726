import type { Placeholder } from "drizzle-orm";
import { sql } from "./drizzle.ts";

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
