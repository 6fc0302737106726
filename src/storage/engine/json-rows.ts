// Many rows in one parameter, for statements that insert them all (PostgreSQL).
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { sql } from "../schema/drizzle.ts";

/** Converts rows to JSON. PostgreSQL rejects the escape of a lone surrogate, so it becomes U+FFFD, as in a parameter. */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));
}

/** Selects columns of the rows that `jsonRows` converted, given as `rows`, in their order. `computed` has other values. */
export function selectRows(
  columns: Readonly<Record<string, PgColumn>>,
  computed: Readonly<Record<string, SQL>> = {},
): SQL {
  const values = Object.entries(columns).map(([name, column]) => {
    const type = column.getSQLType().replace(/ collate .*/, "");
    return computed[name] ?? sql.raw(`cast(value->>'${name}' as ${type})`);
  });
  return sql`select ${sql.join(values, sql`, `)} from json_array_elements(cast(${sql.placeholder("rows")} as json))`;
}
