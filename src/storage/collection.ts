// Get, insert, update and delete of one resource, together with its entries, its counters and the change log.
import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { ancestorsOf } from "../uid.ts";
import { appendChange } from "./changes.ts";
import { addToCounter, dropCounters } from "./counters.ts";
import type { Prepared, Session, Transaction } from "./session.ts";
import type { Tables } from "./tables.ts";

/** The columns that every resource has; a name and an update time only where the resource has them. */
export interface ResourceRow {
  readonly uid: string;
  /** The uid of the group above; null for rows without one. */
  readonly parent: string | null;
  readonly createTime: number;
  readonly name?: string;
  readonly updateTime?: number;
}

export type RowTable = PgTable & { uid: PgColumn; parent: PgColumn; createTime: PgColumn };

/** How one resource is stored. */
export interface Collection<R extends ResourceRow> {
  /** The plural name, such as `groups`. */
  readonly kind: string;
  readonly rows: (tables: Tables) => RowTable;
  readonly entries: (tables: Tables) => Tables["groupEntries"];
  /** Which changes of a row can change what somebody may do. */
  readonly changesAccess: readonly Change[];
  /** Columns that never enter the change log. */
  readonly secret?: readonly (keyof R & string)[];
}

export type Change = "insert" | "update" | "delete";

/** The row with this uid; undefined when there is none. */
export async function findRow<R extends ResourceRow>(session: Session, collection: Collection<R>, uid: string): Promise<R | undefined> {
  const statement = session.prepared(`${collection.kind}.get`, (db, tables) => {
    const table = collection.rows(tables);
    return db.select().from(table).where(eq(table.uid, sql.placeholder("uid")));
  });
  const rows = await (statement as unknown as Prepared<R[]>).execute({ uid });
  return rows[0];
}

/** Adds a row. Throws UniqueViolation or ReferenceViolation. */
export async function insertRow<R extends ResourceRow>(tx: Transaction, collection: Collection<R>, row: R): Promise<void> {
  const insert = tx.prepared(`${collection.kind}.insert`, (db, tables) => {
    const table = collection.rows(tables);
    return db.insert(table).values(placeholders(Object.keys(getTableColumns(table))));
  });
  const insertEntry = tx.prepared(`${collection.kind}.entry.insert`, (db, tables) =>
    db.insert(collection.entries(tables)).values(placeholders(["key", "uid", "name", "createTime", "updateTime"]) as never),
  );
  await insert.execute(valuesOf(row));
  for (const key of keysOf(row)) {
    await insertEntry.execute({ key, ...entryOf(row) });
    await addToCounter(tx, key, collection.kind, 1);
  }
  await recordChange(tx, collection, "insert", undefined, row);
}

/** Replaces a row that exists by one of the same uid and parent. */
export async function updateRow<R extends ResourceRow>(tx: Transaction, collection: Collection<R>, before: R, after: R): Promise<void> {
  const update = tx.prepared(`${collection.kind}.update`, (db, tables) => {
    const table = collection.rows(tables);
    const columns = Object.keys(getTableColumns(table)).filter((column) => column !== "uid");
    return db.update(table).set(placeholders(columns)).where(eq(table.uid, sql.placeholder("uid")));
  });
  await update.execute(valuesOf(after));
  await updateEntries(tx, collection, before, after);
  await recordChange(tx, collection, "update", before, after);
}

/** Removes a row that exists. Throws ReferenceViolation when something still refers to it. */
export async function deleteRow<R extends ResourceRow>(tx: Transaction, collection: Collection<R>, row: R): Promise<void> {
  const remove = tx.prepared(`${collection.kind}.delete`, (db, tables) => {
    const table = collection.rows(tables);
    return db.delete(table).where(eq(table.uid, sql.placeholder("uid")));
  });
  const removeEntry = tx.prepared(`${collection.kind}.entry.delete`, (db, tables) => {
    const entries = collection.entries(tables);
    return db.delete(entries).where(entryKey(entries));
  });
  for (const key of keysOf(row)) {
    await removeEntry.execute({ key, ...entryOf(row) });
    await addToCounter(tx, key, collection.kind, -1);
  }
  await remove.execute({ uid: row.uid });
  await dropCounters(tx, row.uid);
  await recordChange(tx, collection, "delete", row, undefined);
}

/** The keys a row is entered under: one for each ancestor, and one for the children of its parent. */
export function keysOf(row: ResourceRow): string[] {
  return [...ancestorsOf(row.uid), childrenKey(row.parent)];
}

/** The key of the direct children of a uid; of the rows without parent for null. */
export function childrenKey(parent: string | null): string {
  return `${parent ?? ""}/*`;
}

async function updateEntries<R extends ResourceRow>(tx: Transaction, collection: Collection<R>, before: R, after: R): Promise<void> {
  const old = entryOf(before);
  const now = entryOf(after);
  if (old.name === now.name && old.updateTime === now.updateTime) return;
  const update = tx.prepared(`${collection.kind}.entry.update`, (db, tables) => {
    const entries = collection.entries(tables);
    return db
      .update(entries)
      .set(placeholders(["newName", "newUpdateTime"], ["name", "updateTime"]))
      .where(entryKey(entries));
  });
  for (const key of keysOf(after)) {
    await update.execute({ key, ...old, newName: now.name, newUpdateTime: now.updateTime });
  }
}

function valuesOf(row: ResourceRow): Record<string, unknown> {
  return { ...row };
}

function entryKey(entries: Tables["groupEntries"]) {
  return and(
    eq(entries.key, sql.placeholder("key")),
    eq(entries.name, sql.placeholder("name")),
    eq(entries.uid, sql.placeholder("uid")),
  );
}

function entryOf(row: ResourceRow) {
  return { uid: row.uid, name: row.name ?? "", createTime: row.createTime, updateTime: row.updateTime ?? row.createTime };
}

async function recordChange<R extends ResourceRow>(
  tx: Transaction,
  collection: Collection<R>,
  change: Change,
  before: R | undefined,
  after: R | undefined,
): Promise<void> {
  if (collection.changesAccess.includes(change)) await tx.changeAccess();
  const visible = (row: R | undefined) => {
    if (!row) return null;
    const secret: readonly string[] = collection.secret ?? [];
    return Object.fromEntries(Object.entries(row).filter(([column]) => !secret.includes(column)));
  };
  const row = (after ?? before)!;
  const group = collection.kind === "groups" && change !== "delete" ? row.uid : (row.parent ?? "/");
  await appendChange(tx, { kind: collection.kind, uid: row.uid, groupUid: group, before: visible(before), after: visible(after) });
}

/** Placeholders for columns, under their own names or under the names given first. */
function placeholders(names: readonly string[], columns: readonly string[] = names): Record<string, ReturnType<typeof sql.placeholder>> {
  return Object.fromEntries(columns.map((column, i) => [column, sql.placeholder(names[i]!)]));
}
