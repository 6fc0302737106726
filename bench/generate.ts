// Fills a data directory of a development server with a generated installation.

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import BetterSqlite from "better-sqlite3";
import { getTableColumns } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { syncBuiltInRoles } from "../src/services/iam/roles/built-in-role-rows.ts";
import { insertEntries, newEntry } from "../src/storage/collection/entries.ts";
import { openDatabase } from "../src/storage/database.ts";
import { newCounterChanges } from "../src/storage/engine/counters.ts";
import { defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import { placeholders } from "../src/storage/engine/placeholders.ts";
import { newSession, type Queries, type Transaction } from "../src/storage/engine/session.ts";
import { writeSetting } from "../src/storage/engine/settings.ts";
import { sqliteDialect } from "../src/storage/engine/sqlite/dialect.ts";
import { runSync } from "../src/storage/engine/sqlite/statement.ts";
import { keysOf } from "../src/storage/schema/entry-keys.ts";
import { type Landmarks, type PlacedRow, type PopulationOptions, populate } from "./population.ts";

const reportEvery = 10_000;

/**
 * Writes the rows, entries and counters that the server itself would, without a change log. The directory must not hold
 * a database yet. `report` is told how many rows there are, now and then.
 */
export async function generate(
  dataDir: string,
  options: PopulationOptions,
  report: (rows: number) => void,
): Promise<Landmarks> {
  mkdirSync(dataDir, { recursive: true });
  const file = path.join(dataDir, "gatehouse.db");
  await prepare(file);
  const connection = new BetterSqlite(file, { fileMustExist: true });
  try {
    const landmarks = await fill(connection, options, report);
    writeFileSync(landmarksFile(dataDir), JSON.stringify(landmarks));
    return landmarks;
  } finally {
    connection.close();
  }
}

/** Where the landmarks of a data directory are kept. Written last: a directory without it is incomplete. */
export function landmarksFile(dataDir: string): string {
  return path.join(dataDir, "landmarks.json");
}

/** Creates the file with its tables and the built-in roles. */
async function prepare(file: string): Promise<void> {
  const database = await openDatabase(file, defaultDatabaseLimits);
  try {
    await syncBuiltInRoles(database, Date.now());
  } finally {
    await database.close();
  }
}

async function fill(
  connection: BetterSqlite.Database,
  options: PopulationOptions,
  report: (rows: number) => void,
): Promise<Landmarks> {
  // Data lost in a crash is generated again, so durability is off. SQLite leaves WAL for DELETE only, and DELETE for OFF in unsafe mode
  // only.
  connection.pragma("journal_mode = DELETE");
  connection.unsafeMode();
  connection.pragma("journal_mode = OFF");
  connection.pragma("synchronous = OFF");
  connection.pragma("cache_size = -2000000");
  connection.pragma("temp_store = FILE");
  const restoreIndexes = dropIndexes(connection);
  const addStaged = stageEntries(connection);
  const tx = newTransaction(connection);
  const landmarks = await insertAll(connection, tx, populate(options), report);
  const { groupUid, ownerUid } = landmarks;
  await writeSetting(tx, "sample_organization", JSON.stringify({ groupUid, ownerUid }));
  addStaged();
  restoreIndexes();
  connection.pragma("journal_mode = WAL");
  return landmarks;
}

async function insertAll(
  connection: BetterSqlite.Database,
  tx: Transaction,
  rows: Generator<PlacedRow, Landmarks>,
  report: (rows: number) => void,
): Promise<Landmarks> {
  let written = 0;
  // One commit: each would write the pages of the last rows, which are all over the file.
  connection.exec("BEGIN");
  for (let next = rows.next(); ; next = rows.next()) {
    if (next.done) {
      joinPeople(connection, next.value);
      await tx.counterChanges.write(tx);
      connection.exec("COMMIT");
      return next.value;
    }
    await insertBulk(tx, next.value);
    if (++written % reportEvery === 0) report(written);
  }
}

/** Has the generated people join the organization. */
function joinPeople(connection: BetterSqlite.Database, { groupUid }: Landmarks): void {
  const people = "SELECT uid, ?, create_time FROM identities WHERE parent IS NULL";
  connection.prepare(`INSERT INTO memberships (identity_uid, group_uid, create_time) ${people}`).run(groupUid);
}

/** Leaves what insertRow does, besides the change log. The counters are written once, at the end. */
async function insertBulk(tx: Transaction, { collection, row }: PlacedRow): Promise<void> {
  const insert = tx.prepared(`${collection.kind}.bulk`, (db, tables) => {
    const table = collection.rows(tables);
    return db.insert(table).values(placeholders(Object.keys(getTableColumns(table))));
  });
  await insert.execute({ ...row });
  const keys = keysOf(row);
  await insertEntries(tx, collection, keys, newEntry(row));
  tx.counterChanges.add(keys, collection.kind, 1);
}

/** Takes away the indexes that no constraint needs; they are built faster from what is there. Answers how to restore them. */
function dropIndexes(connection: BetterSqlite.Database): () => void {
  const indexes = connection
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    .all();
  for (const { name } of indexes as { name: string }[]) connection.exec(`DROP INDEX "${name}"`);
  return () => {
    for (const { sql } of indexes as { sql: string }[]) connection.exec(sql);
  };
}

/**
 * Makes tables of entries in the temporary database, which hide the real ones, and returns how to move their rows there. Sorted,
 * they are appended; one by one, each would go to another page of the largest table.
 */
function stageEntries(connection: BetterSqlite.Database): () => void {
  const tables = connection
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '%\\_entries' ESCAPE '\\'")
    .pluck()
    .all() as string[];
  for (const name of tables) connection.exec(`CREATE TEMP TABLE "${name}" AS SELECT * FROM main."${name}" WHERE false`);
  return () => {
    for (const name of tables) {
      connection.exec(`INSERT INTO main."${name}" SELECT * FROM temp."${name}" ORDER BY key, name, tail`);
      connection.exec(`DROP TABLE temp."${name}"`);
    }
  };
}

function newTransaction(connection: BetterSqlite.Database): Transaction {
  const queries = drizzle(connection, { casing: "snake_case" }) as unknown as Queries;
  return {
    ...newSession(queries, { ...sqliteDialect, termTime: Date.now }, runSync),
    context: { actor: "", method: "benchmark", requestId: "", time: 0 },
    lockTables: async () => {},
    changeAccess() {},
    changeExports() {},
    counterChanges: newCounterChanges(),
    logChange() {},
  };
}
