// SQLite: one write connection with a queue, one read connection, and a thread for reads that may take long, all in WAL mode.
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, statSync } from "node:fs";
import { type FileHandle, open as openFile } from "node:fs/promises";
import type BetterSqlite from "better-sqlite3";
import { isInWork } from "../../../base/slices.ts";
import { newCounterChanges } from "../counters.ts";
import type { DatabaseLimits, Dialect, DialectTransaction } from "../dialect.ts";
import { DatabaseMissing } from "../errors.ts";
import { changeExportStates } from "../export-states.ts";
import { newStatementDurations, type StatementDurations } from "../measurements.ts";
import type { Migration, MigrationListener, OpenMode } from "../migrations.ts";
import { partRunner } from "../savepoint.ts";
import {
  newSession,
  type Prepared,
  type Queries,
  type Runner,
  type Session,
  type SessionDialect,
  type TermTime,
} from "../session.ts";
import { type Checkpointer, newCheckpointer } from "./checkpointer.ts";
import { closeConnection, connect, driver, openWriter, readerPragmas } from "./connection.ts";
import { newFileCheck } from "./database-files.ts";
import { sqliteDialect } from "./dialect.ts";
import { type DiskSpace, newDiskSpace } from "./disk-space.ts";
import { translateSqliteError } from "./errors.ts";
import { pendingFileMigrations } from "./migrate-file.ts";
import { newQueryThread, type RunQuery } from "./query-thread.ts";
import { newRehearsals } from "./rehearsals.ts";
import { newSnapshot, type Snapshot } from "./snapshot.ts";
import { runBy, runSync } from "./statement.ts";
import { withOrFail } from "./statement-journal.ts";
import { WriteQueue } from "./write-queue.ts";
import type { WriteQueueHooks } from "./write-queue-options.ts";

/**
 * Opens or, depending on the mode, creates the database file, and migrates it. Rejects with the errors of errors.ts.
 */
export async function openSqlite(
  file: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  onMigrated: MigrationListener,
  clock: TermTime,
): Promise<Dialect> {
  if (mode !== "create" && !hasDatabase(file)) throw new DatabaseMissing(file);
  try {
    return await open(file, limits, mode, onMigrated, clock);
  } catch (error) {
    throw translateSqliteError(error);
  }
}

/** Returns the migrations that the file lacks. Creates none. Throws the errors of errors.ts. */
export function pendingSqliteMigrations(file: string, limits: DatabaseLimits): readonly Migration[] {
  if (!hasDatabase(file)) return pendingFileMigrations(undefined);
  try {
    const connection = connect(file, limits);
    try {
      return pendingFileMigrations(connection);
    } finally {
      closeConnection(connection);
    }
  } catch (error) {
    throw translateSqliteError(error);
  }
}

/** An empty file is left if creating a database was interrupted. */
function hasDatabase(file: string): boolean {
  return existsSync(file) && statSync(file).size > 0;
}

async function open(
  file: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  onMigrated: MigrationListener,
  clock: TermTime,
): Promise<Dialect> {
  await using opened = new AsyncDisposableStack();
  const writer = opened.adopt(await openWriter(file, limits, mode, onMigrated), closeConnection);
  const reader = opened.adopt(connect(file, limits, true), closeConnection);
  const sessionOf = sessionsWith({ ...sqliteDialect, ...clock });
  const snapshot = newSnapshot(reader);
  const statements = newStatementDurations();
  const readSession: Session = {
    ...sessionOf(reader, (statement) => opening(snapshot, runSync(statement, statements))),
    dataVersion: snapshot.dataVersion,
  };
  const readAside = newAsideRead(file, (runner) => sessionOf(reader, runner), statements, opened);
  const transaction = newTransaction(writer, (runner) => sessionOf(withOrFail(writer), runner), statements);
  const wal = opened.use(await openFile(`${file}-wal`, "r+"));
  const checkpointer = newCheckpointer(file);
  opened.defer(checkpointer.close);
  const checkFiles = newFileCheck(file);
  const disk = newDiskSpace(file, () => queue.run(() => writePage(writer)));
  const queue = new WriteQueue(writer, {
    ...limits,
    ...hooksOf({ transaction, checkpointer, snapshot, wal, checkFiles, disk }),
  });
  const rehearsals = newRehearsals(file, limits, (queries) =>
    newSession(queries, { ...sqliteDialect, ...clock }, (statement) => runSync(statement, statements)),
  );
  opened.defer(rehearsals.close);
  const everything = opened.move();
  return {
    name: "sqlite",
    session: readSession,
    rehearse: rehearsals.rehearse,
    read: (body) => (isInWork() ? readAside(body) : snapshot.share(() => body(readSession))),
    write: (body, kind) => queue.run(() => body(transaction), kind),
    writeTurns: queue.turns,
    measurements: { statements },
    async check() {
      reader.prepare("SELECT 1").get();
      checkFiles();
      await disk.check();
    },
    async close() {
      await queue.idle();
      await everything.disposeAsync();
    },
  };
}

/** Returns the function that reads in the thread for queries. `sessionOf` prepares the statements that it runs. */
function newAsideRead(
  file: string,
  sessionOf: (runner: Runner) => Session,
  statements: StatementDurations,
  opened: AsyncDisposableStack,
): Dialect["read"] {
  const thread = newQueryThread(file, readerPragmas);
  opened.defer(thread.close);
  const snapshots = new AsyncLocalStorage<{ readonly run: RunQuery; isOpen: boolean }>();
  const session = sessionOf((statement) => runBy(statement, () => snapshots.getStore()!.run, statements));
  return async (body) => {
    // A read within another one belongs to its snapshot.
    if (snapshots.getStore()?.isOpen) return await body(session);
    return await thread.read(async (run) => {
      const snapshot = { run, isOpen: true };
      try {
        return await snapshots.run(snapshot, () => body(session));
      } finally {
        snapshot.isOpen = false;
      }
    });
  };
}

/** Writes a page without changing anything. */
async function writePage(writer: BetterSqlite.Database): Promise<void> {
  writer.pragma(`user_version = ${writer.pragma("user_version", { simple: true })}`);
}

/** The session of the write connection, with the work that the writes of a batch defer. */
type BatchTransaction = DialectTransaction & Required<Pick<Session, "pendingCounters" | "pendingExports">>;

function newTransaction(
  writer: BetterSqlite.Database,
  sessionOf: (runner: Runner) => Session,
  statements: StatementDurations,
): BatchTransaction {
  return {
    ...sessionOf((statement) => runSync(statement, statements)),
    runPart: partRunner((statement) => writer.exec(statement)),
    pendingCounters: newCounterChanges(),
    pendingExports: new Set<string>(),
    // There is one writer at a time: tables need no locks, and sequence numbers follow commit order.
    lockTables: async () => {},
    lockChanges: async () => {},
    lockLargeLog: async () => {},
  };
}

/** The parts that the write queue calls around its batches. */
interface BatchParticipants {
  readonly transaction: BatchTransaction;
  readonly checkpointer: Checkpointer;
  readonly snapshot: Snapshot;
  readonly wal: FileHandle;
  readonly checkFiles: () => void;
  readonly disk: DiskSpace;
}

function hooksOf({ transaction, checkpointer, snapshot, wal, checkFiles, disk }: BatchParticipants): WriteQueueHooks {
  const { pendingCounters, pendingExports } = transaction;
  return {
    waitForRoom: checkpointer.waitForRoom,
    afterFull() {
      disk.noteFull();
      checkpointer.afterFull();
    },
    afterFailedFlush: checkpointer.afterFailedFlush,
    readTicks: snapshot.ticks,
    begin() {
      pendingCounters.clear();
      pendingExports.clear();
    },
    async finish() {
      await pendingCounters.write(transaction);
      await changeExportStates(transaction, pendingExports);
    },
    beforeCommit: snapshot.end,
    sync() {
      checkpointer.afterCommit();
      return wal.datasync();
    },
    check: checkFiles,
  };
}

function sessionsWith(dialect: SessionDialect & TermTime) {
  return (connection: BetterSqlite.Database, runner: Runner): Session =>
    newSession(driver().drizzle(connection, { casing: "snake_case" }) as unknown as Queries, dialect, runner);
}

/** Wraps a statement to begin the snapshot that it reads from. */
function opening<T>(snapshot: Snapshot, statement: Prepared<T>): Prepared<T> {
  return {
    execute(values) {
      snapshot.open();
      return statement.execute(values);
    },
  };
}
