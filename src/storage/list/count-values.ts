// Counts the rows of a list by the values of a column.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { rootOf } from "../../model/uid.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Prepared, Session } from "../engine/session.ts";
import { and, countDistinct, desc, eq, ne, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { countRows, type ListQuery, planRows } from "./list-rows.ts";
import { buildRangeQuery, type Range, statementKey, valuesOf } from "./range.ts";
import type { FilterResultCache } from "./range-plan.ts";
import type { RangeSource } from "./source.ts";

/** The values to count by: a column of the rows, or of a side table with several values for a row. */
export interface CountedColumn {
  /** Identifies the SQL text. */
  readonly name: string;
  readonly column: (tables: Tables) => PgColumn;
  /** The side table, and its column with the uid of the row. */
  readonly side?: (tables: Tables) => { readonly table: PgTable; readonly uid: PgColumn };
  /** The value of rows without one, which are not counted. */
  readonly none: string | number;
}

/** The rows to count, and the column to count by. */
export interface ValueQuery extends Pick<ListQuery, "sources" | "filters" | "condition"> {
  readonly counted: CountedColumn;
  /** The most rows to count. */
  readonly maxRows: number;
}

/** The counts of a list. */
export interface ValueCounts {
  /** The most frequent values first. */
  readonly values: readonly ValueCount[];
  /** Whether the list has more rows than were counted. */
  readonly isPartial: boolean;
}

interface ValueCount {
  readonly value: string;
  readonly count: number;
}

/** How many values one source gives. More than are shown, since the values of several sources are added up. */
const maxValues = 1000;

const byUid = { field: "uid", descending: false } as const;

/** Counts rows by value. Reads no more than `maxRows` rows. */
export async function countValues<R extends ResourceRow>(
  session: Session,
  cache: FilterResultCache,
  collection: Collection<R>,
  query: ValueQuery,
): Promise<ValueCounts> {
  const plans = await planRows(session, cache, collection, { ...query, order: byUid });
  const counts = new Map<string, number>();
  let left = query.maxRows;
  let isPartial = false;
  const add = async (range: Pick<Range, "source" | "condition" | "index">, total: number) => {
    isPartial ||= total > left;
    const limit = Math.min(total, left);
    left -= limit;
    if (limit === 0) return;
    const whole: Range = { ...range, filters: query.filters, order: byUid, after: undefined };
    for (const { value, count } of await countRangeValues(session, collection, whole, query.counted, limit))
      counts.set(String(value), (counts.get(String(value)) ?? 0) + Number(count));
  };
  for (const [i, source] of query.sources.entries()) {
    if (source.type === "row") continue;
    const one = { ...query, sources: [source], plans: [plans[i]!] };
    await add(
      { source, condition: query.condition, index: plans[i]?.index },
      await countRows(session, collection, one),
    );
  }
  // Single rows were tested when they were planned.
  const found = plans.flatMap((plan) => plan.found?.map(({ uid }) => uid) ?? []);
  for (const [root, uids] of Map.groupBy(found, rootOf)) {
    const source: RangeSource = { type: "subtree", uid: root };
    await add({ source, condition: undefined, index: { name: "found", uids: uids.toSorted() } }, uids.length);
  }
  const values = [...counts].map(([value, count]) => ({ value, count })).sort(byFrequency);
  return { values, isPartial };
}

function byFrequency(a: ValueCount, b: ValueCount): number {
  return b.count - a.count || (a.value < b.value ? -1 : 1);
}

/** Counts the first rows of a range, `limit` at most, by value. */
async function countRangeValues<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
  { name, column, side, none }: CountedColumn,
  limit: number,
) {
  const statement = session.prepared(statementKey(collection, `values.${name}`, range), (db, tables) => {
    const { rows, from, uid, isJoined, conditions } = buildRangeQuery(session, collection, tables, range);
    const value = column(tables);
    const select = db.select({ uid, value: side ? sql`0`.as("value") : sql`${value}`.as("value") }).from(from);
    const joined = isJoined || from !== rows ? select.innerJoin(rows, eq(rows.uid, uid)) : select;
    const first = joined
      .where(and(...conditions))
      .limit(limitOf("limit"))
      .as("counted");
    const counted = side ? sql`${value}` : sql`${first.value}`;
    const count = countDistinct(first.uid);
    const grouped = db.select({ value: counted, count }).from(first);
    const all = side ? grouped.innerJoin(side(tables).table, eq(side(tables).uid, first.uid)) : grouped;
    return all
      .where(typeof none === "string" ? ne(counted, textPlaceholder("none")) : ne(counted, sql.raw(String(none))))
      .groupBy(counted)
      .orderBy(desc(count), counted)
      .limit(limitOf(maxValues));
  });
  type Found = Prepared<{ readonly value: string | number; readonly count: number }[]>;
  return await (statement as unknown as Found).execute({ ...valuesOf(range), limit, none });
}
