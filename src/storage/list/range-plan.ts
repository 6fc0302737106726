// Chooses how to read a filtered list: in list order, or starting from a side index that already knows the matching
// rows.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { rangeBelow, rootOf } from "../../model/uid.ts";
import { lastChangeOfKind } from "../change-log/change-log.ts";
import type { Collection, ResourceRow, RowTable } from "../collection/collection.ts";
import { readCounter } from "../engine/counters.ts";
import type { Session } from "../engine/session.ts";
import { and, count, countDistinct, eq, gte, lt, sql } from "../schema/drizzle.ts";
import type { Condition, SideIndex } from "./condition.ts";
import type { Order } from "./order.ts";
import type { FoundRows } from "./range.ts";
import { entryKeyOf, type RangeSource } from "./source.ts";
import type { TextQuery, TextSearch } from "./text-search.ts";

/** The plan to read a source. */
export interface RangePlan {
  /** The index, or the rows found, to start from; in list order if absent. */
  readonly index?: SideIndex | FoundRows | undefined;
  /** The number of rows, if known. */
  readonly total?: number | undefined;
}

/** Up to this many rows are faster to fetch and sort than to find in list order. */
const sortThreshold = 1000;

/** Decides how to read a source under a condition. */
export async function planRange<R extends ResourceRow>(
  session: Session,
  cache: FilterResultCache,
  collection: Collection<R>,
  source: RangeSource,
  condition: Condition | undefined,
  order: Order,
): Promise<RangePlan> {
  const { indexes = [], indexIsExact = false, excludedBy } = condition ?? {};
  if (indexes.length === 0 && !excludedBy) return {};
  const lookups = await newLookups(session, cache, collection, source);
  if (excludedBy) {
    const all = await readCounter(session, entryKeyOf(source), collection.kind);
    return { total: all - (await lookups.of(excludedBy)).count };
  }
  const best = await chooseIndex(lookups, indexes);
  if (!best) return {};
  const { index, count: found, uids } = best;
  const isLazy = indexIsExact && index.isSortedByUid && order.field === "uid";
  const isFew = found <= sortThreshold;
  const usedIndex = uids ? { name: "found" as const, uids } : index;
  return {
    index: isLazy || isFew ? usedIndex : undefined,
    total: indexIsExact || found === 0 ? found : undefined,
  };
}

/** Returns the index that finds the fewest rows. Texts are searched only if no other index finds few. */
async function chooseIndex(lookups: Lookups, indexes: readonly SideIndex[]) {
  let best: (LookupResult & { index: SideIndex }) | undefined;
  for (const index of indexes.toSorted((a, b) => Number(a.term !== undefined) - Number(b.term !== undefined))) {
    if (best && best.count <= sortThreshold && index.term !== undefined) break;
    const result = await lookups.of(index);
    if (!best || result.count < best.count) best = { ...result, index };
  }
  return best;
}

/** The rows of a source that an index finds. */
interface LookupResult {
  readonly count: number;
  /** The uids in ascending order, if a search found few. */
  readonly uids?: readonly string[];
}

interface Lookups {
  of(index: SideIndex): Promise<LookupResult>;
}

/** Limits of the cache: 1000 results, and about 8 MiB of uids. */
const remembered = { max: 1000, maxSize: 8 * 1024 * 1024, sizeCalculation: sizeOf };

/** Caches the results of side indexes in one database, for all its connections, and searches its texts. */
export interface FilterResultCache {
  readonly found: LRUCache<string, LookupResult>;
  readonly texts: TextSearch;
}

/** Creates an empty cache. */
export function newFilterResultCache(texts: TextSearch): FilterResultCache {
  return { found: new LRUCache(remembered), texts };
}

function sizeOf({ uids = [] }: LookupResult): number {
  return 100 + uids.length * 60;
}

/** Creates lookups in a source. Results are cached until a row of the collection changes. */
async function newLookups<R extends ResourceRow>(
  session: Session,
  { found, texts }: FilterResultCache,
  collection: Collection<R>,
  source: RangeSource,
): Promise<Lookups> {
  const state = await lastChangeOfKind(session, collection.kind);
  return {
    async of(index) {
      const asked = [collection.kind, state, source.type, source.uid, index.name, index.values];
      const key = hash("sha256", JSON.stringify(asked), "base64url");
      const known = found.get(key);
      if (known) return known;
      const result =
        index.term === undefined || source.uid === null
          ? await find(session, collection, source, index)
          : await search(session, texts, collection, { ...source, uid: source.uid }, index.term);
      found.set(key, result);
      return result;
    },
  };
}

async function search<R extends ResourceRow>(
  session: Session,
  texts: TextSearch,
  { kind }: Collection<R>,
  source: TextQuery["source"],
  term: string,
): Promise<LookupResult> {
  const size = await readCounter(session, entryKeyOf(source), kind);
  const organizationSize = await readCounter(session, rootOf(source.uid), kind);
  return await texts.find(session, { term, source, size, organizationSize }, sortThreshold);
}

async function find<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  index: SideIndex,
): Promise<LookupResult> {
  const bounds = source.type === "subtree" ? rangeBelow(source.uid) : { parent: source.uid };
  const values = { ...bounds, ...index.values };
  const key = `${collection.kind}.find.${index.name}.${source.type}`;
  const conditionsOf = (side: ReturnType<SideIndex["table"]>, rows: RowTable) =>
    source.type === "subtree"
      ? and(index.where(session), gte(side.uid, sql.placeholder("from")), lt(side.uid, sql.placeholder("to")))
      : and(index.where(session), eq(rows.parent, sql.placeholder("parent")));
  const statement = session.prepared(`${key}.count`, (db, tables) => {
    const [side, rows] = [index.table(tables), collection.rows(tables)];
    const select = db.select({ count: index.isDistinct ? count() : countDistinct(side.uid) }).from(side);
    const joined = source.type === "subtree" ? select : select.innerJoin(rows, eq(rows.uid, side.uid));
    return joined.where(conditionsOf(side, rows));
  });
  return { count: Number((await statement.execute(values))[0]?.count) };
}
