// The entries of a row, which put it in order under each of its ancestors, and the counters over them.
import { and, eq, sql } from "drizzle-orm";
import { ancestorsOf } from "../uid.ts";
import type { Collection, ResourceRow } from "./collection.ts";
import { addToCounter } from "./counters.ts";
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

/** What every entry of a row holds besides its key. */
export function entryOf(row: ResourceRow) {
  const { uid, name = "", createTime, updateTime = createTime } = row;
  return { uid, name, createTime, updateTime };
}

/** Enters a new row and counts it. */
export async function addEntries<R extends ResourceRow>(tx: Transaction, collection: Collection<R>, row: R): Promise<void> {
  const insert = tx.prepared(`${collection.kind}.entry.insert`, (db, tables) =>
    db.insert(collection.entries(tables)).values(placeholders(["key", "uid", "name", "createTime", "updateTime"]) as never),
  );
  for (const key of keysOf(row)) {
    await insert.execute({ key, ...entryOf(row) });
    await addToCounter(tx, key, collection.kind, 1);
  }
}

/** Brings the entries of a row up to date, if the update concerns them. */
export async function updateEntries<R extends ResourceRow>(tx: Transaction, collection: Collection<R>, before: R, after: R): Promise<void> {
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

/** Takes the entries of a row away that is gone, and counts it no more. */
export async function removeEntries<R extends ResourceRow>(tx: Transaction, collection: Collection<R>, row: R): Promise<void> {
  const remove = tx.prepared(`${collection.kind}.entry.delete`, (db, tables) => {
    const entries = collection.entries(tables);
    return db.delete(entries).where(entryKey(entries));
  });
  for (const key of keysOf(row)) {
    await remove.execute({ key, ...entryOf(row) });
    await addToCounter(tx, key, collection.kind, -1);
  }
}

function entryKey(entries: Tables["groupEntries"]) {
  return and(
    eq(entries.key, sql.placeholder("key")),
    eq(entries.name, sql.placeholder("name")),
    eq(entries.uid, sql.placeholder("uid")),
  );
}
