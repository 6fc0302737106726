// Runs statements of Drizzle on better-sqlite3. Everything that is known about parameters and columns is computed when
// a statement is prepared, not for every row.
import type { DriverValueDecoder, SQL } from "drizzle-orm";
import { compileLiteral } from "../../../base/compile.ts";
import { Column, is, Param, Placeholder } from "../../schema/drizzle.ts";
import { isWriteStatement, newStatementDurations, type StatementDurations } from "../measurements.ts";
import type { Prepared } from "../session.ts";
import { translateSqliteError } from "./errors.ts";
import type { RunQuery } from "./query-thread.ts";

type Values = Readonly<Record<string, unknown>>;
type Bind = (values: Values) => unknown[];
type Decode = (value: unknown) => unknown;

/** The columns that a statement selects. */
type Fields = readonly { readonly path: readonly string[]; readonly field: unknown }[];

/** A statement that Drizzle prepared for better-sqlite3. */
interface DrizzleStatement {
  readonly stmt: DriverStatement;
  readonly query: { readonly sql: string; readonly params: readonly unknown[] };
  /** Absent if nothing is selected. */
  readonly fields?: Fields;
  execute(values: Values): { sync(): unknown };
}

interface DriverStatement {
  raw(): DriverStatement;
  all(...values: unknown[]): unknown[][];
  run(...values: unknown[]): unknown;
}

/** Runs and measures a statement synchronously, as the driver does: a promise would take longer than a point read. */
export function runSync<T>(
  prepared: Prepared<T>,
  durations: StatementDurations = newStatementDurations(),
): Prepared<T> {
  const statement = prepared as unknown as DrizzleStatement;
  const run = runnerOf(statement);
  const measured = isWriteStatement(statement.query.sql) ? durations.write : durations.read;
  return {
    execute(values = {}) {
      const startedAt = performance.now();
      try {
        return run(values) as T;
      } catch (error) {
        throw translateSqliteError(error);
      } finally {
        measured.recordSince(startedAt);
      }
    },
  };
}

/** Runs and measures a statement that selects, by `runOf()`. */
export function runBy<T>(
  prepared: Prepared<T>,
  runOf: () => RunQuery,
  durations: StatementDurations = newStatementDurations(),
): Prepared<T> {
  const { query, fields } = prepared as unknown as DrizzleStatement;
  if (!fields || fields.some(({ path }) => path.length > 1)) throw new Error(`not a plain query: ${query.sql}`);
  const bind = bindOf(query.params);
  const toObject = rowMapper(fields);
  return {
    async execute(values = {}) {
      const startedAt = performance.now();
      try {
        return (await runOf()(query.sql, bind(values))).map((row) => toObject(row)) as T;
      } catch (error) {
        throw translateSqliteError(error);
      } finally {
        durations.read.recordSince(startedAt);
      }
    },
  };
}

function runnerOf(statement: DrizzleStatement): (values: Values) => unknown {
  const { stmt, query, fields } = statement;
  const bind = bindOf(query.params);
  if (!fields) return (values) => stmt.run(...bind(values));
  // Drizzle builds rows of several nested objects; only checks of the whole database select them.
  if (fields.some(({ path }) => path.length > 1)) return (values) => statement.execute(values).sync();
  return reader(stmt.raw(), bind, fields);
}

/** Returns a function that replaces placeholders by values. */
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

/** Returns a function that reads rows as objects of the selected columns. */
function reader(stmt: DriverStatement, bind: Bind, fields: Fields): (values: Values) => unknown[] {
  const toObject = rowMapper(fields);
  return (values) => stmt.all(...bind(values)).map((row) => toObject(row));
}

function rowMapper(fields: Fields) {
  return compileLiteral(fields.map(({ path, field }, i) => ({ name: path[0]!, from: i, convert: decodeOf(field) })));
}

/** Returns undefined if values need no conversion. */
function decodeOf(field: unknown): Decode | undefined {
  const decoder = is(field, Column) ? field : decoderOf(field as SQL | SQL.Aliased);
  if (is(field, Column) && field.dataType === "json") return decodeJson;
  if (decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue) return undefined;
  return (value) => (value === null ? null : decoder.mapFromDriverValue(value));
}

/** Fast path: most JSON columns are empty. */
function decodeJson(text: unknown): unknown {
  if (text === null) return null;
  if (text === "{}") return {};
  return text === "[]" ? [] : JSON.parse(text as string);
}

function decoderOf(selected: SQL | SQL.Aliased): DriverValueDecoder<unknown, unknown> {
  // Not in the types, but every SQL has it: the decoder set by `mapWith`.
  const { decoder } = ("sql" in selected ? selected.sql : selected) as unknown as {
    readonly decoder: DriverValueDecoder<unknown, unknown>;
  };
  return decoder;
}
