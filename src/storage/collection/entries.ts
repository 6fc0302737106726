// The entries of a row, which put it in order under each of its ancestors, and the counters over them.

import { isBelow } from "../../model/uid.ts";
import { numberPlaceholder, placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { SessionDialect, Transaction } from "../engine/session.ts";
import { and, eq, getTableColumns, sql } from "../schema/drizzle.ts";
import { keysOf, uidOfKey } from "../schema/entry-keys.ts";
import { sortPrefix } from "../schema/ordered-text.ts";
import { tailUnder } from "../schema/tables/entries.ts";
import type { Tables } from "../schema/tables.ts";
import type { CollectionTables, ResourceRow } from "./collection.ts";

/** A row under one of its keys, with its whole uid. */
export interface Entry {
  readonly key: string;
  readonly uid: string;
  /** As much of the name as counts in an order. */
  readonly name: string;
  readonly createTime: number;
  readonly updateTime: number;
}

/** What every entry of a row holds besides its key. */
export function newEntry(row: Omit<ResourceRow, "parent">): Omit<Entry, "key"> {
  const { uid, name = "", createTime, updateTime = createTime } = row;
  return { uid, name: sortPrefix(name), createTime, updateTime };
}

/** Enters a new row, whose uid must begin with that of its parent, and counts it. */
export async function addEntries(tx: Transaction, collection: CollectionTables, row: ResourceRow): Promise<void> {
  // What entries have of a uid begins behind that of their key.
  if (row.parent !== null && !isBelow(row.uid, row.parent)) throw new Error(`${row.uid} is not below ${row.parent}`);
  const keys = keysOf(row);
  await insertEntries(tx, collection, keys, newEntry(row));
  tx.counterChanges.add(keys, collection.kind, 1);
}

/** Brings the entries of a row up to date, if the update concerns them. */
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
  // An index whose column is set is written, also when the value stays.
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

/** Takes away the entries of a row that is gone, and counts it no more. */
export async function removeEntries(tx: Transaction, collection: CollectionTables, row: ResourceRow): Promise<void> {
  const keys = keysOf(row);
  await deleteEntries(tx, collection, keys, newEntry(row));
  tx.counterChanges.add(keys, collection.kind, -1);
}

/** Adds a row's entries under these keys, without counting them. One statement for all: each would be a round trip. */
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

/** Removes a row's entries under these keys, without counting them. */
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

/** The entries of a row under some keys. Lists of keys and of tails lead to them, which do not tell what belongs to what. */
export function entriesOfRow(session: SessionDialect, entries: Tables["groupEntries"]) {
  return and(
    session.isAmong(entries.key, textPlaceholder("keys")),
    eq(entries.name, sql.placeholder("name")),
    session.isAmong(entries.tail, textPlaceholder("tails")),
    eq(entries.tail, tailUnder(entries.key, textPlaceholder("uid"))),
  );
}

/** The values of `entriesOfRow`. */
export function entryLookupValues(
  keys: readonly string[],
  { uid, name }: Pick<Entry, "uid" | "name">,
): Record<string, unknown> {
  const tails = uidTails(keys, uid);
  return { keys: JSON.stringify(Object.keys(tails)), tails: JSON.stringify(Object.values(tails)), uid, name };
}

/** What entries of a uid have under each of these keys. */
function uidTails(keys: readonly string[], uid: string): Record<string, string> {
  const tails: Record<string, string> = {};
  for (const key of keys) tails[key] = uid.slice(uidOfKey(key).length);
  return tails;
}
