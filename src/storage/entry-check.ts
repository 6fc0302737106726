// Compares the entries of a collection with its rows, page by page.
import { isDeepStrictEqual } from "node:util";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Soon } from "../soon.ts";
import type { CollectionTables, ResourceRow, RowTable } from "./collection.ts";
import { and, asc, count, eq, getTableColumns, gt, inArray, sql } from "./drizzle.ts";
import { type Entry, entryOf, keysOf } from "./entries.ts";
import { pagesOf } from "./pages.ts";
import { atMost } from "./placeholders.ts";
import type { Session } from "./session.ts";

const pageSize = 1000;

/** How many keys are looked up at once; deeper rows take several statements. */
const keysAtOnce = 8;

/** What a row has to do with its entries. */
type EnteredRow = Pick<ResourceRow, "uid" | "parent" | "createTime" | "name" | "updateTime">;

/** Entries that no row accounts for: of rows that are gone, under keys that are not theirs, or with other values. */
export async function* strayEntries(session: Session, collection: CollectionTables): AsyncGenerator<Entry> {
  const statement = session.prepared(`${collection.kind}.check.entries`, (db, tables) => {
    const entries = collection.entries(tables);
    const rows = collection.rows(tables);
    const after = [sql.placeholder("key"), sql.placeholder("name"), sql.placeholder("uid")];
    return db
      .select({ entry: getTableColumns(entries), row: enteredColumns(rows) })
      .from(entries)
      .leftJoin(rows, eq(rows.uid, entries.uid))
      .where(sql`(${entries.key}, ${entries.name}, ${entries.uid}) > (${sql.join(after, sql`, `)})`)
      .orderBy(asc(entries.key), asc(entries.name), asc(entries.uid))
      .limit(atMost(pageSize));
  });
  const start = { key: "", name: "", uid: "" };
  const read = ({ key, name, uid }: typeof start) => statement.execute({ key, name, uid });
  for await (const page of pagesOf(pageSize, start, read, ({ entry }) => entry)) {
    for (const { entry, row } of page) {
      if (!row || !accountsFor(row as unknown as EnteredRow, entry)) yield entry;
    }
  }
}

/** Entries that rows lack. `strays` is the number of entries that strayEntries gives. */
export async function* missingEntries(
  session: Session,
  collection: CollectionTables,
  strays: number,
): AsyncGenerator<Entry> {
  let due = 0;
  for await (const row of allRows(session, collection)) due += keysOf(row).length;
  // An entry that is no stray is one of those that are due, and none is there twice.
  if (due === (await countEntries(session, collection)) - strays) return;
  for await (const row of allRows(session, collection)) {
    const found = await presentKeys(session, collection, row);
    for (const key of keysOf(row)) if (!found.has(key)) yield { key, ...entryOf(row) };
  }
}

/** How many rows a collection has, by counting them. */
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
      .limit(atMost(pageSize));
  });
  const read = (after: string) => statement.execute({ uid: after }) as unknown as Soon<EnteredRow[]>;
  for await (const page of pagesOf(pageSize, "", read, ({ uid }) => uid)) yield* page;
}

/** The keys under which the row has the entry that it should have, as far as key, name and uid tell. */
async function presentKeys(session: Session, collection: CollectionTables, row: EnteredRow): Promise<Set<string>> {
  const names = Array.from({ length: keysAtOnce }, (_, i) => `key${i}`);
  const statement = session.prepared(`${collection.kind}.check.present`, (db, tables) => {
    const entries = collection.entries(tables);
    const keys = names.map((name) => sql.placeholder(name));
    const own = and(eq(entries.name, sql.placeholder("name")), eq(entries.uid, sql.placeholder("uid")));
    return db
      .select({ key: entries.key })
      .from(entries)
      .where(and(inArray(entries.key, keys), own));
  });
  const keys = keysOf(row);
  const found = new Set<string>();
  for (let start = 0; start < keys.length; start += keysAtOnce) {
    const values = names.map((name, i) => [name, keys[start + i] ?? ""]);
    for (const { key } of await statement.execute({ ...Object.fromEntries(values), ...entryOf(row) })) found.add(key);
  }
  return found;
}

function accountsFor(row: EnteredRow, { key, ...values }: Entry): boolean {
  return keysOf(row).includes(key) && isDeepStrictEqual(entryOf(row), values);
}

function enteredColumns(rows: RowTable): Record<string, PgColumn> {
  const wanted = ["uid", "parent", "createTime", "name", "updateTime"];
  return Object.fromEntries(Object.entries(getTableColumns(rows)).filter(([name]) => wanted.includes(name)));
}
