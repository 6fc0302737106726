// What a range is sorted by, where it begins and where it ends, as conditions of SQL and as the values of their placeholders.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { rangeBelow } from "../../model/uid.ts";
import type { RowTable } from "../collection/collection.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import { eq, gte, isNull, lt, sql } from "../schema/drizzle.ts";
import { maxSortPrefix } from "../schema/ordered-text.ts";
import type { Tables } from "../schema/tables.ts";
import type { Cursor, EntryField, Order, SortField } from "./order.ts";

/**
 * The bounds of the uids below `uid` that are left between two places: one lower and one upper bound. Of several SQLite would
 * use one each, and if it took those of the subtree, it would read all that lies before and behind the places.
 */
export function uidBounds(
  uid: string,
  { field, descending }: Order,
  after: Cursor | undefined,
  end: Cursor | undefined,
) {
  const { from, to } = rangeBelow(uid);
  if (field !== "uid") return { from, to };
  const [low, high] = descending ? [end, after] : [after, end];
  return {
    from: latest(from, low?.uid),
    to: earliest(to, high && (descending ? high.uid : rangeBelow(high.uid).from)),
  };
}

/** Of uids in ascending order the first behind a place, where that is the order; all of them in any other. */
export function firstUidsAfter(
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
export function withinSource(rows: RowTable, { uid }: { readonly uid: PgColumn }, type: string): SQL[] {
  if (type === "subtree") return [gte(uid, sql.placeholder("from")), lt(uid, sql.placeholder("to"))];
  return [type === "roots" ? isNull(rows.parent) : eq(rows.parent, textPlaceholder("parent"))];
}

/** What rows are sorted by: a column, or as much of one as counts in an order. */
export type SortColumn = PgColumn | SQL;

/** How a table is sorted. */
export interface Sorting {
  /** What the sort field has. */
  readonly value: SortColumn;
  /** The columns of the order, one or two. The last one stands for the uid, which breaks ties. */
  readonly columns: readonly SortColumn[];
  /** What the last column is compared with in a place: the uid, or what entries have of it. */
  readonly breaker: "Uid" | "Tail";
}

/** How rows are sorted, of which a text is cut to what counts in an order, or what leads to them. */
export function sortingOf(table: { readonly uid: PgColumn }, field: SortField): Sorting {
  const { uid } = table;
  const columns = table as unknown as Record<string, PgColumn | undefined>;
  if (field === "uid") return { value: uid, columns: [uid], breaker: "Uid" };
  // Rows without an update time were last changed when they were made; those without a name all have the empty one.
  const column = columns[field] ?? (field === "updateTime" ? columns.createTime : undefined);
  if (!column) return { value: sql`''`, columns: [uid], breaker: "Uid" };
  const isCut = field === "name" || field === "aliasText";
  const value = isCut ? sql<string>`substr(${column}, 1, ${sql.raw(String(maxSortPrefix))})` : column;
  return { value, columns: [value, uid], breaker: "Uid" };
}

/** How entries are sorted under a key; they have no more of a name than counts, and of the uid what is not that of the source. */
export function entrySortingOf(entries: Tables["groupEntries"], field: EntryField): Sorting {
  if (field === "uid") return { value: entryUid(entries), columns: [entries.tail], breaker: "Tail" };
  return { value: entries[field], columns: [entries[field], entries.tail], breaker: "Tail" };
}

/** The uid of the row of an entry, where all are of one source. */
export function entryUid({ tail }: Tables["groupEntries"]): SQL<string> {
  return sql<string>`${textPlaceholder("base")} || ${tail}`;
}

/**
 * What `entryUid` and a place in the order of entries need: the uid that their keys are of, and what a uid has as its tail there. A
 * place may be that of a row of another source, before all rows of this one or behind them: every tail begins with a slash.
 */
export function cursorTails(
  base: string,
  after: Cursor | undefined,
  end: Cursor | undefined,
): Record<string, string | undefined> {
  const tailOf = (uid: string) => (uid.startsWith(base) ? uid.slice(base.length) : uid < base ? "" : "0");
  return { base, afterTail: after && tailOf(after.uid), endTail: end && tailOf(end.uid) };
}

/** Behind the place `after`. */
export function afterCursor(sorting: Sorting, descending: boolean): SQL {
  return compare(sorting, sql.raw(descending ? "<" : ">"), "after");
}

/** Up to the place `end`, that place included. */
export function untilCursor(sorting: Sorting, descending: boolean): SQL {
  return compare(sorting, sql.raw(descending ? ">=" : "<="), "end");
}

function compare({ columns: [first, second], breaker }: Sorting, operator: SQL, place: "after" | "end"): SQL {
  const uid = sql.placeholder(`${place}${breaker}`);
  return second
    ? sql`(${first}, ${second}) ${operator} (${sql.placeholder(`${place}Value`)}, ${uid})`
    : sql`${first} ${operator} ${uid}`;
}
