// The sort order and bounds of a range, as SQL conditions and placeholder values.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { rangeBelow } from "../../model/uid.ts";
import type { RowTable } from "../collection/collection.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import { eq, gte, isNull, lt, sql } from "../schema/drizzle.ts";
import { maxSortPrefix } from "../schema/ordered-text.ts";
import type { Tables } from "../schema/tables.ts";
import { type Cursor, type EntryField, isRowText, type Order, type SortField } from "./order.ts";

/**
 * Returns the bounds of the descendants of `uid` between two cursors: one lower and one upper bound. With several,
 * SQLite would use one of each, and might read all rows outside of the cursors.
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

/** Returns the first uids after a cursor if the order is by uid; otherwise all. `uids` are ascending. */
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

function latest(bound: string, uid: string | undefined): string {
  return uid !== undefined && uid > bound ? uid : bound;
}

function earliest(bound: string, uid: string | undefined): string {
  return uid !== undefined && uid < bound ? uid : bound;
}

/** Returns conditions for a source: a subtree, children, or the rows without parent. */
export function withinSource(rows: RowTable, { uid }: { readonly uid: PgColumn }, type: string): SQL[] {
  if (type === "subtree") return [gte(uid, sql.placeholder("from")), lt(uid, sql.placeholder("to"))];
  return [type === "roots" ? isNull(rows.parent) : eq(rows.parent, textPlaceholder("parent"))];
}

/** A sort column, or the prefix of one. */
export type SortColumn = PgColumn | SQL;

/** The sort order of a table. */
export interface Sorting {
  /** The value of the sort field. */
  readonly value: SortColumn;
  /** The sort columns, one or two. The last one is the uid or tail, which breaks ties. */
  readonly columns: readonly SortColumn[];
  /** The last column of a cursor, which breaks ties: the uid, or the tail of entries. */
  readonly breaker: "Uid" | "Tail";
}

/** Returns the sort order of rows or of a side table. Texts are cut to their sort prefix. */
export function sortingOf(table: { readonly uid: PgColumn }, field: SortField): Sorting {
  const { uid } = table;
  const columns = table as unknown as Record<string, PgColumn | undefined>;
  if (field === "uid") return { value: uid, columns: [uid], breaker: "Uid" };
  // Rows without an update time use their creation time, and rows without a name the empty name.
  const column = columns[field] ?? (field === "updateTime" ? columns.createTime : undefined);
  if (!column) return { value: sql`''`, columns: [uid], breaker: "Uid" };
  const isCut = field === "name" || isRowText(field);
  const value = isCut ? sql<string>`substr(${column}, 1, ${sql.raw(String(maxSortPrefix))})` : column;
  return { value, columns: [value, uid], breaker: "Uid" };
}

/** Returns the sort order of entries under a key. They hold the sort prefix of a name, and the tail of a uid. */
export function entrySortingOf(entries: Tables["groupEntries"], field: EntryField): Sorting {
  if (field === "uid") return { value: entryUid(entries), columns: [entries.tail], breaker: "Tail" };
  return { value: entries[field], columns: [entries[field], entries.tail], breaker: "Tail" };
}

/** Returns the uid of an entry, if all entries have the same key. */
export function entryUid({ tail }: Tables["groupEntries"]): SQL<string> {
  return sql<string>`${textPlaceholder("base")} || ${tail}`;
}

/**
 * Returns the values for `entryUid` and cursors among entries: the uid of the key, and the tails of the cursors. A
 * cursor may be a row of another source, before or after all rows of this one: every tail begins with a slash.
 */
export function cursorTails(
  base: string,
  after: Cursor | undefined,
  end: Cursor | undefined,
): Record<string, string | undefined> {
  const tailOf = (uid: string) => (uid.startsWith(base) ? uid.slice(base.length) : uid < base ? "" : "0");
  return { base, afterTail: after && tailOf(after.uid), endTail: end && tailOf(end.uid) };
}

/** Returns the condition: after the cursor `after`. */
export function afterCursor(sorting: Sorting, descending: boolean): SQL {
  return compare(sorting, sql.raw(descending ? "<" : ">"), "after");
}

/** Returns the condition: up to and including the cursor `end`. */
export function untilCursor(sorting: Sorting, descending: boolean): SQL {
  return compare(sorting, sql.raw(descending ? ">=" : "<="), "end");
}

function compare({ columns: [first, second], breaker }: Sorting, operator: SQL, cursor: "after" | "end"): SQL {
  const uid = sql.placeholder(`${cursor}${breaker}`);
  return second
    ? sql`(${first}, ${second}) ${operator} (${sql.placeholder(`${cursor}Value`)}, ${uid})`
    : sql`${first} ${operator} ${uid}`;
}
