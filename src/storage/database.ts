// Opens a database: SQLite or PostgreSQL, with its caches, lists and search.

import { type Clock, systemClock } from "../base/clock.ts";
import { DurationCounts } from "../base/duration-counts.ts";
import { withoutCounting } from "../base/slices.ts";
import { ancestorsOf } from "../model/uid.ts";
import { type AccessEpoch, advanceAccessEpoch, newAccessEpoch } from "./cache/access-epoch.ts";
import { type Lists, newLists } from "./cache/lists.ts";
import { newPageCache } from "./cache/page-cache.ts";
import { newReadCache, type ReadCache } from "./cache/read-cache.ts";
import { newRowCache, type RowCache } from "./cache/row-cache.ts";
import { newValueCounts } from "./cache/value-counts.ts";
import { type AppendChanges, convertLargeWrite, writeChanges } from "./change-log/change-log.ts";
import { unfinishedError, unfinishedSetting } from "./engine/copy.ts";
import { newCounterChanges } from "./engine/counters.ts";
import type { DatabaseHooks, DatabaseLimits, Dialect, DialectTransaction, LoggedWrite } from "./engine/dialect.ts";
import { changeExportStates } from "./engine/export-states.ts";
import type { DatabaseMeasurements } from "./engine/measurements.ts";
import type { Migration, MigrationListener, OpenMode } from "./engine/migrations.ts";
import type { ChangeEntry, Session, Transaction, WriteContext } from "./engine/session.ts";
import { readSetting } from "./engine/settings.ts";
import { databaseClock, followingClock, type TermClock } from "./engine/term-clock.ts";
import { newOffsetIndex } from "./list/offset-index.ts";
import { newFilterResultCache } from "./list/range-plan.ts";
import { newTextSearch } from "./search/text-search.ts";

/** An open database. */
export interface Database {
  readonly dialect: "sqlite" | "postgres";
  /** Runs single statements, outside of any transaction. */
  readonly session: Session;
  /** Runs several reads in one consistent snapshot. */
  read<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Runs the body as in a write transaction, and undoes what it wrote. No write of another organization waits for it. The body may
   * await other things. Its lists show only what was committed before.
   */
  rehearse<T>(context: WriteContext, body: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs the body in a write transaction, and resolves once the commit is durable. The body must only use the database,
   * must not call `write`, and may run again after a conflict.
   */
  write<T>(context: WriteContext, body: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Returns a number that changes with permissions: equal numbers mean that cached grants are valid. */
  readonly accessEpoch: AccessEpoch;
  /** Reads rows by uid, outside of any transaction. */
  readonly rows: RowCache;
  /** Reads pages of lists. */
  readonly lists: Lists;
  /** The numbers of reads that were hits and misses, and the size of the cache. */
  readonly cache: Pick<ReadCache, "hits" | "misses" | "entries" | "bytes">;
  /** The database's own measurements, and the durations of write transactions. */
  readonly measurements: DatabaseMeasurements & { readonly transactions: TransactionDurations };
  /** Rejects with StorageReadOnly if the database is read-only, and with StorageUnavailable if it does not respond. */
  check(): Promise<void>;
  /** The turns of the processes that write to one file (SQLite). */
  readonly writeTurns?: Dialect["writeTurns"];
  /** Calls the listener with the name of the new host after each failover (PostgreSQL). */
  readonly onHostChanged?: Dialect["onHostChanged"];
  /** Counts of reads that replicas answered or passed on; absent without replicas. */
  readonly replicas?: Dialect["replicas"];
  close(): Promise<void>;
}

/** The durations of write transactions, from the request until their commit was durable, or until they were rolled back. */
export interface TransactionDurations {
  readonly committed: DurationCounts;
  /** Undone on purpose: rehearsals. */
  readonly rolledBack: DurationCounts;
  readonly failed: DurationCounts;
}

/** The servers to use, and their roles. */
export interface OpenOptions {
  /** Whether the database is the target of a copy, which may be unfinished; false if absent. */
  readonly isTarget?: boolean | undefined;
  /** The URL of standbys that may answer lists (PostgreSQL); none if absent. */
  readonly replicaUrl?: string | undefined;
  /** Called with the changes of each write that has committed, and with its time. */
  readonly onChanges?: ((changes: readonly ChangeEntry[], time: number) => void) | undefined;
  /** The time by which terms begin and end; that of the server of PostgreSQL, or of this system, if absent. */
  readonly termClock?: Clock | undefined;
}

/**
 * Opens the PostgreSQL database of a `postgres://` URL, or a SQLite file at any other path. Throws DatabaseMissing if
 * there is none and the mode does not create one, and DatabaseUnfinished for an unfinished copy unless it is the
 * target of one. Calls `onMigrated` after migrations.
 */
export async function openDatabase(
  url: string,
  limits: DatabaseLimits,
  mode: OpenMode = "create",
  onMigrated: MigrationListener = () => {},
  { isTarget = false, replicaUrl, onChanges, termClock }: OpenOptions = {},
): Promise<Database> {
  let clearCaches = () => {};
  const hooks: DatabaseHooks = { onMigrated, onNewHistory: () => clearCaches(), log: logWrites };
  const clock = termClock ? followingClock(termClock) : newTermClock(url);
  const dialect = await openDialect(url, limits, mode, hooks, clock, replicaUrl);
  const { session } = dialect;
  if (!isTarget) await requireFinished(dialect);
  const accessEpoch = newAccessEpoch(dialect.isolatedSession ?? session, clock);
  // Sets the clock of terms.
  if (session.isRemote && !isTarget) await accessEpoch.latest();
  const read: Database["read"] = (body) => dialect.read(body);
  const readLogged = dialect.readLogged ?? read;
  const cache = newReadCache();
  const transactions = newTransactionDurations();
  const offsets = newOffsetIndex(readLogged);
  const filterResults = newFilterResultCache(newTextSearch(session));
  const pages = newPageCache(cache, offsets, filterResults);
  clearCaches = () => {
    for (const each of [cache, offsets, filterResults.found]) each.clear();
    accessEpoch.invalidate();
  };
  const rehearsed: Database["rehearse"] = (context, body) =>
    withoutCounting(() => dialect.rehearse((session) => body(transactionOn(session, context).tx)));
  return {
    dialect: dialect.name,
    session,
    read,
    rehearse: (context, body) => recorded(rehearsed(context, body), transactions.rolledBack, transactions.failed),
    async write(context, body) {
      const written = withoutCounting(() => dialect.write((session) => runBody(session, context, body), context));
      const { result, changes, accessChanged } = await recorded(written, transactions.committed, transactions.failed);
      context.lifetime?.committed();
      onChanges?.(changes, context.time);
      if (accessChanged) accessEpoch.invalidate();
      return result;
    },
    accessEpoch,
    rows: newRowCache(cache, session),
    lists: newLists({ session, read, readLogged }, pages, offsets, newValueCounts(cache, filterResults)),
    cache,
    measurements: { ...dialect.measurements, transactions },
    check: () => dialect.check(),
    ...partsOf(dialect),
    close: () => dialect.close(),
  };
}

/**
 * Runs the body of a write, and then updates what all writers share: counters, access epoch, change log. These come
 * last and in a fixed order: a writer that holds one of them only waits for other writers at this point. In a
 * group commit, counters and export states are written once for all writes.
 */
async function runBody<T>(session: DialectTransaction, context: WriteContext, body: (tx: Transaction) => Promise<T>) {
  const { tx, changes, counterChanges, changedExports, hasChangedAccess } = transactionOn(session, context);
  const result = await body(tx);
  const accessChanged = hasChangedAccess();
  if (!session.pendingCounters) await counterChanges.write(session);
  const logged = { context, changes, accessChanged };
  if (!session.pendingLog) {
    const append = context.isLarge ? await convertLargeWrite(session, logged) : undefined;
    if (append) await session.lockLargeLog();
    await logWrites(session, [logged], session.pendingExports ? new Set() : changedExports, append);
  }
  // Nothing after this may fail: other writes commit these changes.
  session.pendingLog?.push(logged);
  if (session.pendingCounters) counterChanges.addTo(session.pendingCounters);
  for (const groupUid of changedExports) session.pendingExports?.add(groupUid);
  return { result, changes, accessChanged };
}

/** Returns the parts that only one of the databases has. */
function partsOf({ onHostChanged, replicas, writeTurns }: Dialect) {
  return { onHostChanged, replicas, writeTurns };
}

/** Returns the transaction of a write, with the work that is deferred to its end. */
function transactionOn(session: DialectTransaction, context: WriteContext) {
  const changes: ChangeEntry[] = [];
  const counterChanges = newCounterChanges();
  const changedExports = new Set<string>();
  let accessChanged = false;
  const tx: Transaction = {
    ...session,
    context,
    changeAccess: () => {
      accessChanged = true;
    },
    counterChanges,
    changeExports: (groupUid) => {
      for (const uid of [...ancestorsOf(groupUid), groupUid]) changedExports.add(uid);
    },
    logChange: (entry) => {
      changes.push(entry);
    },
  };
  return { tx, changes, counterChanges, changedExports, hasChangedAccess: () => accessChanged };
}

/** Advances the access epoch, appends to the change log and changes export states, in this order for all writers. */
async function logWrites(
  session: DialectTransaction,
  writes: readonly LoggedWrite[],
  exported: ReadonlySet<string>,
  append: AppendChanges = () => writeChanges(session, writes),
): Promise<void> {
  const statements: Promise<unknown>[] = [];
  if (writes.some(({ accessChanged }) => accessChanged)) statements.push(advanceAccessEpoch(session));
  if (exported.size > 0 || writes.some(({ changes }) => changes.length > 0))
    statements.push(session.lockChanges(), append(), changeExportStates(session, exported));
  // One round trip: the database executes the statements in this order.
  await Promise.all(statements);
}

function newTransactionDurations(): TransactionDurations {
  return { committed: new DurationCounts(), rolledBack: new DurationCounts(), failed: new DurationCounts() };
}

/** Records how long a write or its rehearsal took, by whether it ended well. */
async function recorded<T>(write: Promise<T>, succeeded: DurationCounts, failed: DurationCounts): Promise<T> {
  const startedAt = performance.now();
  try {
    const result = await write;
    succeeded.recordSince(startedAt);
    return result;
  } catch (error) {
    failed.recordSince(startedAt);
    throw error;
  }
}

/** Throws DatabaseUnfinished, and closes the database, if a copy has not filled it completely. */
async function requireFinished({ session, close }: Dialect): Promise<void> {
  try {
    const command = await readSetting(session, unfinishedSetting);
    if (command !== undefined) throw unfinishedError(command);
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns whether the URL names a PostgreSQL database. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** Returns the migrations that a database lacks; all of them if there is none. Changes nothing. */
export async function pendingMigrationsOf(url: string, limits: DatabaseLimits): Promise<readonly Migration[]> {
  if (isPostgresUrl(url)) {
    const { pendingPostgresMigrations } = await import("./engine/postgres/migrate.ts");
    return await pendingPostgresMigrations(url, limits);
  }
  const { pendingSqliteMigrations } = await import("./engine/sqlite/sqlite.ts");
  return pendingSqliteMigrations(sqliteFile(url), limits);
}

/** Imports only the configured driver: loading one takes most of a start. */
async function openDialect(
  url: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  hooks: DatabaseHooks,
  clock: TermClock,
  replicaUrl: string | undefined,
): Promise<Dialect> {
  if (isPostgresUrl(url)) {
    const { openPostgres } = await import("./engine/postgres/postgres.ts");
    return await openPostgres(url, limits, mode, hooks, { termTime: clock.termTime, replicaUrl });
  }
  const { openSqlite } = await import("./engine/sqlite/sqlite.ts");
  return await openSqlite(sqliteFile(url), limits, mode, hooks.onMigrated, { termTime: clock.termTime });
}

function newTermClock(url: string): TermClock {
  return isPostgresUrl(url) ? databaseClock(systemClock) : followingClock(systemClock);
}

/** Returns the path of the file that a URL of SQLite names. */
export function sqliteFile(url: string): string {
  return url.replace(/^sqlite:/, "");
}
