// Compares the entries of a collection with its rows, page by page.
import { isDeepStrictEqual } from "node:util";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { CollectionTables, ResourceRow, RowTable } from "../collection/collection.ts";
import { type Entry, entriesOfRow, entryLookupValues, newEntry } from "../collection/entries.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { asc, count, eq, getTableColumns, gt, sql } from "../schema/drizzle.ts";
import { keysOf } from "../schema/entry-keys.ts";
import { uidOf } from "../schema/tables/entries.ts";

const pageSize = 1000;

/** The columns of a row that its entries depend on. */
type EnteredRow = Pick<ResourceRow, "uid" | "parent" | "createTime" | "name" | "updateTime">;

/** Yields entries that belong to no row: the row is missing, or the key or values differ. */
export async function* strayEntries(session: Session, collection: CollectionTables): AsyncGenerator<Entry> {
  const statement = session.prepared(`${collection.kind}.check.entries`, (db, tables) => {
    const entries = collection.entries(tables);
    const rows = collection.rows(tables);
    const after = [sql.placeholder("key"), sql.placeholder("name"), sql.placeholder("tail")];
    return db
      .select({ entry: { ...getTableColumns(entries), uid: uidOf(entries) }, row: enteredColumns(rows) })
      .from(entries)
      .leftJoin(rows, eq(rows.uid, uidOf(entries)))
      .where(sql`(${entries.key}, ${entries.name}, ${entries.tail}) > (${sql.join(after, sql`, `)})`)
      .orderBy(asc(entries.key), asc(entries.name), asc(entries.tail))
      .limit(limitOf(pageSize));
  });
  const start = { key: "", name: "", tail: "" };
  const read = ({ key, name, tail }: typeof start) => statement.execute({ key, name, tail });
  for await (const page of scanTable(pageSize, start, read, ({ entry }) => entry)) {
    for (const { entry, row } of page) {
      const { key, uid, name, createTime, updateTime } = entry;
      const found = { key, uid, name, createTime, updateTime };
      if (!row || !accountsFor(row as unknown as EnteredRow, found)) yield found;
    }
  }
}

/** Yields missing entries. `strays` is the number of entries that strayEntries yielded. */
export async function* missingEntries(
  session: Session,
  collection: CollectionTables,
  strays: number,
): AsyncGenerator<Entry> {
  let due = 0;
  for await (const row of allRows(session, collection)) due += keysOf(row).length;
  // Every other entry is expected, and none exists twice.
  if (due === (await countEntries(session, collection)) - strays) return;
  for await (const row of allRows(session, collection)) {
    const found = await presentKeys(session, collection, row);
    for (const key of keysOf(row)) if (!found.has(key)) yield { key, ...newEntry(row) };
  }
}

/** Counts the rows of a collection. */
export async function countAllRows(session: Session, collection: CollectionTables): Promise<number> {
  const statement = session.prepared(`${collection.kind}.check.count_rows`, (db, tables) =>
    db.select({ count: count() }).from(collection.rows(tables)),
  );
  return Number((await statement.execute())[0]?.count);
}

async function countEntries(session: Session, collection: CollectionTables): Promise<number> {
  const statement = session.prepared(`${collection.kind}.check.count_entries`, (db, tables) =>
    db.select({ count: count() }).from(collection.entries(tables)),
  );
  return Number((await statement.execute())[0]?.count);
}

async function* allRows(session: Session, collection: CollectionTables): AsyncGenerator<EnteredRow> {
  const statement = session.prepared(`${collection.kind}.check.rows`, (db, tables) => {
    const rows = collection.rows(tables);
    const select = db.select(enteredColumns(rows)).from(rows);
    return select
      .where(gt(rows.uid, sql.placeholder("uid")))
      .orderBy(asc(rows.uid))
      .limit(limitOf(pageSize));
  });
  const read = (after: string) => statement.execute({ uid: after }) as unknown as MaybePromise<EnteredRow[]>;
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) yield* page;
}

/** Returns the keys under which the row has its entry, as far as key, name and uid tell. */
async function presentKeys(session: Session, collection: CollectionTables, row: EnteredRow): Promise<Set<string>> {
  const statement = session.prepared(`${collection.kind}.check.present`, (db, tables) => {
    const entries = collection.entries(tables);
    return db.select({ key: entries.key }).from(entries).where(entriesOfRow(session, entries));
  });
  const found = await statement.execute(entryLookupValues(keysOf(row), newEntry(row)));
  return new Set(found.map(({ key }) => key));
}

function accountsFor(row: EnteredRow, { key, ...values }: Entry): boolean {
  return keysOf(row).includes(key) && isDeepStrictEqual(newEntry(row), values);
}

function enteredColumns(rows: RowTable): Record<string, PgColumn> {
  const wanted = ["uid", "parent", "createTime", "name", "updateTime"];
  return Object.fromEntries(Object.entries(getTableColumns(rows)).filter(([name]) => wanted.includes(name)));
}
