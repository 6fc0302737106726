// Deletes expired rows in small batches: on SQLite nothing else runs during a delete, and after a pause a million rows
// may be due.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { removeAccessEntries } from "./change-log/access-entries.ts";
import { removeChanges } from "./change-log/removal.ts";
import type { Database } from "./database.ts";
import { limitOf } from "./engine/placeholders.ts";
import type { Transaction, WriteContext } from "./engine/session.ts";
import { removeAccessUsage } from "./iam/access-usage.ts";
import { removeClosedRequests } from "./iam/requests/collections.ts";
import { removeClosedReview } from "./iam/reviews/removal.ts";
import { removeSeenTokens } from "./iam/seen-tokens.ts";
import { removeGoneImages } from "./images/removal.ts";
import { removeImageUses } from "./registry/image-uses.ts";
import { asc, inArray, lte, sql } from "./schema/drizzle.ts";
import type { Tables } from "./schema/tables.ts";
import { removeDailyCounts } from "./statistics/daily-counts.ts";

/** How long expired rows are kept, in milliseconds. */
export interface RetentionPolicy {
  /** After the notification of a registry was processed. */
  readonly registryEventMs: number;
  /** After a signing key retired, when nothing that it signed is valid any more. */
  readonly retiredKeyMs: number;
  /** After a server was last seen that did not remove its row. */
  readonly nodeMs: number;
  /** After an event that no subscription waits for. */
  readonly eventMs: number;
  /** After a change; undefined to keep the change log forever. */
  readonly changeMs: number | undefined;
  /** After an access entry; undefined to keep them as long as changes. */
  readonly accessMs: number | undefined;
  /** After an access request or an access review is over. */
  readonly accessRecordMs: number;
  /** After the shape of a token was presented last. */
  readonly seenTokenMs: number;
  /** After the beginning of the day of the last use of access. */
  readonly usageMs: number;
  /** After the beginning of the hour of a use of an image. */
  readonly imageUseMs: number;
  /** After the beginning of the day of a count. */
  readonly countMs: number;
}

/** How many rows of one kind a transaction deletes. */
const batchSize = 200;

/** A table whose rows expire. */
interface ExpiringTable {
  readonly kind: string;
  /** Rows whose `end` is null do not expire. */
  readonly table: (tables: Tables) => { readonly rows: PgTable; readonly key: PgColumn; readonly end: PgColumn };
  readonly retentionMs: (policy: RetentionPolicy) => number;
}

const expiringTables: readonly ExpiringTable[] = [
  {
    kind: "sign_ins",
    table: ({ signIns: rows }) => ({ rows, key: rows.id, end: rows.expireTime }),
    retentionMs: () => 0,
  },
  {
    kind: "headless_sessions",
    table: ({ headlessSessions: rows }) => ({ rows, key: rows.code, end: rows.expireTime }),
    retentionMs: () => 0,
  },
  {
    kind: "refresh_families",
    table: ({ refreshFamilies: rows }) => ({ rows, key: rows.id, end: rows.expireTime }),
    retentionMs: () => 0,
  },
  {
    kind: "registry_events",
    table: ({ registryEvents: rows }) => ({ rows, key: rows.id, end: rows.time }),
    retentionMs: ({ registryEventMs }) => registryEventMs,
  },
  {
    kind: "events",
    table: ({ events: rows }) => ({ rows, key: rows.sequence, end: rows.time }),
    retentionMs: ({ eventMs }) => eventMs,
  },
  {
    kind: "signing_keys",
    table: ({ signingKeys: rows }) => ({ rows, key: rows.kid, end: rows.retireTime }),
    retentionMs: ({ retiredKeyMs }) => retiredKeyMs,
  },
  {
    kind: "call_outcomes",
    table: ({ callOutcomes: rows }) => ({ rows, key: rows.keyDigest, end: rows.expireTime }),
    retentionMs: () => 0,
  },
  {
    kind: "nodes",
    table: ({ nodes: rows }) => ({ rows, key: rows.id, end: rows.lastSeenTime }),
    retentionMs: ({ nodeMs }) => nodeMs,
  },
];

/**
 * Deletes what has expired by the time of the context, in as many transactions as needed. Begins none once the signal
 * is aborted. Several nodes may sweep at the same time.
 */
export async function sweep(
  database: Pick<Database, "write">,
  context: WriteContext,
  policy: RetentionPolicy,
  signal: AbortSignal,
): Promise<void> {
  let isDone = false;
  while (!isDone && !signal.aborted) isDone = await database.write(context, (tx) => deleteBatches(tx, policy));
}

/** Returns whether nothing is left. */
async function deleteBatches(tx: Transaction, policy: RetentionPolicy): Promise<boolean> {
  let isAll = true;
  for (const ending of expiringTables) {
    const removed = await deleteBatch(tx, ending, tx.context.time - ending.retentionMs(policy));
    if (removed === batchSize) isAll = false;
  }
  if (policy.changeMs !== undefined && !(await removeChanges(tx, tx.context.time - policy.changeMs, batchSize)))
    isAll = false;
  if (policy.accessMs !== undefined && !(await removeAccessEntries(tx, tx.context.time - policy.accessMs, batchSize)))
    isAll = false;
  if (!(await removeDailyCounts(tx, tx.context.time - policy.countMs, batchSize))) isAll = false;
  if (!(await removeSeenTokens(tx, tx.context.time - policy.seenTokenMs, batchSize))) isAll = false;
  if (!(await removeClosedRequests(tx, tx.context.time - policy.accessRecordMs, batchSize))) isAll = false;
  if (!(await removeAccessUsage(tx, tx.context.time - policy.usageMs, batchSize))) isAll = false;
  if (!(await removeImageUses(tx, tx.context.time - policy.imageUseMs, batchSize))) isAll = false;
  if (!(await removeGoneImages(tx, batchSize))) isAll = false;
  if (!(await removeClosedReview(tx, tx.context.time - policy.accessRecordMs))) isAll = false;
  return isAll;
}

/** Deletes rows that expired at or before a time, oldest first. Returns how many. */
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
