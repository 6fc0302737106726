// Reads pages of one resource in any sort order and any subtree, in a time that does not grow with the table.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { findRow } from "../collection/rows.ts";
import { readCounter } from "../engine/counters.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";
import type { Condition } from "./condition.ts";
import type { OffsetIndex } from "./offset-index.ts";
import { type Cursor, compareCursors, cursorOf, type Order } from "./order.ts";
import { countRange, cursorAtOffset, type Filters, type Range, readRange } from "./range.ts";
import { type FilterResultCache, planRange, type RangePlan } from "./range-plan.ts";
import { type FindCursor, skipRows } from "./skip.ts";
import { entryKeyOf, type RangeSource } from "./source.ts";

export type { Condition } from "./condition.ts";
export { type Cursor, cursorOf, type Order, type SortField } from "./order.ts";
export type { Filters } from "./range.ts";

/** A set of rows that can be read in order. The sources of one list are disjoint. */
export type Source = RangeSource | { readonly type: "row"; readonly uid: string };

/** The plan to read a source; for a single row, the row itself. */
export type SourcePlan = RangePlan & { readonly found?: readonly ResourceRow[] };

/** The rows to list, and the page of them. */
export interface ListQuery {
  readonly sources: readonly Source[];
  /** Columns and their required values. */
  readonly filters: Filters;
  /** A further filter. */
  readonly condition?: Condition | undefined;
  /** The plans to read each source, from planRows; in list order if absent. */
  readonly plans?: readonly SourcePlan[];
  readonly order: Order;
  /** For the order by role: the subtrees whose roles sort by their names. Other custom roles sort as if they had none. */
  readonly namedRoles?: readonly string[] | undefined;
  /** The page starts after this cursor. */
  readonly after: Cursor | undefined;
  /** How many rows after the cursor to skip. */
  readonly skip: number;
  readonly limit: number;
}

/** Prepares the offset index for a large skip. Call it before the snapshot in which the page is read. */
export async function prepareSkip<R extends ResourceRow>(
  offsets: OffsetIndex,
  collection: Collection<R>,
  query: ListQuery,
): Promise<void> {
  if (query.skip > 0 && query.order.field !== "roleName")
    await offsets.prepare(collection, rangesOf(query), query.skip);
}

/** Decides how to read each source, and reads single rows, which both the page and the total need. */
export async function planRows<R extends ResourceRow>(
  session: Session,
  cache: FilterResultCache,
  collection: Collection<R>,
  query: Pick<ListQuery, "sources" | "filters" | "condition" | "order">,
): Promise<SourcePlan[]> {
  const plans: SourcePlan[] = [];
  for (const source of query.sources) {
    plans.push(
      source.type === "row"
        ? { found: await findPoint(session, collection, source.uid, query) }
        : await planRange(session, cache, collection, source, query.condition, query.order),
    );
  }
  return plans;
}

/**
 * Returns one page. Rows with equal sort values are sorted by uid, in the same direction. `find` returns the cursor at
 * an offset.
 */
export async function listRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: ListQuery,
  find: FindCursor = cursorAtOffset,
): Promise<R[]> {
  const { order, skip, limit } = query;
  const ranges = rangesOf(query);
  const points = await readPoints(session, collection, query);
  // All single rows may come first, so the ranges skip that many fewer.
  const skipped = await skipRows(session, collection, ranges, skip - points.length, find);
  if (!skipped) return [];
  const left = skip - skipped.count;
  const found: R[] = [];
  for (const range of skipped.ranges) {
    for (const row of await readRange(session, collection, range, left + limit)) found.push(row);
  }
  if (skipped.ranges.length <= 1 && points.length <= 1) {
    for (const row of points) found.splice(placeOf(row, found, order), 0, row);
  } else {
    found.push(...points);
    found.sort((a, b) => compareRows(a, b, order));
  }
  return found.slice(left, left + limit);
}

function compareRows(a: ResourceRow, b: ResourceRow, order: Order): number {
  return compareCursors(cursorOf(a, order.field), cursorOf(b, order.field), order);
}

/** Returns the position of a row among sorted rows. */
function placeOf(row: ResourceRow, rows: readonly ResourceRow[], order: Order): number {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareRows(rows[middle]!, row, order) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Returns the number of rows of the sources that match the filters. Without filters it reads counters (counters.ts) and
 * counts nothing.
 */
export async function countRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: Pick<ListQuery, "sources" | "filters" | "condition" | "plans">,
): Promise<number> {
  const hasFilters = Object.keys(query.filters).length > 0;
  const isFiltered = query.condition !== undefined || hasFilters;
  let total = 0;
  for (const [i, source] of query.sources.entries()) {
    const plan = query.plans?.[i];
    if (source.type === "row") {
      total += (plan?.found ?? (await findPoint(session, collection, source.uid, query))).length;
    } else if (plan?.total !== undefined && !hasFilters) {
      total += plan.total;
    } else if (!isFiltered) {
      total += await readCounter(session, entryKeyOf(source), collection.kind);
    } else {
      total += await countRange(session, collection, source, { ...query, index: plan?.index });
    }
  }
  return total;
}

function rangesOf({ sources, filters, condition, plans = [], order, after }: ListQuery): Range[] {
  return sources.flatMap((source, i) =>
    source.type === "row" || plans[i]?.total === 0
      ? []
      : [{ source, filters, condition, index: plans[i]?.index, order, after }],
  );
}

/** Returns the single rows of the sources that match the filters and come after the cursor. */
async function readPoints<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: ListQuery,
): Promise<R[]> {
  const { sources, plans = [], order, after } = query;
  const found: R[] = [];
  for (const [i, source] of sources.entries()) {
    if (source.type !== "row") continue;
    const rows = plans[i]?.found ?? (await findPoint(session, collection, source.uid, query));
    for (const row of rows as readonly R[]) {
      if (!after || compareCursors(cursorOf(row, order.field), after, order) > 0) found.push(row);
    }
  }
  return found;
}

/** Returns the row with this uid if it matches: one row or none. */
async function findPoint<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uid: string,
  { filters, condition }: Pick<ListQuery, "filters" | "condition">,
): Promise<readonly R[]> {
  const row = await findRow(session, collection, uid);
  if (!row || !passes(row, filters)) return [];
  return !condition || (await matchesCondition(session, collection, uid, condition)) ? [row] : [];
}

function passes(row: ResourceRow, filters: Filters): boolean {
  return Object.entries(filters).every(
    ([column, value]) => (row as unknown as Record<string, unknown>)[column] === value,
  );
}

/** Returns whether the row with this uid matches a condition. */
async function matchesCondition<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uid: string,
  condition: Condition,
): Promise<boolean> {
  const statement = session.prepared(`${collection.kind}.fulfils.${condition.name}`, (db, tables) => {
    const rows = collection.rows(tables);
    const select = db.select({ uid: rows.uid }).from(rows);
    return select.where(and(eq(rows.uid, sql.placeholder("uid")), condition.build(session)));
  });
  return (await statement.execute({ uid, ...condition.values })).length > 0;
}
