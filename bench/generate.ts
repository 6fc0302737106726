// Fills a data directory of a development server with a generated installation.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import BetterSqlite from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { syncBuiltInRoles } from "../src/services/iam/built-in-role-rows.ts";
import { insertRow } from "../src/storage/collection.ts";
import { openDatabase } from "../src/storage/database.ts";
import { defaultDatabaseLimits } from "../src/storage/dialect.ts";
import { newSession, type Queries, type Transaction } from "../src/storage/session.ts";
import { writeSetting } from "../src/storage/settings.ts";
import { sqliteTables } from "../src/storage/tables.sqlite.ts";
import { type Landmarks, type PopulationOptions, populate } from "./population.ts";

/** Rows that share a commit. */
const batchSize = 10_000;

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
  // What is lost in a crash is generated again. Entries are inserted all over their indexes: these should fit the cache.
  connection.pragma("journal_mode = OFF");
  connection.pragma("synchronous = OFF");
  connection.pragma("cache_size = -2000000");
  const tx = newTransaction(connection);
  const rows = populate(options);
  let written = 0;
  connection.exec("BEGIN");
  for (let next = rows.next(); ; next = rows.next()) {
    if (next.done) {
      const { groupUid, ownerUid } = next.value;
      await writeSetting(tx, "sample_organization", JSON.stringify({ groupUid, ownerUid }));
      connection.exec("COMMIT");
      connection.pragma("journal_mode = WAL");
      return next.value;
    }
    await insertRow(tx, next.value.collection, next.value.row as never);
    if (++written % batchSize === 0) {
      connection.exec("COMMIT; BEGIN");
      report(written);
    }
  }
}

function newTransaction(connection: BetterSqlite.Database): Transaction {
  const queries = drizzle(connection, { casing: "snake_case" }) as unknown as Queries;
  return {
    ...newSession(queries, sqliteTables),
    context: { actor: "", method: "benchmark", requestId: "", time: 0 },
    changeAccess() {},
    logChange() {},
  };
}
