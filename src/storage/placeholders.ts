import type { Placeholder } from "drizzle-orm";
import { sql } from "./drizzle.ts";

/** Placeholders for columns, under their own names or under the names given first. */
export function placeholders<C extends string>(names: readonly C[]): Record<C, Placeholder>;
export function placeholders(names: readonly string[], columns: readonly string[]): Record<string, Placeholder>;
export function placeholders(
  names: readonly string[],
  columns: readonly string[] = names,
): Record<string, Placeholder> {
  return Object.fromEntries(columns.map((column, i) => [column, sql.placeholder(names[i]!)]));
}
