// The one place that chooses between the databases.

import { ancestorsOf } from "../model/uid.ts";
import { type AccessEpoch, advanceAccessEpoch, newAccessEpoch } from "./cache/access-epoch.ts";
import { type Lists, newLists } from "./cache/lists.ts";
import { newPageCache } from "./cache/page-cache.ts";
import { newReadCache, type ReadCache } from "./cache/read-cache.ts";
import { newRowCache, type RowCache } from "./cache/row-cache.ts";
import { writeChanges } from "./change-log/change-log.ts";
import { newCounterChanges } from "./engine/counters.ts";
import type { DatabaseLimits, Dialect, DialectTransaction, OpenMode } from "./engine/dialect.ts";
import { changeExportStates } from "./engine/export-states.ts";
import type { MigrationListener } from "./engine/migrations.ts";
import type { ChangeEntry, Session, Transaction, WriteContext } from "./engine/session.ts";
import { newOffsetIndex } from "./list/offset-index.ts";
import { newFilterResultCache } from "./list/range-plan.ts";
import { newTextSearch } from "./search/text-search.ts";

/** An open database. */
export interface Database {
  readonly dialect: "sqlite" | "postgres";
  /** For single statements, outside of any transaction. */
  readonly session: Session;
  /** Runs several reads on one consistent snapshot. */
  read<T>(body: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Runs the body in a write transaction and answers once it is durable. A body touches the database and nothing else,
   * never calls `write` itself, and may be run again when the database asks for it.
   */
  write<T>(context: WriteContext, body: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Returns a number that changes with permissions: equal numbers mean that cached grants are valid. */
  readonly accessEpoch: AccessEpoch;
  /** Reads rows by uid, outside of any transaction. */
  readonly rows: RowCache;
  /** Reads pages of lists. */
  readonly lists: Lists;
  /** How many reads of rows and pages came from the cache, and how many did not. */
  readonly cache: Pick<ReadCache, "hits" | "misses">;
  /** Rejects with StorageReadOnly when the database can only be read, and otherwise when it does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens `postgres://…` by the driver for PostgreSQL; anything else is the path of a SQLite file. Throws DatabaseMissing
 * when there is no database of Gatehouse yet and none is to be made. Migrations that are applied are reported.
 */
export async function openDatabase(
  url: string,
  limits: DatabaseLimits,
  mode: OpenMode = "create",
  onMigrated: MigrationListener = () => {},
): Promise<Database> {
  const dialect = await openDialect(url, limits, mode, onMigrated);
  const accessEpoch = newAccessEpoch(dialect.session);
  const read: Database["read"] = (body) => dialect.read(body);
  const cache = newReadCache();
  const offsets = newOffsetIndex(read);
  const pages = newPageCache(cache, offsets, newFilterResultCache(newTextSearch(dialect.name)));
  return {
    dialect: dialect.name,
    session: dialect.session,
    read,
    async write(context, body) {
      const { isBulk = false } = context;
      const { result, accessChanged } = await dialect.write((session) => runBody(session, context, body), isBulk);
      if (accessChanged) accessEpoch.invalidate();
      return result;
    },
    accessEpoch,
    rows: newRowCache(cache, dialect.session),
    lists: newLists(read, pages, offsets),
    cache,
    check: () => dialect.check(),
    close: () => dialect.close(),
  };
}

/**
 * Runs the body of a write, then what every writer has to do in the same places: counters, access epoch, change log. Those come
 * last and in one order: writers who hold one of them wait for nobody but each other. Where writes commit together, counters and
 * the states of exports are written once for all of them.
 */
async function runBody<T>(session: DialectTransaction, context: WriteContext, body: (tx: Transaction) => Promise<T>) {
  const changes: ChangeEntry[] = [];
  const counterChanges = newCounterChanges();
  const changedExports = new Set<string>();
  let accessChanged = false;
  const result = await body({
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
  });
  if (!session.pendingCounters) await counterChanges.write(session);
  if (accessChanged) await advanceAccessEpoch(session);
  if (changes.length > 0 || changedExports.size > 0) {
    await session.lockChanges();
    await writeChanges(session, context, changes);
    if (!session.pendingExports) await changeExportStates(session, changedExports);
  }
  // Nothing that fails comes after it: what others commit must not count what is undone.
  if (session.pendingCounters) counterChanges.addTo(session.pendingCounters);
  for (const groupUid of changedExports) session.pendingExports?.add(groupUid);
  return { result, accessChanged };
}

/** Whether the URL names a PostgreSQL database. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** Imports the driver that is configured and no other: loading one costs most of a start. */
async function openDialect(
  url: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  onMigrated: MigrationListener,
): Promise<Dialect> {
  if (isPostgresUrl(url)) {
    const { openPostgres } = await import("./engine/postgres/postgres.ts");
    return await openPostgres(url, limits, mode, onMigrated);
  }
  const { openSqlite } = await import("./engine/sqlite/sqlite.ts");
  return await openSqlite(url.replace(/^sqlite:/, ""), limits, mode, onMigrated);
}
