// Reads a SQLite file in one snapshot, while other processes write to it.
import type BetterSqlite from "better-sqlite3";
import { type CopiedTable, quoted } from "../../schema/copied-tables.ts";
import { batchLimits, type CopiedRow, type CopyProgress, type CopySource, sizeOf } from "../copy.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { closeConnection, connect } from "./connection.ts";
import { finishFile } from "./copy-target.ts";
import { requireSameFile } from "./migrate-file.ts";

/** Pages of 4 KiB that are copied without a pause. */
const pagesPerStep = 1024;

/** Opens a file. Throws DatabaseVersionMismatch if another version wrote it. */
export function openSqliteSource(file: string, limits: DatabaseLimits): CopySource {
  const connection = connect(file, limits, true);
  try {
    // Every row is read once, so mapping the file would only displace the pages that servers use.
    connection.pragma("mmap_size = 0");
    // The snapshot begins with the first read and ends with the connection.
    connection.exec("BEGIN");
    requireSameFile(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  const read = (sql: string, ...values: string[]) =>
    connection
      .prepare(sql)
      .pluck()
      .get(...values);
  return {
    count: ({ name }) => read(`SELECT count(*) FROM ${quoted([name])}`) as number,
    rows: (table) => batchesOf(connection, table),
    lastNumber: ({ name }) => (read("SELECT seq FROM sqlite_sequence WHERE name = ?", name) as number) ?? 0,
    copyPages: (to, progress, unfinished) => copyPages(connection, to, progress, unfinished),
    close: () => closeConnection(connection),
  };
}

async function* batchesOf(connection: BetterSqlite.Database, { name, columns, key }: CopiedTable) {
  const sql = `SELECT ${quoted(columns)} FROM ${quoted([name])} ORDER BY ${quoted(key)}`;
  let batch: CopiedRow[] = [];
  let size = 0;
  for (const row of connection.prepare(sql).raw().iterate() as IterableIterator<CopiedRow>) {
    batch.push(row);
    size += sizeOf(row);
    if (size < batchLimits.characters && batch.length < batchLimits.rows) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

/**
 * SQLite's online backup (https://sqlite.org/backup.html). It starts again when another process writes, but not while its
 * connection has a snapshot, as here.
 */
async function copyPages(
  connection: BetterSqlite.Database,
  file: string,
  progress: CopyProgress,
  unfinished?: string,
): Promise<void> {
  let copied = 0;
  await progress.begin("copying", connection.pragma("page_count", { simple: true }) as number, "percent");
  await connection.backup(file, {
    progress({ totalPages, remainingPages }) {
      progress.advance(totalPages - remainingPages - copied);
      copied = totalPages - remainingPages;
      return pagesPerStep;
    },
  });
  finishFile(file, unfinished);
}
