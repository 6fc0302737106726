// Rows that have an end are removed after it, a few at a time: on SQLite nothing else happens while rows are removed, and
// after a pause there may be a million of them.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { removeAccessEntries } from "./change-log/access-entries.ts";
import { removeChanges } from "./change-log/removal.ts";
import type { Database } from "./database.ts";
import { limitOf } from "./engine/placeholders.ts";
import type { Transaction, WriteContext } from "./engine/session.ts";
import { asc, inArray, lte, sql } from "./schema/drizzle.ts";
import type { Tables } from "./schema/tables.ts";

/** How long rows are kept beyond their end, in milliseconds. */
export interface RetentionPolicy {
  /** Since a notification of a registry was dealt with. */
  readonly registryEventMs: number;
  /** Since a signing key retired: nothing that it signed is valid any more. */
  readonly retiredKeyMs: number;
  /** Since an event happened: those that nobody is to be told of any more. */
  readonly eventMs: number;
  /** Since a change was made; undefined to keep the change log for good. */
  readonly changeMs: number | undefined;
  /** Since an entry about access was made; undefined to keep them like changes. */
  readonly accessMs: number | undefined;
}

/** Rows of one kind that one transaction removes. */
const batchSize = 200;

/** Rows that have an end. */
interface ExpiringTable {
  readonly kind: string;
  /** A row whose end is null has none. */
  readonly table: (tables: Tables) => { readonly rows: PgTable; readonly key: PgColumn; readonly end: PgColumn };
  readonly keptMs: (keeping: RetentionPolicy) => number;
}

const expiringTables: readonly ExpiringTable[] = [
  {
    kind: "sign_ins",
    table: ({ signIns: rows }) => ({ rows, key: rows.id, end: rows.expireTime }),
    keptMs: () => 0,
  },
  {
    kind: "headless_sessions",
    table: ({ headlessSessions: rows }) => ({ rows, key: rows.code, end: rows.expireTime }),
    keptMs: () => 0,
  },
  {
    kind: "refresh_families",
    table: ({ refreshFamilies: rows }) => ({ rows, key: rows.id, end: rows.expireTime }),
    keptMs: () => 0,
  },
  {
    kind: "registry_events",
    table: ({ registryEvents: rows }) => ({ rows, key: rows.id, end: rows.time }),
    keptMs: ({ registryEventMs }) => registryEventMs,
  },
  {
    kind: "events",
    table: ({ events: rows }) => ({ rows, key: rows.sequence, end: rows.time }),
    keptMs: ({ eventMs }) => eventMs,
  },
  {
    kind: "signing_keys",
    table: ({ signingKeys: rows }) => ({ rows, key: rows.kid, end: rows.retireTime }),
    keptMs: ({ retiredKeyMs }) => retiredKeyMs,
  },
];

/**
 * Removes what has ended by the time of the context, in as many transactions as it takes, none of which is begun once the
 * signal is given. Several nodes may do so at once.
 */
export async function sweep(
  database: Pick<Database, "write">,
  context: WriteContext,
  keeping: RetentionPolicy,
  signal: AbortSignal,
): Promise<void> {
  let isDone = false;
  while (!isDone && !signal.aborted) isDone = await database.write(context, (tx) => deleteBatches(tx, keeping));
}

/** Answers whether that was all. */
async function deleteBatches(tx: Transaction, keeping: RetentionPolicy): Promise<boolean> {
  let isAll = true;
  for (const ending of expiringTables) {
    const removed = await deleteBatch(tx, ending, tx.context.time - ending.keptMs(keeping));
    if (removed === batchSize) isAll = false;
  }
  if (keeping.changeMs !== undefined && !(await removeChanges(tx, tx.context.time - keeping.changeMs, batchSize)))
    isAll = false;
  if (keeping.accessMs !== undefined && !(await removeAccessEntries(tx, tx.context.time - keeping.accessMs, batchSize)))
    isAll = false;
  return isAll;
}

/** Removes rows that ended at a time or before it, the oldest first, and answers how many. */
async function deleteBatch(tx: Transaction, { kind, table }: ExpiringTable, time: number): Promise<number> {
  const statement = tx.prepared(`${kind}.sweep`, (db, tables) => {
    const { rows, key, end } = table(tables);
    const ended = db
      .select({ key })
      .from(rows)
      .where(lte(end, sql.placeholder("time")))
      .orderBy(asc(end))
      .limit(limitOf(batchSize));
    return db.delete(rows).where(inArray(key, ended)).returning({ key });
  });
  return (await statement.execute({ time })).length;
}
