import { type Placeholder, sql } from "drizzle-orm";

/** Placeholders for columns, under their own names or under the names given first. */
export function placeholders(
  names: readonly string[],
  columns: readonly string[] = names,
): Record<string, Placeholder> {
  return Object.fromEntries(columns.map((column, i) => [column, sql.placeholder(names[i]!)]));
}
