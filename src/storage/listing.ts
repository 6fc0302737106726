// Pages of one resource: in any sortable order, over any subtree, at a cost that does not grow with the table.
import { and, asc, count, desc, eq, getTableColumns, gte, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { rangeBelow } from "../uid.ts";
import { type Collection, findRow, type ResourceRow, type RowTable } from "./collection.ts";
import { readCounter } from "./counters.ts";
import { childrenKey } from "./entries.ts";
import type { Prepared, Session } from "./session.ts";

/** A set of rows that can be read in order. The sources of one listing have no row in common. */
export type Source =
  /** Everything strictly below a uid. */
  | { readonly type: "subtree"; readonly uid: string }
  /** The direct children of a uid; for null the rows without parent. */
  | { readonly type: "children"; readonly uid: string | null }
  /** One row. */
  | { readonly type: "row"; readonly uid: string };

type RangeSource = Exclude<Source, { type: "row" }>;

/** The fields that every listing can be sorted by, as columns of the entries. */
export type SortField = "uid" | "name" | "createTime" | "updateTime";

export interface Order {
  readonly field: SortField;
  readonly descending: boolean;
}

/** Where a page starts: behind this row. */
export interface Cursor {
  readonly value: string | number;
  readonly uid: string;
}

export interface ListQuery {
  readonly sources: readonly Source[];
  /** Columns and the values that they must have. */
  readonly filters: Readonly<Record<string, string | number>>;
  readonly order: Order;
  readonly after: Cursor | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** One page. Ties of the sort field are broken by uid, in the same direction. */
export async function listRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: ListQuery,
): Promise<R[]> {
  const { sources, skip, limit } = query;
  const [only] = sources;
  if (sources.length === 1 && only && only.type !== "row")
    return await readRange(session, collection, query, only, skip, limit);
  const found: R[] = [];
  for (const source of sources) {
    if (source.type === "row") found.push(...(await readPoint(session, collection, query, source.uid)));
    else found.push(...(await readRange(session, collection, query, source, 0, skip + limit)));
  }
  const compare = rowOrder(query.order);
  return found.sort(compare).slice(skip, skip + limit);
}

/** How many rows the sources have under the filters. Without filters it counts nothing: see counters.ts. */
export async function countRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  { sources, filters }: Pick<ListQuery, "sources" | "filters">,
): Promise<number> {
  let total = 0;
  for (const source of sources) {
    if (source.type === "row") {
      const row = await findRow(session, collection, source.uid);
      if (row && passes(row, filters)) total++;
    } else if (Object.keys(filters).length === 0) {
      total += await readCounter(session, keyOf(source), collection.kind);
    } else {
      total += await countRange(session, collection, source, filters);
    }
  }
  return total;
}

/** The value that a cursor behind this row carries. */
export function cursorOf(row: ResourceRow, field: SortField): Cursor {
  return { value: sortValue(row, field), uid: row.uid };
}

async function readPoint<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: ListQuery,
  uid: string,
): Promise<R[]> {
  const row = await findRow(session, collection, uid);
  if (!row || !passes(row, query.filters)) return [];
  const { after, order } = query;
  if (after && compareKeys(cursorOf(row, order.field), after) * (order.descending ? -1 : 1) <= 0) return [];
  return [row];
}

async function readRange<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: ListQuery,
  source: RangeSource,
  offset: number,
  limit: number,
): Promise<R[]> {
  const { filters, order, after } = query;
  const columns = Object.keys(filters).sort();
  const type = sourceType(source);
  const key = `${collection.kind}.page.${type}.${order.field}.${order.descending ? "desc" : "asc"}.${after ? "after" : "first"}.${columns}`;
  const statement = session.prepared(key, (db, tables) => {
    const rows = collection.rows(tables);
    const entries = collection.entries(tables);
    const byEntry = readsEntries(order, columns);
    const sortColumns = sortColumnsOf(byEntry ? entries : rows, order.field);
    const conditions = byEntry
      ? [eq(entries.key, sql.placeholder("key")), ...equal(entries, columns)]
      : [...placeOf(rows, type), ...equal(rows, columns)];
    if (after) conditions.push(behind(sortColumns, order.descending));
    const direction = order.descending ? desc : asc;
    const select = db.select(getTableColumns(rows)).from(byEntry ? entries : rows);
    const joined = byEntry ? select.innerJoin(rows, eq(rows.uid, entries.uid)) : select;
    return joined
      .where(and(...conditions))
      .orderBy(...sortColumns.map((column) => direction(column)))
      .limit(sql.placeholder("limit"))
      .offset(sql.placeholder("offset"));
  });
  const cursor = { afterValue: after?.value, afterUid: after?.uid };
  const values = { ...placeValues(source), ...filterValues(filters), ...cursor, limit, offset };
  return await (statement as unknown as Prepared<R[]>).execute(values);
}

async function countRange<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  filters: ListQuery["filters"],
): Promise<number> {
  const columns = Object.keys(filters).sort();
  const type = sourceType(source);
  const statement = session.prepared(`${collection.kind}.count.${type}.${columns}`, (db, tables) => {
    const rows = collection.rows(tables);
    const entries = collection.entries(tables);
    const byEntry = columns.every((column) => column === "name");
    const conditions = byEntry
      ? [eq(entries.key, sql.placeholder("key")), ...equal(entries, columns)]
      : [...placeOf(rows, type), ...equal(rows, columns)];
    return db
      .select({ count: count() })
      .from(byEntry ? entries : rows)
      .where(and(...conditions));
  });
  const rows = await statement.execute({ ...placeValues(source), ...filterValues(filters) });
  return Number(rows[0]?.count ?? 0);
}

/** Rows lie in the order of their uids already; every other order, and the filter by name, is that of the entries. */
function readsEntries(order: Order, filters: readonly string[]): boolean {
  return filters.every((column) => column === "name") && (order.field !== "uid" || filters.length > 0);
}

function sortColumnsOf(table: { uid: PgColumn }, field: SortField): PgColumn[] {
  const columns = table as unknown as Record<string, PgColumn | undefined>;
  // Rows without an update time were last changed when they were made; those without a name all have the empty one.
  const column = columns[field] ?? (field === "updateTime" ? columns.createTime : undefined);
  return field === "uid" || !column ? [table.uid] : [column, table.uid];
}

function behind(columns: readonly PgColumn[], descending: boolean): SQL {
  const operator = sql.raw(descending ? "<" : ">");
  const [first, second] = columns;
  return second
    ? sql`(${first}, ${second}) ${operator} (${sql.placeholder("afterValue")}, ${sql.placeholder("afterUid")})`
    : sql`${first} ${operator} ${sql.placeholder("afterUid")}`;
}

function placeOf(rows: RowTable, type: string): SQL[] {
  if (type === "subtree") return [gte(rows.uid, sql.placeholder("from")), lt(rows.uid, sql.placeholder("to"))];
  return [type === "roots" ? isNull(rows.parent) : eq(rows.parent, sql.placeholder("parent"))];
}

function placeValues(source: RangeSource): Record<string, unknown> {
  const place = source.type === "subtree" ? rangeBelow(source.uid) : { parent: source.uid };
  return { key: keyOf(source), ...place };
}

function sourceType(source: RangeSource): string {
  return source.type === "children" && source.uid === null ? "roots" : source.type;
}

function keyOf(source: RangeSource): string {
  return source.type === "subtree" ? source.uid : childrenKey(source.uid);
}

function equal(table: object, columns: readonly string[]): SQL[] {
  return columns.map((column) => eq((table as Record<string, PgColumn>)[column]!, sql.placeholder(`filter.${column}`)));
}

/** Under names of their own: a filter by parent must not replace the parent that the source has. */
function filterValues(filters: ListQuery["filters"]): Record<string, string | number> {
  return Object.fromEntries(Object.entries(filters).map(([column, value]) => [`filter.${column}`, value]));
}

function passes(row: ResourceRow, filters: ListQuery["filters"]): boolean {
  return Object.entries(filters).every(
    ([column, value]) => (row as unknown as Record<string, unknown>)[column] === value,
  );
}

function rowOrder({ field, descending }: Order): (a: ResourceRow, b: ResourceRow) => number {
  const sign = descending ? -1 : 1;
  return (a, b) => sign * compareKeys(cursorOf(a, field), cursorOf(b, field));
}

function compareKeys(a: Cursor, b: Cursor): number {
  return compareValues(a.value, b.value) || compareValues(a.uid, b.uid);
}

/** Text in byte order, as the databases have it: UTF-16 units, which `<` compares, put U+FFFF behind U+10000. */
function compareValues(a: string | number, b: string | number): number {
  if (a === b) return 0;
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

function sortValue(row: ResourceRow, field: SortField): string | number {
  if (field === "uid") return row.uid;
  if (field === "name") return row.name ?? "";
  return field === "updateTime" ? (row.updateTime ?? row.createTime) : row.createTime;
}
