// The entries of a row, which put it in order under each of its ancestors, and the counters over them.

import { ancestorsOf } from "../uid.ts";
import type { CollectionTables, ResourceRow } from "./collection.ts";
import { addToCounter } from "./counters.ts";
import { and, eq, getTableColumns, sql } from "./drizzle.ts";
import { placeholders } from "./placeholders.ts";
import type { Transaction } from "./session.ts";
import type { Tables } from "./tables.ts";

/** The keys a row is entered under: one for each ancestor, and one for the children of its parent. */
export function keysOf(row: Pick<ResourceRow, "uid" | "parent">): string[] {
  return [...ancestorsOf(row.uid), childrenKey(row.parent)];
}

/** The key of the direct children of a uid; of the rows without parent for null. */
export function childrenKey(parent: string | null): string {
  return `${parent ?? ""}/*`;
}

/** A row under one of its keys. */
export interface Entry {
  readonly key: string;
  readonly uid: string;
  readonly name: string;
  readonly createTime: number;
  readonly updateTime: number;
}

/** What every entry of a row holds besides its key. */
export function entryOf(row: Omit<ResourceRow, "parent">): Omit<Entry, "key"> {
  const { uid, name = "", createTime, updateTime = createTime } = row;
  return { uid, name, createTime, updateTime };
}

/** Enters a new row and counts it. */
export async function addEntries(tx: Transaction, collection: CollectionTables, row: ResourceRow): Promise<void> {
  for (const key of keysOf(row)) {
    await insertEntry(tx, collection, { key, ...entryOf(row) });
    await addToCounter(tx, key, collection.kind, 1);
  }
}

/** Brings the entries of a row up to date, if the update concerns them. */
export async function updateEntries(
  tx: Transaction,
  collection: CollectionTables,
  before: ResourceRow,
  after: ResourceRow,
): Promise<void> {
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

/** Takes away the entries of a row that is gone, and counts it no more. */
export async function removeEntries(tx: Transaction, collection: CollectionTables, row: ResourceRow): Promise<void> {
  for (const key of keysOf(row)) {
    await removeEntry(tx, collection, { key, ...entryOf(row) });
    await addToCounter(tx, key, collection.kind, -1);
  }
}

/** Adds one entry, without counting it. */
export async function insertEntry(tx: Transaction, collection: CollectionTables, entry: Entry): Promise<void> {
  const statement = tx.prepared(`${collection.kind}.entry.insert`, (db, tables) => {
    const entries = collection.entries(tables);
    return db.insert(entries).values(placeholders(Object.keys(getTableColumns(entries))) as never);
  });
  await statement.execute({ ...entry });
}

/** Removes one entry, without counting it. */
export async function removeEntry(tx: Transaction, collection: CollectionTables, entry: Entry): Promise<void> {
  const statement = tx.prepared(`${collection.kind}.entry.delete`, (db, tables) => {
    const entries = collection.entries(tables);
    return db.delete(entries).where(entryKey(entries));
  });
  await statement.execute({ ...entry });
}

function entryKey(entries: Tables["groupEntries"]) {
  return and(
    eq(entries.key, sql.placeholder("key")),
    eq(entries.name, sql.placeholder("name")),
    eq(entries.uid, sql.placeholder("uid")),
  );
}
