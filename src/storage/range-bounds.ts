// What a range is sorted by, where it begins and where it ends, as conditions of SQL and as the values of their placeholders.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { rangeBelow } from "../uid.ts";
import type { RowTable } from "./collection.ts";
import { eq, gte, isNull, lt, sql } from "./drizzle.ts";
import { type Cursor, type Order, orderedLength, type SortField } from "./row-order.ts";

/**
 * The bounds of the uids below `uid` that are left between two places: one lower and one upper bound. Of several SQLite would
 * use one each, and if it took those of the subtree, it would read all that lies before and behind the places.
 */
export function uidsOf(uid: string, { field, descending }: Order, after: Cursor | undefined, end: Cursor | undefined) {
  const { from, to } = rangeBelow(uid);
  if (field !== "uid") return { from, to };
  const [low, high] = descending ? [end, after] : [after, end];
  return {
    from: latest(from, low?.uid),
    to: earliest(to, high && (descending ? high.uid : rangeBelow(high.uid).from)),
  };
}

/** Of uids in ascending order the first behind a place, where that is the order; all of them in any other. */
export function firstUids(
  uids: readonly string[],
  { field, descending }: Order,
  after: Cursor | undefined,
  limit: number,
): readonly string[] {
  if (field !== "uid") return uids;
  const left = after ? uids.filter((uid) => (descending ? uid < after.uid : uid > after.uid)) : uids;
  return descending ? left.slice(-limit) : left.slice(0, limit);
}

function latest(bound: string, place: string | undefined): string {
  return place !== undefined && place > bound ? place : bound;
}

function earliest(bound: string, place: string | undefined): string {
  return place !== undefined && place < bound ? place : bound;
}

/** In the place of a source: its subtree, its children, or the rows without parent. */
export function placeOf(rows: RowTable, { uid }: { readonly uid: PgColumn }, type: string): SQL[] {
  if (type === "subtree") return [gte(uid, sql.placeholder("from")), lt(uid, sql.placeholder("to"))];
  return [type === "roots" ? isNull(rows.parent) : eq(rows.parent, sql.placeholder("parent"))];
}

/** What rows are sorted by: a column, or as much of one as counts in an order. */
export type SortColumn = PgColumn | SQL;

/** What a table is sorted by. Entries have no more of a text than counts; of rows it is cut. */
export function sortOf(
  table: { readonly uid: PgColumn },
  field: SortField,
  isEntry: boolean,
): { sortValue: SortColumn; sortColumns: SortColumn[] } {
  const columns = table as unknown as Record<string, PgColumn | undefined>;
  if (field === "uid") return { sortValue: table.uid, sortColumns: [table.uid] };
  // Rows without an update time were last changed when they were made; those without a name all have the empty one.
  const column = columns[field] ?? (field === "updateTime" ? columns.createTime : undefined);
  if (!column) return { sortValue: sql`''`, sortColumns: [table.uid] };
  const isCut = !isEntry && (field === "name" || field === "aliasText");
  const sortValue = isCut ? sql<string>`substr(${column}, 1, ${sql.raw(String(orderedLength))})` : column;
  return { sortValue, sortColumns: [sortValue, table.uid] };
}

/** Behind the place `after`, in the order of one column or of two. */
export function behind([first, second]: readonly SortColumn[], descending: boolean): SQL {
  const operator = sql.raw(descending ? "<" : ">");
  return second
    ? sql`(${first}, ${second}) ${operator} (${sql.placeholder("afterValue")}, ${sql.placeholder("afterUid")})`
    : sql`${first} ${operator} ${sql.placeholder("afterUid")}`;
}

/** Up to the place `end`, that place included. */
export function upTo([first, second]: readonly SortColumn[], descending: boolean): SQL {
  const operator = sql.raw(descending ? ">=" : "<=");
  return second
    ? sql`(${first}, ${second}) ${operator} (${sql.placeholder("endValue")}, ${sql.placeholder("endUid")})`
    : sql`${first} ${operator} ${sql.placeholder("endUid")}`;
}
