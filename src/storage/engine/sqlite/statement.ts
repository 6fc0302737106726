// How a statement of Drizzle runs on better-sqlite3: what can be known about its values and its rows is worked out once, when
// it is prepared, and not again for every row.
import type { DriverValueDecoder, SQL } from "drizzle-orm";
import { compileLiteral } from "../../../base/compile.ts";
import { Column, is, Param, Placeholder } from "../../schema/drizzle.ts";
import { translateError } from "../errors.ts";
import type { Prepared } from "../session.ts";

type Values = Readonly<Record<string, unknown>>;
type Bind = (values: Values) => unknown[];
type Decode = (value: unknown) => unknown;

/** What a statement selects. */
type Fields = readonly { readonly path: readonly string[]; readonly field: unknown }[];

/** What Drizzle has made of a query for better-sqlite3. */
interface DrizzleStatement {
  readonly stmt: DriverStatement;
  readonly query: { readonly params: readonly unknown[] };
  /** Absent when nothing is selected. */
  readonly fields?: Fields;
  execute(values: Values): { sync(): unknown };
}

interface DriverStatement {
  raw(): DriverStatement;
  all(...values: unknown[]): unknown[][];
  run(...values: unknown[]): unknown;
}

/** Makes a statement answer at once, as the driver does: a promise around the answer would cost more than a point read. */
export function runSync<T>(prepared: Prepared<T>): Prepared<T> {
  const run = runnerOf(prepared as unknown as DrizzleStatement);
  return {
    execute(values = {}) {
      try {
        return run(values) as T;
      } catch (error) {
        throw translateError(error);
      }
    },
  };
}

function runnerOf(statement: DrizzleStatement): (values: Values) => unknown {
  const { stmt, query, fields } = statement;
  const bind = bindOf(query.params);
  if (!fields) return (values) => stmt.run(...bind(values));
  // An object for each of several tables is Drizzle's to put together; only checks of the whole database ask for it.
  if (fields.some(({ path }) => path.length > 1)) return (values) => statement.execute(values).sync();
  return reader(stmt.raw(), bind, fields);
}

/** Puts values in the places of placeholders. */
function bindOf(params: readonly unknown[]): Bind {
  const readers = params.map((param): ((values: Values) => unknown) => {
    if (is(param, Placeholder)) return (values) => given(values, param.name);
    if (!is(param, Param) || !is(param.value, Placeholder)) return () => param;
    const { encoder, value } = param;
    return (values) => encoder.mapToDriverValue(given(values, value.name));
  });
  return (values) => readers.map((read) => read(values));
}

function given(values: Values, name: string): unknown {
  const value = values[name];
  if (value === undefined) throw new Error(`a statement got no value for ${name}`);
  return value;
}

/** Reads rows as objects of what is selected. */
function reader(stmt: DriverStatement, bind: Bind, fields: Fields): (values: Values) => unknown[] {
  const toObject = compileLiteral(
    fields.map(({ path, field }, i) => ({ name: path[0]!, from: i, convert: decodeOf(field) })),
  );
  return (values) => stmt.all(...bind(values)).map((row) => toObject(row));
}

/** Undefined when values are as the driver has them. */
function decodeOf(field: unknown): Decode | undefined {
  const decoder = is(field, Column) ? field : decoderOf(field as SQL | SQL.Aliased);
  if (is(field, Column) && field.dataType === "json") return decodeJson;
  if (decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue) return undefined;
  return (value) => (value === null ? null : decoder.mapFromDriverValue(value));
}

/** Most columns of JSON are empty. */
function decodeJson(text: unknown): unknown {
  if (text === null) return null;
  if (text === "{}") return {};
  return text === "[]" ? [] : JSON.parse(text as string);
}

function decoderOf(selected: SQL | SQL.Aliased): DriverValueDecoder<unknown, unknown> {
  // Not in the types, but in every SQL: what `mapWith` has set.
  const { decoder } = ("sql" in selected ? selected.sql : selected) as unknown as {
    readonly decoder: DriverValueDecoder<unknown, unknown>;
  };
  return decoder;
}
