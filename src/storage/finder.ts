// Side tables that know which rows fulfil a condition, and when it is better to begin with them.
import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { rangeBelow } from "../uid.ts";
import type { Collection, ResourceRow } from "./collection.ts";
import type { Condition } from "./condition.ts";
import { readCounter } from "./counters.ts";
import { and, count, countDistinct, eq, gte, lt, sql } from "./drizzle.ts";
import { keyOf, type RangeSource } from "./range.ts";
import type { Order } from "./row-order.ts";
import type { Session, SessionDialect } from "./session.ts";
import type { Tables } from "./tables.ts";

/** A side table, and which of its rows name the rows that are looked for. */
export interface Finder {
  /** Names the shape: finders of one name have the same text. */
  readonly name: string;
  readonly table: (tables: Tables) => PgTable & { readonly uid: PgColumn };
  readonly where: (dialect: SessionDialect) => SQL | undefined;
  /** By the name of the placeholder. */
  readonly values: Readonly<Record<string, string>>;
  /** Whether no row is named twice. */
  readonly isDistinct: boolean;
  /** Whether the rows come in the order of their uids, without being sorted. */
  readonly isInOrder: boolean;
  /** Whether finding reads the whole subtree, whatever is found. */
  readonly readsAll: boolean;
}

/** How the rows of a source are found. */
export interface RangePlan {
  /** Where to begin; with the rows in their order when absent. */
  readonly finder?: Finder;
  /** How many rows there are, where that is known already. */
  readonly total?: number;
}

/** So many rows are cheaper fetched and sorted than looked for in their order. */
const fewRows = 1000;

/** Decides how the rows of a source under a condition are found. */
export async function planRange<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  condition: Condition | undefined,
  order: Order,
): Promise<RangePlan> {
  if (!condition) return {};
  const { finders = [], isExact = false, without } = condition;
  if (without) {
    const all = await readCounter(session, keyOf(source), collection.kind);
    return { total: all - (await countFound(session, collection, source, without)) };
  }
  const best = await bestFinder(session, collection, source, finders);
  if (!best) return {};
  const isLazy = isExact && best.finder.isInOrder && order.field === "uid";
  return {
    ...(isLazy || best.found <= fewRows ? { finder: best.finder } : {}),
    ...(isExact || best.found === 0 ? { total: best.found } : {}),
  };
}

/** The finder that finds least. What reads everything is asked only where nothing else finds few. */
async function bestFinder<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  finders: readonly Finder[],
) {
  let best: { finder: Finder; found: number } | undefined;
  for (const finder of finders.toSorted((a, b) => Number(a.readsAll) - Number(b.readsAll))) {
    if (best && best.found <= fewRows && finder.readsAll) break;
    const found = await countFound(session, collection, source, finder);
    if (!best || found < best.found) best = { finder, found };
  }
  return best;
}

async function countFound<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  finder: Finder,
): Promise<number> {
  const key = `${collection.kind}.found.${finder.name}.${source.type}`;
  const statement = session.prepared(key, (db, tables) => {
    const side = finder.table(tables);
    const rows = collection.rows(tables);
    const select = db.select({ count: finder.isDistinct ? count() : countDistinct(side.uid) }).from(side);
    const found = finder.where(session);
    if (source.type === "subtree")
      return select.where(and(found, gte(side.uid, sql.placeholder("from")), lt(side.uid, sql.placeholder("to"))));
    return select.innerJoin(rows, eq(rows.uid, side.uid)).where(and(found, eq(rows.parent, sql.placeholder("parent"))));
  });
  const place = source.type === "subtree" ? rangeBelow(source.uid) : { parent: source.uid };
  return Number((await statement.execute({ ...place, ...finder.values }))[0]?.count);
}
