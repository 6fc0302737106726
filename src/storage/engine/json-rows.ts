// Many rows in one parameter, for statements that insert them all (PostgreSQL).
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { sql } from "../schema/drizzle.ts";

/**
 * Converts rows to JSON for `selectRows`. Values of JSON columns become texts: inside of them, PostgreSQL would reject the
 * escape of NUL. It also rejects the escape of a lone surrogate, which becomes U+FFFD, as in a parameter.
 */
export function jsonRows(columns: Readonly<Record<string, PgColumn>>, rows: readonly object[]): string {
  const jsonColumns = Object.keys(columns).filter((name) => columns[name]!.dataType === "json");
  const texts = (row: object) => {
    const copy: Record<string, unknown> = { ...row };
    for (const name of jsonColumns) copy[name] = copy[name] == null ? null : JSON.stringify(copy[name]);
    return copy;
  };
  const wellFormed = (_key: string, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value);
  return JSON.stringify(rows.map(texts), wellFormed);
}

/**
 * Selects columns of the rows that `jsonRows` converted, given as `rows`, in their order. `computed` has other values.
 *
 * A record set parses each row once. `value->>'name'` would parse it again for each column.
 */
export function selectRows(
  columns: Readonly<Record<string, PgColumn>>,
  computed: Readonly<Record<string, SQL>> = {},
): SQL {
  const given = Object.entries(columns).filter(([name]) => !computed[name]);
  const types = given.map(([name, column]) => `"${name}" ${column.dataType === "json" ? "text" : typeOf(column)}`);
  const values = Object.entries(columns).map(([name, column]) => {
    return computed[name] ?? sql.raw(column.dataType === "json" ? `cast("${name}" as ${typeOf(column)})` : `"${name}"`);
  });
  const rows = sql`json_to_recordset(cast(${sql.placeholder("rows")} as json))`;
  return sql`select ${sql.join(values, sql`, `)} from ${rows} as given(${sql.raw(types.join(", "))})`;
}

function typeOf(column: PgColumn): string {
  return column.getSQLType().replace(/ collate .*/, "");
}
