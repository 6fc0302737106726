// Copies of whole databases, between SQLite and PostgreSQL in all directions.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import type { CopyProgress } from "../../../src/storage/engine/copy.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { copiedTables, quoted } from "../../../src/storage/schema/copied-tables.ts";
import { copyToFile, copyToPostgres } from "../../../src/storage/transfer/copy-database.ts";
import { dataDirectory } from "../../cli/process.ts";
import { newMigratedDatabase, writeMigratedFile } from "../../harness/migrated.ts";
import { stopPostgres } from "../../harness/postgres.ts";

/** Texts that a format of rows could misread. All text columns of a row have the same, which satisfies all references. */
const texts = ["plain", "\\N", "\\.", "tab\t newline\n return\r back\\slash\\", 'it\'s "quoted", 🦊 \u2028 é', ""];
const json = '{ "b": "\\u0000 \\ud800 \\n",\n\t"a": [1.50, null] }';
/** The last number given to a change and to a record: higher than that of any row. */
const lastNumber = 9_000_000_000;

const progress: CopyProgress = { begin: async () => {}, advance() {} };
const options = { progress, limits: defaultDatabaseLimits };

after(stopPostgres);

/** Fills every column of every table of a migrated file. Returns its path. */
async function fullFile(folder: string): Promise<string> {
  await writeMigratedFile(folder);
  const file = path.join(folder, "gatehouse.db");
  using database = disposable(new BetterSqlite(file));
  const types = await columnTypes();
  for (const { name, columns } of copiedTables()) {
    const insert = `INSERT INTO ${quoted([name])} (${quoted(columns)}) VALUES (${columns.map(() => "?").join(", ")})`;
    texts.forEach((text, row) => {
      const values = columns.map((column) => sampleOf(types.get(`${name}.${column}`), text, row));
      database.prepare(insert).run(...values);
    });
  }
  database.prepare("UPDATE sqlite_sequence SET seq = ?").run(BigInt(lastNumber));
  return file;
}

function sampleOf(type: string | undefined, text: string, row: number): string | bigint | null {
  if (type === "json") return json;
  if (type === "boolean") return BigInt(row % 2);
  return type === "bigint" ? BigInt(2 ** 53 - 1 - row) : text;
}

async function columnTypes(): Promise<Map<string, string>> {
  const rows = await query(
    await newMigratedDatabase(),
    "SELECT table_name || '.' || column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '__drizzle_migrations'",
  );
  return new Map(rows.map(({ name, type }) => [String(name), String(type)]));
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function disposable(database: BetterSqlite.Database): BetterSqlite.Database & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => void database.close() });
}

/** Returns every row of a file, by table, and the last numbers. */
function contentsOf(file: string): Record<string, unknown> {
  using database = disposable(new BetterSqlite(file, { readonly: true }));
  const rows = copiedTables().map(({ name, columns, key }) => [
    name,
    database.prepare(`SELECT ${quoted(columns)} FROM ${quoted([name])} ORDER BY ${quoted(key)}`).all(),
  ]);
  const numbers = database.prepare("SELECT name, seq FROM sqlite_sequence ORDER BY name").all();
  return { ...Object.fromEntries(rows), numbers };
}

function emptyFile(folder: string, name: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, "");
  return file;
}

/** Returns the definitions of all indexes and constraints. */
async function definitionsOf(url: string): Promise<unknown[]> {
  return await query(
    url,
    `SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT conrelid::regclass || conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid <> 0 ORDER BY 1`,
  );
}

describe("a copy of a database", () => {
  it("has every row, on the way to PostgreSQL, from there to PostgreSQL, and back to SQLite", async () => {
    using data = dataDirectory();
    const file = await fullFile(data.path);
    const [one, two] = [await newMigratedDatabase(), await newMigratedDatabase()];
    const definitions = await definitionsOf(one);
    const copied = await copyToPostgres(file, one, options);
    assert.deepEqual([copied.tables, copied.rows], [copiedTables().length, copiedTables().length * texts.length + 2]);
    await copyToPostgres(one, two, options);
    const back = emptyFile(data.path, "back.db");
    await copyToFile(two, back, options);
    assert.deepEqual(contentsOf(back), contentsOf(file));
    assert.deepEqual(await definitionsOf(two), definitions);
    const [next] = await query(two, "SELECT nextval(pg_get_serial_sequence('changes', 'sequence')) AS number");
    assert.equal(Number(next?.number), lastNumber + 1);
  });

  it("has every row, from SQLite to SQLite, in one file", async () => {
    using data = dataDirectory();
    const file = await fullFile(data.path);
    const copy = emptyFile(data.path, "copy.db");
    await copyToFile(file, copy, options);
    assert.deepEqual(contentsOf(copy), contentsOf(file));
  });

  it("a copy from PostgreSQL to SQLite has the search index of the texts", async () => {
    using data = dataDirectory();
    const url = await newMigratedDatabase();
    await query(
      url,
      "INSERT INTO advisory_texts SELECT repeat('a', 40) || '/' || n, 'text ' || n FROM generate_series(1, 50) n",
    );
    const file = emptyFile(data.path, "copy.db");
    await copyToFile(url, file, options);
    using database = disposable(new BetterSqlite(file));
    database.prepare("INSERT INTO advisory_text_index (advisory_text_index, rank) VALUES ('integrity-check', 1)").run();
    const found = database.prepare(
      "SELECT count(*) FROM advisory_text_index WHERE advisory_text_index MATCH '\"t 4\"'",
    );
    assert.equal(found.pluck().get(), 11);
  });

  it("replaces the rows of an interrupted one, and leaves them after a failure", async () => {
    using data = dataDirectory();
    const file = await fullFile(data.path);
    const url = await newMigratedDatabase();
    await copyToPostgres(file, url, options);
    // PostgreSQL has no text with this character.
    const bad = path.join(data.path, "bad.db");
    await copyToFile(file, emptyFile(data.path, "bad.db"), options);
    using database = disposable(new BetterSqlite(bad));
    database.prepare("UPDATE settings SET value = ? WHERE name = 'plain'").run("a\u0000b");
    await assert.rejects(copyToPostgres(bad, url, options), /invalid byte sequence/);
    const count = async () => (await query(url, "SELECT count(*) AS rows FROM groups"))[0]?.rows;
    assert.equal(await count(), String(texts.length));
    database.prepare("DELETE FROM settings WHERE name = 'plain'").run();
    await copyToPostgres(bad, url, options);
    assert.equal(await count(), String(texts.length));
  });
});

describe("the tables of a copy", () => {
  it("are all tables of SQLite but that of servers, with all columns but the number of a text", async () => {
    using data = dataDirectory();
    await writeMigratedFile(data.path);
    using database = disposable(new BetterSqlite(path.join(data.path, "gatehouse.db"), { readonly: true }));
    const columns = database
      .prepare(
        `SELECT t.name || '.' || c.name FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '__drizzle_migrations' ORDER BY 1`,
      )
      .pluck()
      .all()
      .map(String);
    assert.deepEqual(tablesLeftOut(columns), ["nodes"]);
    assert.deepEqual(
      columns.filter((column) => column !== "advisory_texts.id" && !isOfNodes(column)),
      declaredColumns(),
    );
  });

  it("are all tables of PostgreSQL but that of servers, with all columns", async () => {
    const columns = [...(await columnTypes()).keys()];
    assert.deepEqual(tablesLeftOut(columns), ["nodes"]);
    assert.deepEqual(columns.filter((column) => !isOfNodes(column)).sort(), declaredColumns());
  });
});

/** The servers of the source do not run on the copy. */
function isOfNodes(column: string): boolean {
  return column.startsWith("nodes.");
}

/** Returns the tables of these columns that are not copied. */
function tablesLeftOut(columns: readonly string[]): string[] {
  const copied = new Set(copiedTables().map(({ name }) => name));
  const tables = new Set(columns.map((column) => column.slice(0, column.indexOf("."))));
  return [...tables].filter((table) => !copied.has(table));
}

function declaredColumns(): string[] {
  return copiedTables()
    .flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`))
    .sort();
}
