// The entries of a row, which sort it under each of its ancestors, and the counters of entries.

import { isBelow } from "../../model/uid.ts";
import { numberPlaceholder, placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, SessionDialect, Transaction } from "../engine/session.ts";
import { and, eq, getTableColumns, sql } from "../schema/drizzle.ts";
import { keysOf, uidOfKey } from "../schema/entry-keys.ts";
import { sortPrefix } from "../schema/ordered-text.ts";
import { tailUnder } from "../schema/tables/entries.ts";
import type { Tables } from "../schema/tables.ts";
import type { CollectionTables, ResourceRow } from "./collection.ts";
import { deleteEntryRows, type EntryKey, insertEntryRows } from "./gathered-rows.ts";

/** An entry of a row under one key, with its whole uid. */
export interface Entry {
  readonly key: string;
  readonly uid: string;
  /** The sort prefix of the name. */
  readonly name: string;
  readonly createTime: number;
  readonly updateTime: number;
}

/** Returns the columns that all entries of a row share. */
export function newEntry(row: Omit<ResourceRow, "parent">): Omit<Entry, "key"> {
  const { uid, name = "", createTime, updateTime = createTime } = row;
  return { uid, name: sortPrefix(name), createTime, updateTime };
}

/** Inserts the entries of a new row, and counts it. Its uid must start with that of its parent. */
export async function addEntries(tx: Transaction, collection: CollectionTables, row: ResourceRow): Promise<void> {
  // The tail of an entry is the rest of the uid after that of its key.
  if (row.parent !== null && !isBelow(row.uid, row.parent)) throw new Error(`${row.uid} is not below ${row.parent}`);
  const keys = keysOf(row);
  const entry = newEntry(row);
  if (tx.gather) {
    const insert = (session: Session, entries: readonly object[]) => insertEntryRows(session, collection, entries);
    const entries = Object.entries(uidTails(keys, entry.uid)).map(([key, tail]) => ({ ...entry, key, tail }));
    await tx.gather.write(`${collection.kind}.entries`, entries, insert);
  } else {
    await insertEntries(tx, collection, keys, entry);
  }
  tx.counterChanges.add(keys, collection.kind, 1);
}

/** Updates the entries of a row, if the update changes them. */
export async function updateEntries(
  tx: Transaction,
  collection: CollectionTables,
  before: ResourceRow,
  after: ResourceRow,
): Promise<void> {
  const old = newEntry(before);
  const now = newEntry(after);
  const isMoved = old.createTime !== now.createTime;
  if (old.name === now.name && old.updateTime === now.updateTime && !isMoved) return;
  // Setting an indexed column writes the index, even if the value stays the same.
  const columns = ["name", "updateTime", ...(isMoved ? ["createTime"] : [])];
  const update = tx.prepared(`${collection.kind}.entries.update${isMoved ? "_all" : ""}`, (db, tables) => {
    const entries = collection.entries(tables);
    const names = columns.map((column) => `new.${column}`);
    return db.update(entries).set(placeholders(names, columns)).where(entriesOfRow(tx, entries));
  });
  const { name, updateTime, createTime } = now;
  const values = { "new.name": name, "new.updateTime": updateTime, "new.createTime": createTime };
  await update.execute({ ...entryLookupValues(keysOf(after), old), ...values });
}

/** Deletes the entries of a deleted row, and updates the counters. */
export async function removeEntries(tx: Transaction, collection: CollectionTables, row: ResourceRow): Promise<void> {
  const keys = keysOf(row);
  const entry = newEntry(row);
  if (tx.gather) {
    const remove = (session: Session, entries: readonly EntryKey[]) => deleteEntryRows(session, collection, entries);
    const { name } = entry;
    const entries = Object.entries(uidTails(keys, entry.uid)).map(([key, tail]) => ({ key, name, tail }));
    await tx.gather.write(`${collection.kind}.entries.delete`, entries, remove);
  } else {
    await deleteEntries(tx, collection, keys, entry);
  }
  tx.counterChanges.add(keys, collection.kind, -1);
}

/**
 * Inserts entries of a row under these keys, without counting them. One statement inserts them all, which saves round
 * trips.
 */
export async function insertEntries(
  tx: Transaction,
  collection: CollectionTables,
  keys: readonly string[],
  entry: Omit<Entry, "key">,
): Promise<void> {
  const statement = tx.prepared(`${collection.kind}.entries.insert`, (db, tables) => {
    const entries = collection.entries(tables);
    const values = Object.entries(getTableColumns(entries)).map(([name, { dataType }]) => {
      if (name === "key") return sql`key`;
      if (name === "tail") return sql`value`;
      return dataType === "number" ? numberPlaceholder(name) : textPlaceholder(name);
    });
    return db
      .insert(entries)
      .select(sql`select ${sql.join(values, sql`, `)} from ${tx.membersOf(textPlaceholder("tails"))}`);
  });
  await statement.execute({ tails: JSON.stringify(uidTails(keys, entry.uid)), ...entry });
}

/** Deletes entries of a row under these keys, without counting them. */
export async function deleteEntries(
  tx: Transaction,
  collection: CollectionTables,
  keys: readonly string[],
  entry: Omit<Entry, "key">,
): Promise<void> {
  const statement = tx.prepared(`${collection.kind}.entries.delete`, (db, tables) => {
    const entries = collection.entries(tables);
    return db.delete(entries).where(entriesOfRow(tx, entries));
  });
  await statement.execute(entryLookupValues(keys, entry));
}

/**
 * Returns a condition for the entries of a row under some keys. The lists of keys and tails use the index; the last
 * condition pairs them.
 */
export function entriesOfRow(session: SessionDialect, entries: Tables["groupEntries"]) {
  return and(
    session.isAmong(entries.key, textPlaceholder("keys")),
    eq(entries.name, sql.placeholder("name")),
    session.isAmong(entries.tail, textPlaceholder("tails")),
    eq(entries.tail, tailUnder(entries.key, textPlaceholder("uid"))),
  );
}

/** Returns the values for `entriesOfRow`. */
export function entryLookupValues(
  keys: readonly string[],
  { uid, name }: Pick<Entry, "uid" | "name">,
): Record<string, unknown> {
  const tails = uidTails(keys, uid);
  return { keys: JSON.stringify(Object.keys(tails)), tails: JSON.stringify(Object.values(tails)), uid, name };
}

/** Returns the tail of a uid's entry under each key. */
function uidTails(keys: readonly string[], uid: string): Record<string, string> {
  const tails: Record<string, string> = {};
  for (const key of keys) tails[key] = uid.slice(uidOfKey(key).length);
  return tails;
}
