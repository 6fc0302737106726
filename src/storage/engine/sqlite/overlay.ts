// Lets a connection write without the write lock: temporary views hide the tables, and keep what statements change in temporary tables.
//
// For a table `t` there are the temporary tables `t+new` with the rows that were written and `t-gone` with the keys of the rows that
// were replaced or deleted, and a view `t` of what is left. An unqualified name means the view. Its triggers check what the constraints of
// the table do: views have none.
import type BetterSqlite from "better-sqlite3";
import { newYield } from "../../../base/yielding.ts";
import { referenceMessage, uniqueMessage } from "./errors.ts";

/** A table, with the constraints that its view has to check. */
interface Table {
  readonly name: string;
  readonly sql: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  /** The columns of the primary key, and those of each unique index. */
  readonly unique: readonly (readonly string[])[];
  readonly references: readonly Reference[];
}

/** A foreign key. */
interface Reference {
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
  readonly onDelete: string;
}

/** Creates the overlay. The connection must not be in a transaction, whose rollback then empties the overlay. */
export async function createOverlay(connection: BetterSqlite.Database): Promise<void> {
  // The temporary tables repeat the foreign keys, whose rows may be in other tables.
  connection.pragma("foreign_keys = OFF");
  const tables = readTables(connection);
  const statements = tables.flatMap((table) => [...tablesOf(connection, table), ...viewsOf(table)]);
  const references = tables.flatMap((table) => table.references);
  const triggers = tables.flatMap((table) => triggersOf(table, references));
  const pause = newYield();
  for (const statement of [...statements, ...triggers]) {
    connection.exec(statement);
    await pause();
  }
}

/**
 * Returns the statement to use in place of one with ON CONFLICT, which a view cannot have. Throws for one that does not overwrite the
 * whole row.
 */
export function withoutConflict(sql: string): string {
  const [, table, values, action, assignments = "", rest = ""] =
    /^insert into "(\w+)" (.*) on conflict(?: \([^)]*\))? do (nothing|update set)(.*?)( returning .*)?$/s.exec(sql) ??
    [];
  if (table === undefined) return sql;
  if (action === "nothing") return `insert into "${table}?ignore" ${values}${rest}`;
  if (!assignments.split(",").every((each) => /^\s*"(\w+)" = excluded\.\1\s*$/.test(each)))
    throw new Error(`an overlay cannot run this statement: ${sql}`);
  return `insert into "${table}?replace" ${values}${rest}`;
}

function readTables(connection: BetterSqlite.Database): readonly Table[] {
  const found = connection
    .prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")
    .all() as { readonly name: string; readonly sql: string }[];
  const virtual = found.filter(({ sql }) => /^CREATE VIRTUAL/i.test(sql)).map(({ name }) => name);
  return (
    found
      // The change log is written when a transaction commits.
      .filter(({ name }) => name !== "changes")
      .filter(({ name, sql }) => / STRICT\b/i.test(sql) && !virtual.some((each) => name.startsWith(each)))
      .map(({ name, sql }) => ({ name, sql, ...constraintsOf(connection, name) }))
  );
}

function constraintsOf(connection: BetterSqlite.Database, name: string): Omit<Table, "name" | "sql"> {
  const about = <T>(pragma: string, of: string) =>
    connection.prepare(`SELECT * FROM pragma_${pragma}(?, 'main')`).all(of) as T[];
  const columns = about<{ name: string; pk: number }>("table_info", name);
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const keyColumns = key.map((column) => column.name);
  const unique = about<{ name: string; unique: number; origin: string }>("index_list", name)
    .filter((index) => index.unique === 1 && index.origin !== "pk")
    .map((index) => about<{ name: string }>("index_info", index.name).map((column) => column.name));
  const foreign = Map.groupBy(
    about<{ id: number; table: string; from: string; to: string; on_delete: string }>("foreign_key_list", name),
    ({ id }) => id,
  );
  const references = [...foreign.values()].map((parts) => ({
    table: name,
    columns: parts.map(({ from }) => from),
    target: parts[0]!.table,
    targetColumns: parts.map(({ to }) => to),
    onDelete: parts[0]!.on_delete,
  }));
  return {
    columns: columns.map((column) => column.name),
    key: keyColumns,
    unique: [keyColumns, ...unique],
    references,
  };
}

function tablesOf(connection: BetterSqlite.Database, { name, sql, key }: Table): readonly string[] {
  const indexes = connection
    .prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
    .all(name) as { readonly name: string; readonly sql: string }[];
  return [
    sql.replace(/^CREATE TABLE\s+[`"]?\w+[`"]?/i, `CREATE TABLE temp."${name}+new"`),
    `CREATE TABLE temp."${name}-gone" (${names(key)}, PRIMARY KEY (${names(key)})) WITHOUT ROWID`,
    ...indexes.map((index) =>
      index.sql.replace(
        /^CREATE (?:UNIQUE )?INDEX\s+.*?\s+ON\s+[`"]?\w+[`"]?/is,
        `CREATE INDEX temp."${index.name}+new" ON "${name}+new"`,
      ),
    ),
  ];
}

function viewsOf({ name, columns, key }: Table): readonly string[] {
  const isGone = `SELECT 1 FROM temp."${name}-gone" AS gone WHERE ${equal(key, "gone", "stored")}`;
  const view = (suffix: string, select: string) => `CREATE TEMP VIEW "${name}${suffix}" AS ${select}`;
  return [
    view(
      "",
      `SELECT ${names(columns)} FROM main."${name}" AS stored WHERE NOT EXISTS (${isGone}) UNION ALL SELECT ${names(columns)} FROM temp."${name}+new"`,
    ),
    view("?ignore", `SELECT * FROM temp."${name}"`),
    view("?replace", `SELECT * FROM temp."${name}"`),
  ];
}

function triggersOf(table: Table, references: readonly Reference[]): readonly string[] {
  const { name, columns, key, unique } = table;
  const insert = `INSERT INTO "${name}+new" (${names(columns)}) VALUES (${names(columns, "NEW")});`;
  const remove = (row: "OLD" | "NEW") =>
    `DELETE FROM "${name}+new" WHERE ${equal(key, `${name}+new`, row)}; INSERT OR IGNORE INTO "${name}-gone" VALUES (${names(key, row)});`;
  const parents = table.references.map((reference) => requireTarget(reference)).join(" ");
  const isTaken = unique.map(
    (some) => `EXISTS (SELECT 1 FROM "${name}" AS other WHERE ${equal(some, "other", "NEW")})`,
  );
  const takes = isTaken.map((each) => raise(uniqueMessage, each)).join(" ");
  const takesOther = unique.map((some, i) => raise(uniqueMessage, `NOT (${same(some)}) AND ${isTaken[i]}`)).join(" ");
  const trigger = (suffix: string, event: string, body: string, when = "") =>
    `CREATE TEMP TRIGGER "${name}${suffix} ${event}" INSTEAD OF ${event} ON "${name}${suffix}" ${when} BEGIN ${body} END`;
  return [
    trigger("", "INSERT", `${takes} ${parents} ${insert}`),
    trigger("", "UPDATE", `${takesOther} ${parents} ${remove("OLD")} ${insert}`),
    trigger("", "DELETE", `${referencesTo(table, references)} ${remove("OLD")}`),
    trigger("?ignore", "INSERT", `${parents} ${insert}`, `WHEN NOT (${isTaken.join(" OR ")})`),
    trigger("?replace", "INSERT", `${parents} ${remove("NEW")} ${insert}`),
  ];
}

function requireTarget({ columns, target, targetColumns }: Reference): string {
  const isSet = columns.map((column) => `NEW."${column}" IS NOT NULL`).join(" AND ");
  const pairs = targetColumns.map((column, i) => `target."${column}" = NEW."${columns[i]}"`).join(" AND ");
  return raise(referenceMessage, `${isSet} AND NOT EXISTS (SELECT 1 FROM "${target}" AS target WHERE ${pairs})`);
}

/** Applies the foreign keys to the rows that refer to a deleted one. */
function referencesTo({ name }: Table, references: readonly Reference[]): string {
  return references
    .filter(({ target }) => target === name)
    .map(({ table, columns, targetColumns, onDelete }) => {
      const where = columns.map((column, i) => `"${column}" = OLD."${targetColumns[i]}"`).join(" AND ");
      if (onDelete === "CASCADE") return `DELETE FROM "${table}" WHERE ${where};`;
      if (onDelete === "SET NULL")
        return `UPDATE "${table}" SET ${columns.map((column) => `"${column}" = NULL`).join(", ")} WHERE ${where};`;
      return raise(referenceMessage, `EXISTS (SELECT 1 FROM "${table}" WHERE ${where})`);
    })
    .join(" ");
}

function raise(message: string, condition: string): string {
  return `SELECT RAISE(ABORT, '${message}') WHERE ${condition};`;
}

function names(columns: readonly string[], of?: string): string {
  return columns.map((column) => (of ? `${of}."${column}"` : `"${column}"`)).join(", ");
}

function equal(columns: readonly string[], one: string, other: string): string {
  return columns.map((column) => `"${one}"."${column}" = "${other}"."${column}"`).join(" AND ");
}

function same(columns: readonly string[]): string {
  return columns.map((column) => `NEW."${column}" IS OLD."${column}"`).join(" AND ");
}
