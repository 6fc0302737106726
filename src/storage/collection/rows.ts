// Reads, inserts, updates and deletes rows, with their entries, counters and change log entries.
import type { SQL } from "drizzle-orm";
import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import { ConcurrencyConflict, UniqueViolation } from "../engine/errors.ts";
import { placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Prepared, RowLock, Session, Transaction } from "../engine/session.ts";
import { and, eq, getTableColumns, sql } from "../schema/drizzle.ts";
import type { Change, Collection, CollectionTables, Logged, ResourceRow, RowTable } from "./collection.ts";
import { addEntries, removeEntries, updateEntries } from "./entries.ts";
import { deleteRows, gatherRows, insertRows } from "./gathered-rows.ts";
import { changedColumns, laterUpdate } from "./row-changes.ts";
import { rowTag } from "./row-tag.ts";

/** Returns the row with this uid, or undefined. Synchronous if the driver is. */
export function findRow<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uid: string,
): MaybePromise<R | undefined> {
  const { gather, readLock } = session;
  if (gather) return gatherRows(gather, collection, [uid], readLock).then(([row]) => row);
  return readRow(session, collection, uid, readLock);
}

/** Returns whether there is a row with this uid. */
export async function rowExists(session: Session, collection: CollectionTables, uid: string): Promise<boolean> {
  return (await findRow(session, collection as Collection<ResourceRow>, uid)) !== undefined;
}

/**
 * Returns the rows with these uids, in any order. One statement reads them all, so they are from one snapshot. Meant
 * for few uids.
 */
export function findRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uids: readonly string[],
): MaybePromise<readonly R[]> {
  if (session.gather) return gatherRows(session.gather, collection, uids, undefined);
  const statement = session.prepared(`${collection.kind}.get_all`, (db, tables) => {
    const table = collection.rows(tables);
    return db
      .select()
      .from(table)
      .where(session.isAmong(table.uid, textPlaceholder("uids")));
  });
  return (statement as unknown as Prepared<R[]>).execute({ uids: JSON.stringify(uids) });
}

/**
 * Returns the row with this uid, or undefined, and locks it until the end of the transaction.
 *
 * Use it for a row that a write depends on without writing to it. A row that is written needs no lock: updateRow and
 * deleteRow detect if it changed since it was read, and the transaction runs again.
 */
export async function lockRow<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  uid: string,
): Promise<R | undefined> {
  return await readRow(tx, collection, uid, tx.rowLock);
}

/**
 * Returns the row with this uid, or undefined, and keeps it from being deleted until the end of the transaction. Other
 * transactions may keep it too, and may update it.
 */
export async function keepRow<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  uid: string,
): Promise<R | undefined> {
  const { keepLock, gather } = tx;
  if (gather) return (await gatherRows(gather, collection, [uid], keepLock))[0];
  return await readRow(tx, collection, uid, keepLock);
}

/** Inserts a row. Throws UniqueViolation or ReferenceViolation. */
export async function insertRow<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  row: R,
  logged: Logged = {},
): Promise<void> {
  if (tx.isRemote && !collection.syncDependents) {
    // One round trip: if the row cannot be inserted, the database skips the statements that follow.
    await Promise.all([insertRowAlone(tx, collection, row), addEntries(tx, collection, row)]);
  } else {
    await insertRowAlone(tx, collection, row);
    await collection.syncDependents?.(tx, undefined, row);
    await addEntries(tx, collection, row);
  }
  recordChange(tx, collection, "insert", undefined, row, logged);
}

/** Inserts a row without what depends on it. */
async function insertRowAlone<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  row: R,
): Promise<void> {
  if (tx.gather) {
    const insert = (session: Session, rows: readonly R[]) => insertRows(session, collection, rows);
    await tx.gather.write(`${collection.kind}.insert`, [row], insert);
    return;
  }
  const statement = tx.prepared(`${collection.kind}.insert`, (db, tables) => {
    const table = collection.rows(tables);
    return db.insert(table).values(placeholders(Object.keys(getTableColumns(table))));
  });
  await statement.execute(row as unknown as Record<string, unknown>);
}

/**
 * Inserts a row that the transaction did not find. Throws ConcurrencyConflict, which runs the transaction again, if
 * another one has inserted the row since; throws ReferenceViolation.
 */
export async function insertOrRetry<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  row: R,
): Promise<void> {
  try {
    await insertRow(tx, collection, row);
  } catch (error) {
    throw error instanceof UniqueViolation
      ? new ConcurrencyConflict("the row is not missing any more", { cause: error })
      : error;
  }
}

/**
 * Replaces a row, as this transaction read it, by one with the same uid and parent. Returns the stored row. Throws
 * ConcurrencyConflict.
 *
 * An update of no column but the update time writes nothing and returns `before`. `changesDependents` says that something
 * of the row changes in another table. The update time never decreases and never precedes the creation, even if updates
 * race or clocks are set back.
 */
export async function updateRow<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  before: R,
  given: R,
  { changesDependents = false, ...logged }: Logged & { readonly changesDependents?: boolean } = {},
): Promise<R> {
  requireState(tx, collection, before);
  const changed = changedColumns(before, given);
  if (changed.length === 0 && !changesDependents) return before;
  const after =
    given.updateTime === undefined ? given : { ...given, updateTime: laterUpdate(before, given.updateTime) };
  const update = tx.prepared(`${collection.kind}.update`, (db, tables) => {
    const table = collection.rows(tables);
    const columns = Object.keys(getTableColumns(table)).filter((column) => column !== "uid");
    return db.update(table).set(placeholders(columns)).where(unchanged(table)).returning({ uid: table.uid });
  });
  const updated = await update.execute({ ...(after as ResourceRow), ...valuesBefore(before) });
  if (updated.length === 0) throw new ConcurrencyConflict(`${collection.kind} ${before.uid} has changed`);
  await collection.syncDependents?.(tx, before, after);
  await updateEntries(tx, collection, before, after);
  const internal: readonly string[] = collection.internal ?? [];
  if (changesDependents || changed.some((column) => !internal.includes(column)))
    recordChange(tx, collection, "update", before, after, logged);
  return after;
}

/** Throws unless the row meets the condition of the write, if it has one about this row. */
function requireState<R extends ResourceRow>({ context }: Transaction, collection: Collection<R>, row: R): void {
  if (context.precondition?.uid === row.uid) context.precondition.check(rowTag(collection, row));
}

/** Deletes a row, as this transaction read it. Throws ReferenceViolation if another row still refers to it. */
export async function deleteRow<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  row: R,
  logged: Logged = {},
): Promise<void> {
  requireState(tx, collection, row);
  await collection.syncDependents?.(tx, row, undefined);
  await deleteRowAlone(tx, collection, row);
  await removeEntries(tx, collection, row);
  if (!collection.sharesUid) tx.counterChanges.drop(row.uid);
  recordChange(tx, collection, "delete", row, undefined, logged);
}

/** Deletes a row without what depends on it. */
async function deleteRowAlone<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  row: R,
): Promise<void> {
  if (tx.gather) {
    const remove = (session: Session, rows: readonly R[]) => deleteRows(session, collection, rows);
    await tx.gather.write(`${collection.kind}.delete`, [row], remove);
    return;
  }
  const remove = tx.prepared(`${collection.kind}.delete`, (db, tables) => {
    const table = collection.rows(tables);
    return db.delete(table).where(unchanged(table)).returning({ uid: table.uid });
  });
  const removed = await remove.execute(valuesBefore(row));
  if (removed.length === 0) throw new ConcurrencyConflict(`${collection.kind} ${row.uid} has changed`);
}

function readRow<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uid: string,
  lock: RowLock | undefined,
): MaybePromise<R | undefined> {
  const statement = session.prepared(`${collection.kind}.get.${lock ?? "plain"}`, (db, tables) => {
    const table = collection.rows(tables);
    const select = db
      .select()
      .from(table)
      .where(eq(table.uid, sql.placeholder("uid")));
    return lock ? select.for(lock) : select;
  });
  const rows = (statement as unknown as Prepared<R[]>).execute({ uid });
  return mapMaybe(rows, ([row]) => row);
}

/**
 * Returns a condition for the row with this uid and its earlier values. JSON is compared as text: json of PostgreSQL
 * has no `=`.
 */
function unchanged(table: RowTable): SQL | undefined {
  const conditions = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const value = sql.param(sql.placeholder(`before.${name}`), column);
    if (name === "uid") return sql`${column} = ${value}`;
    // A row of the time before the column has null, others have that of JSON.
    if (column.dataType === "json") return sql`coalesce(cast(${column} as text), 'null') = cast(${value} as text)`;
    return sql`${column} is not distinct from ${value}`;
  });
  return and(...conditions);
}

function valuesBefore(row: ResourceRow): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [`before.${column}`, value]));
}

function recordChange<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  change: Change,
  before: R | undefined,
  after: R | undefined,
  logged: Logged,
): void {
  if (collection.changesAccess.includes(change)) tx.changeAccess();
  const visible = (row: R | undefined, extra: object | undefined) => {
    if (!row) return null;
    const secret: readonly string[] = collection.secret ?? [];
    if (secret.length === 0) return extra ? { ...row, ...extra } : row;
    return Object.fromEntries(Object.entries({ ...row, ...extra }).filter(([column]) => !secret.includes(column)));
  };
  const { uid, parent } = (after ?? before)!;
  const isFiledUnderItself = collection.sharesUid || (collection.kind === "groups" && change !== "delete");
  const groupUid = isFiledUnderItself ? uid : (parent ?? "/");
  if (collection.isExported) tx.changeExports(groupUid);
  tx.logChange({
    kind: collection.kind,
    uid,
    groupUid,
    before: visible(before, logged.before),
    after: visible(after, logged.after),
  });
}
