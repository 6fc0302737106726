// Side tables that know which rows fulfil a condition, and when it is better to begin with them.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { rangeBelow, rootOf } from "../../model/uid.ts";
import { latestOfKind } from "../change-log/change-log.ts";
import type { Collection, ResourceRow, RowTable } from "../collection/collection.ts";
import { readCounter } from "../engine/counters.ts";
import type { Session } from "../engine/session.ts";
import { and, count, countDistinct, eq, gte, lt, sql } from "../schema/drizzle.ts";
import type { Condition, Finder } from "./condition.ts";
import type { Order } from "./order.ts";
import type { FoundRows } from "./range.ts";
import { keyOf, type RangeSource } from "./source.ts";
import type { TextQuery, TextSearch } from "./text-search.ts";

/** How the rows of a source are found. */
export interface RangePlan {
  /** Where to begin; with the rows in their order when absent. */
  readonly finder?: Finder | FoundRows;
  /** How many rows there are, where that is known already. */
  readonly total?: number;
}

/** So many rows are cheaper fetched and sorted than looked for in their order. */
const fewRows = 1000;

/** Decides how the rows of a source under a condition are found. */
export async function planRange<R extends ResourceRow>(
  session: Session,
  memory: FindingMemory,
  collection: Collection<R>,
  source: RangeSource,
  condition: Condition | undefined,
  order: Order,
): Promise<RangePlan> {
  const { finders = [], isExact = false, without } = condition ?? {};
  if (finders.length === 0 && !without) return {};
  const findings = await openFindings(session, memory, collection, source);
  if (without) {
    const all = await readCounter(session, keyOf(source), collection.kind);
    return { total: all - (await findings.of(without)).count };
  }
  const best = await bestFinder(findings, finders);
  if (!best) return {};
  const { finder, count: found, uids } = best;
  const isLazy = isExact && finder.isInOrder && order.field === "uid";
  const isFew = found <= fewRows;
  return {
    ...((isLazy || isFew) && { finder: uids ? { name: "found", uids } : finder }),
    ...((isExact || found === 0) && { total: found }),
  };
}

/** The finder that finds least. Texts are searched only where nothing else finds few. */
async function bestFinder(findings: Findings, finders: readonly Finder[]) {
  let best: (Finding & { finder: Finder }) | undefined;
  for (const finder of finders.toSorted((a, b) => Number(a.term !== undefined) - Number(b.term !== undefined))) {
    if (best && best.count <= fewRows && finder.term !== undefined) break;
    const finding = await findings.of(finder);
    if (!best || finding.count < best.count) best = { ...finding, finder };
  }
  return best;
}

/** What a finder finds in a source. */
interface Finding {
  readonly count: number;
  /** The rows in the order of their uids, where a search found few. */
  readonly uids?: readonly string[];
}

interface Findings {
  of(finder: Finder): Promise<Finding>;
}

/** How much is remembered: entries, and characters of the uids, about 8 MiB. */
const remembered = { max: 1000, maxSize: 8 * 1024 * 1024, sizeCalculation: sizeOf };

/** Remembers what was found in one database, whichever of its connections asks, and searches its texts. */
export interface FindingMemory {
  readonly found: LRUCache<string, Finding>;
  readonly texts: TextSearch;
}

/** Makes one that remembers nothing yet. */
export function newFindingMemory(texts: TextSearch): FindingMemory {
  return { found: new LRUCache(remembered), texts };
}

function sizeOf({ uids = [] }: Finding): number {
  return 100 + uids.length * 60;
}

/** What finders find in a source. It is remembered until a row of the collection changes. */
async function openFindings<R extends ResourceRow>(
  session: Session,
  { found, texts }: FindingMemory,
  collection: Collection<R>,
  source: RangeSource,
): Promise<Findings> {
  const state = await latestOfKind(session, collection.kind);
  return {
    async of(finder) {
      const asked = [collection.kind, state, source.type, source.uid, finder.name, finder.values];
      const key = hash("sha256", JSON.stringify(asked), "base64url");
      const known = found.get(key);
      if (known) return known;
      const finding =
        finder.term === undefined || source.uid === null
          ? await find(session, collection, source, finder)
          : await search(session, texts, collection, { ...source, uid: source.uid }, finder.term);
      found.set(key, finding);
      return finding;
    },
  };
}

async function search<R extends ResourceRow>(
  session: Session,
  texts: TextSearch,
  { kind }: Collection<R>,
  source: TextQuery["source"],
  term: string,
): Promise<Finding> {
  const size = await readCounter(session, keyOf(source), kind);
  const organizationSize = await readCounter(session, rootOf(source.uid), kind);
  return await texts.find(session, { term, source, size, organizationSize }, fewRows);
}

async function find<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  finder: Finder,
): Promise<Finding> {
  const place = source.type === "subtree" ? rangeBelow(source.uid) : { parent: source.uid };
  const values = { ...place, ...finder.values };
  const key = `${collection.kind}.find.${finder.name}.${source.type}`;
  const conditionsOf = (side: ReturnType<Finder["table"]>, rows: RowTable) =>
    source.type === "subtree"
      ? and(finder.where(session), gte(side.uid, sql.placeholder("from")), lt(side.uid, sql.placeholder("to")))
      : and(finder.where(session), eq(rows.parent, sql.placeholder("parent")));
  const statement = session.prepared(`${key}.count`, (db, tables) => {
    const [side, rows] = [finder.table(tables), collection.rows(tables)];
    const select = db.select({ count: finder.isDistinct ? count() : countDistinct(side.uid) }).from(side);
    const joined = source.type === "subtree" ? select : select.innerJoin(rows, eq(rows.uid, side.uid));
    return joined.where(conditionsOf(side, rows));
  });
  return { count: Number((await statement.execute(values))[0]?.count) };
}
