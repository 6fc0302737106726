// One range of one resource in one order: any part of a list except a single row.

import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { rootOf } from "../../model/uid.ts";
import type { Collection, ResourceRow, RowTable } from "../collection/collection.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Prepared, Session } from "../engine/session.ts";
import { and, asc, count, desc, eq, getTableColumns, inArray, isNotNull, sql } from "../schema/drizzle.ts";
import { isWholeInOrder } from "../schema/ordered-text.ts";
import { organizationOf } from "../schema/organization.ts";
import type { Tables } from "../schema/tables.ts";
import type { Condition, SideIndex } from "./condition.ts";
import { type Cursor, type EntryField, isPublished, isRowText, type Order } from "./order.ts";
import {
  afterCursor,
  cursorTails,
  entrySortingOf,
  entryUid,
  firstUidsAfter,
  sortingOf,
  uidBounds,
  untilCursor,
  withinSource,
} from "./range-bounds.ts";
import { entryKeyOf, type RangeSource } from "./source.ts";

/** Columns and their required values. */
export type Filters = Readonly<Record<string, string | number>>;

/** Rows that a search found. */
export interface FoundRows {
  readonly name: "found";
  /** In ascending order. */
  readonly uids: readonly string[];
}

/** The rest of a range after a cursor. */
export interface Range {
  readonly source: RangeSource;
  readonly filters: Filters;
  readonly condition?: Condition | undefined;
  /** The index, or the rows already found; without it, rows are tested in list order. */
  readonly index?: SideIndex | FoundRows | undefined;
  readonly order: Order;
  readonly after: Cursor | undefined;
}

/** Returns the first rows, `limit` at most. */
export async function readRange<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
  limit: number,
): Promise<R[]> {
  const statement = session.prepared(statementKey(collection, "page", range), (db, tables) => {
    const { rows, from, uid, conditions, sorting, direction } = buildRangeQuery(session, collection, tables, range);
    const order = sorting.columns.map((column) => direction(column));
    const select = db.select(getTableColumns(rows)).from(from);
    const joined = from === rows ? select : select.innerJoin(rows, eq(rows.uid, uid));
    const where = and(...conditions);
    if (!isPublished(range.order.field))
      return joined
        .where(where)
        .orderBy(...order)
        .limit(limitOf("limit"));
    // The index has what is tested and sorted: only the rows of the page are read.
    const first = db.select({ uid }).from(from);
    const found = from === rows ? first : first.innerJoin(rows, eq(rows.uid, uid));
    const page = found
      .where(where)
      .orderBy(...order)
      .limit(limitOf("limit"))
      .as("found");
    return db
      .select(getTableColumns(rows))
      .from(page)
      .innerJoin(rows, eq(rows.uid, page.uid))
      .orderBy(...order);
  });
  return await (statement as unknown as Prepared<R[]>).execute({ ...valuesOf(range, undefined, limit), limit });
}

/**
 * Returns the cursor of the row at `offset`, or undefined if there are fewer rows. Without a condition it reads an
 * index and no rows.
 */
export async function cursorAtOffset<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
  offset: number,
): Promise<Cursor | undefined> {
  const statement = session.prepared(statementKey(collection, "place", range), (db, tables) => {
    const { rows, from, uid, isJoined, conditions, sorting, direction } = buildRangeQuery(
      session,
      collection,
      tables,
      range,
    );
    const select = db.select({ value: sorting.value, uid }).from(from);
    const joined = isJoined ? select.innerJoin(rows, eq(rows.uid, uid)) : select;
    return joined
      .where(and(...conditions))
      .orderBy(...sorting.columns.map((column) => direction(column)))
      .limit(limitOf(1))
      .offset(sql.placeholder("offset"));
  });
  const cursors = await (statement as unknown as Prepared<Cursor[]>).execute({ ...valuesOf(range), offset });
  return cursors[0];
}

/** Returns the number of rows up to and including a cursor; all rows for undefined. */
export async function countUntil<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
  end: Cursor | undefined,
): Promise<number> {
  const key = statementKey(collection, end ? "ahead" : "rest", range);
  const statement = session.prepared(key, (db, tables) => {
    const { rows, from, uid, isJoined, conditions, sorting } = buildRangeQuery(session, collection, tables, range);
    const select = db.select({ count: count() }).from(from);
    const joined = isJoined ? select.innerJoin(rows, eq(rows.uid, uid)) : select;
    return joined.where(and(...conditions, ...(end ? [untilCursor(sorting, range.order.descending)] : [])));
  });
  const values = { ...valuesOf(range, end), endValue: end?.value, endUid: end?.uid };
  return Number((await statement.execute(values))[0]?.count);
}

/** Counts the rows of a source that match filters. */
export async function countRange<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  { filters, condition, index }: Pick<Range, "filters" | "condition" | "index">,
): Promise<number> {
  // Any order of entries will do. If they have all filter columns, they are narrower than the rows.
  const field = condition ? "uid" : "name";
  const range: Range = { source, filters, condition, index, order: { field, descending: false }, after: undefined };
  const statement = session.prepared(statementKey(collection, "count", range), (db, tables) => {
    const { rows, from, uid, isJoined, conditions } = buildRangeQuery(session, collection, tables, range);
    const select = db.select({ count: count() }).from(from);
    const joined = isJoined ? select.innerJoin(rows, eq(rows.uid, uid)) : select;
    return joined.where(and(...conditions));
  });
  return Number((await statement.execute(valuesOf(range)))[0]?.count);
}

/** Returns the parts that the statements over ranges of this shape share. */
export function buildRangeQuery<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  tables: Tables,
  range: Range,
) {
  const { source, filters, condition, index, order, after } = range;
  const rows = collection.rows(tables);
  const entries = collection.entries(tables);
  const columns = filterColumns(filters);
  // Reading starts at the entries, which are sorted, or at an index table with the matching rows, or at the rows themselves.
  const lead = index && "table" in index && index.isDistinct ? index.table(tables) : rows;
  const isFound = lead !== rows;
  const byKey = readsEntries(range);
  const from: RangeTable = byKey ? entries : lead;
  const uid = byKey ? entryUid(entries) : lead.uid;
  const sorting = byKey
    ? entrySortingOf(entries, range.order.field)
    : sortingOf(order.field === "uid" ? lead : rows, order.field);
  const within = byKey ? [eq(entries.key, textPlaceholder("key"))] : withinSource(rows, lead, typeOf(source));
  const conditions: (SQL | undefined)[] = [...within, ...equal(byKey ? entries : rows, columns)];
  if (isPublished(order.field)) conditions.push(isNotNull(sorting.value));
  if (!index && source.type === "subtree" && (isPublished(order.field) || condition?.isPublished))
    // Not a cast placeholder: SQLite would not use the index of an expression for it.
    conditions.push(eq(organizationOf(rows.uid), sql.placeholder("organization")));
  if (after) conditions.push(afterCursor(sorting, order.descending));
  if (condition && !(index && condition.indexIsExact)) conditions.push(condition.build(session));
  if (index)
    conditions.push(isFound ? (index as SideIndex).where(session) : isAmong(rows, session, tables, index, source));
  // The columns of the first table suffice.
  const isJoined = from !== rows && (condition !== undefined || isFound);
  return { rows, from, uid, isJoined, conditions, sorting, direction: order.descending ? desc : asc };
}

/** Returns a condition for rows that were found, or that an index finds, possibly several times. */
function isAmong(
  rows: RowTable,
  session: Session,
  tables: Tables,
  index: SideIndex | FoundRows,
  source: RangeSource,
): SQL {
  if ("uids" in index) return session.isAmong(rows.uid, textPlaceholder("found"));
  const side = index.table(tables);
  // Rows outside of the subtree are not read.
  const isBelow = source.type === "subtree" ? withinSource(rows, side, source.type) : [];
  return inArray(rows.uid, sql`(select ${side.uid} from ${side} where ${and(index.where(session), ...isBelow)})`);
}

type RangeTable = RowTable | Tables["groupEntries"] | ReturnType<SideIndex["table"]>;

/** Returns the statement key of a range: everything about it except placeholders. */
export function statementKey(collection: { kind: string }, purpose: string, range: Range): string {
  const { source, filters, condition, index, order, after } = range;
  const direction = order.descending ? "desc" : "asc";
  const shape = [
    typeOf(source),
    order.field,
    direction,
    after ? "after" : "first",
    filterColumns(filters),
    readsEntries(range) ? "entries" : "rows",
    index && condition?.indexIsExact ? "" : condition?.name,
    index?.name,
  ];
  return [collection.kind, purpose, ...shape].join(".");
}

export function valuesOf(range: Range, end?: Cursor, limit?: number): Record<string, unknown> {
  const { source, filters, condition, index, order, after } = range;
  const bounds = source.type === "subtree" ? uidBounds(source.uid, order, after, end) : { parent: source.uid };
  const cursor = { afterValue: after?.value, afterUid: after?.uid, ...cursorTails(source.uid ?? "", after, end) };
  // Prefixed: a filter by parent must not replace the parent of the source.
  const wanted = Object.entries(filters).map(([column, value]) => [`filter.${column}`, value]);
  return {
    key: entryKeyOf(source),
    organization: rootOf(source.uid ?? ""),
    ...bounds,
    ...cursor,
    ...condition?.values,
    ...(index && ("uids" in index ? { found: JSON.stringify(foundIn(index, range, limit)) } : index.values)),
    ...Object.fromEntries(wanted),
  };
}

/** Returns the found rows that can be among the first of a range. */
function foundIn({ uids }: FoundRows, { filters, condition, order, after }: Range, limit?: number): readonly string[] {
  const isFiltered = !condition?.indexIsExact || Object.keys(filters).length > 0;
  return isFiltered || limit === undefined ? uids : firstUidsAfter(uids, order, after, limit);
}

/**
 * Returns whether to read entries: for every order but that of uids, in which the rows are stored, and for a filter by
 * name.
 */
function readsEntries(range: Range): range is Range & { readonly order: { readonly field: EntryField } } {
  const { index, order, filters } = range;
  if (index || isRowText(order.field) || isPublished(order.field)) return false;
  const columns = Object.keys(filters);
  // Entries hold only the prefix of a long name, so names with the same prefix are compared in the rows.
  const isTold = isWholeInOrder(String(filters.name ?? ""));
  return isTold && columns.every((column) => column === "name") && (order.field !== "uid" || columns.length > 0);
}

function typeOf(source: RangeSource): string {
  return source.type === "children" && source.uid === null ? "roots" : source.type;
}

function equal(table: object, columns: readonly string[]): SQL[] {
  return columns.map((name) => {
    const column = (table as Record<string, PgColumn>)[name]!;
    const value = `filter.${name}`;
    return eq(column, column.dataType === "string" ? textPlaceholder(value) : sql.placeholder(value));
  });
}

function filterColumns(filters: Filters): string[] {
  return Object.keys(filters).sort();
}
