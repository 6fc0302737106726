// Fills a new SQLite file with the rows of another database.

import { closeSync, fsyncSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type BetterSqlite from "better-sqlite3";
import { quoted } from "../../schema/copied-tables.ts";
import { type CopyProgress, type CopyTarget, type Fill, unfinishedSetting } from "../copy.ts";
import { driver } from "./connection.ts";
import { migrateFile } from "./migrate-file.ts";

/** The page cache of the connection, and the memory that sorts an index, in KiB. */
const cacheKib = 64 * 1024;

/**
 * Fills an existing, empty file, which nobody else may open before the end: a failure leaves it damaged. Indexes are built after
 * the rows, which is faster.
 */
export async function fillSqlite(file: string, progress: CopyProgress, fill: Fill): Promise<void> {
  const connection = new (driver().BetterSqlite)(file);
  try {
    migrateFile(connection, "create", () => {});
    for (const pragma of [
      "journal_mode = MEMORY",
      "synchronous = OFF",
      "foreign_keys = OFF",
      `cache_size = -${cacheKib}`,
    ])
      connection.pragma(pragma);
    connection.exec("BEGIN");
    const indexes = dropIndexes(connection);
    // The rows of the migrations.
    connection.exec("DELETE FROM settings");
    await fill(targetOf(connection));
    await progress.begin("building indexes", indexes.length + 1, "counts");
    for (const index of indexes) {
      connection.exec(index);
      progress.advance(1);
      await setImmediate();
    }
    requireReferences(connection);
    progress.advance(1);
    connection.exec("COMMIT");
  } finally {
    connection.close();
  }
  finishFile(file);
}

/**
 * Makes a complete copy durable and a single file, without a write-ahead log. `unfinished` is the value of the setting of
 * unfinished copies; none if absent.
 */
export function finishFile(file: string, unfinished?: string): void {
  const connection = new (driver().BetterSqlite)(file);
  try {
    connection.pragma("journal_mode = DELETE");
    if (unfinished !== undefined)
      connection.prepare("INSERT INTO settings (name, value) VALUES (?, ?)").run(unfinishedSetting, unfinished);
  } finally {
    connection.close();
  }
  const opened = openSync(file, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function targetOf(connection: BetterSqlite.Database): CopyTarget {
  return {
    async insert({ name, columns }, batches) {
      const values = columns.map(() => "?").join(", ");
      const insert = connection.prepare(`INSERT INTO ${quoted([name])} (${quoted(columns)}) VALUES (${values})`);
      for await (const batch of batches) {
        for (const row of batch) insert.run(...row);
        // Signals and the progress bar have their turn.
        await setImmediate();
      }
    },
    setLastNumber({ name }, last) {
      connection.prepare("DELETE FROM sqlite_sequence WHERE name = ?").run(name);
      connection.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").run(name, BigInt(last));
    },
  };
}

/** Drops the indexes that are not part of a table. Returns the statements that create them again. */
function dropIndexes(connection: BetterSqlite.Database): string[] {
  const indexes = connection
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    .all() as { name: string; sql: string }[];
  for (const { name } of indexes) connection.exec(`DROP INDEX ${quoted([name])}`);
  return indexes.map(({ sql }) => sql);
}

function requireReferences(connection: BetterSqlite.Database): void {
  const [dangling] = connection.pragma("foreign_key_check") as { table: string; parent: string }[];
  if (dangling) throw new Error(`a row of ${dangling.table} refers to a row of ${dangling.parent} that does not exist`);
}
