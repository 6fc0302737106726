// Side tables that know which rows fulfil a condition, and when it is better to begin with them.
import { hash } from "node:crypto";
import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { LRUCache } from "lru-cache";
import { rangeBelow } from "../../model/uid.ts";
import { latestOfKind } from "../change-log/change-log.ts";
import type { Collection, ResourceRow, RowTable } from "../collection/collection.ts";
import { readCounter } from "../engine/counters.ts";
import { atMost } from "../engine/placeholders.ts";
import type { Session, SessionDialect } from "../engine/session.ts";
import { and, count, countDistinct, eq, gte, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import type { SearchedText, TextMemory } from "../search/text-cache.ts";
import type { Condition } from "./condition.ts";
import type { Order } from "./order.ts";
import { keyOf, type RangeSource } from "./range.ts";

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
  /** What it looks for in the texts of its table; it then reads all of them, where they are not in memory. */
  readonly text?: SearchedText;
}

/** How the rows of a source are found. */
export interface RangePlan {
  /** Where to begin; with the rows in their order when absent. */
  readonly finder?: Finder | FoundRows;
  /** How many rows there are, where that is known already. */
  readonly total?: number;
}

/** Rows that were found already. */
export interface FoundRows {
  readonly name: "found";
  /** In ascending order. */
  readonly uids: readonly string[];
}

/** So many rows are cheaper fetched and sorted than looked for in their order. */
const fewRows = 1000;

/** So many rows that were found in memory are named to the database, where it needs only those of a page. */
const maxNamed = 5000;

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

/** The finder that finds least. What looks through texts is asked only where nothing else finds few. */
async function bestFinder(findings: Findings, finders: readonly Finder[]) {
  let best: (Finding & { finder: Finder }) | undefined;
  for (const finder of finders.toSorted((a, b) => Number(!!a.text) - Number(!!b.text))) {
    if (best && best.count <= fewRows && finder.text) break;
    const finding = await findings.of(finder);
    if (!best || finding.count < best.count) best = { ...finding, finder };
  }
  return best;
}

/** What a finder finds in a source. */
interface Finding {
  readonly count: number;
  /** The rows in the order of their uids, where a finder of texts found few. */
  readonly uids?: readonly string[];
}

interface Findings {
  of(finder: Finder): Promise<Finding>;
}

/** How much is remembered: entries, and characters of the uids, about 8 MiB. */
const remembered = { max: 1000, maxSize: 8 * 1024 * 1024, sizeCalculation: sizeOf };

/** Remembers what was found, and what is looked through: of one database, whichever of its connections asks. */
export interface FindingMemory {
  readonly found: LRUCache<string, Finding>;
  readonly texts: TextMemory;
}

/** Makes one that remembers nothing yet. */
export function newFindingMemory(texts: TextMemory): FindingMemory {
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
        (finder.text && (await texts.find(session, collection, source, finder.text, state, maxNamed))) ??
        (await find(session, collection, source, finder));
      found.set(key, finding);
      return finding;
    },
  };
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
  if (finder.text) {
    const statement = session.prepared(`${key}.uids`, (db, tables) => {
      const [side, rows] = [finder.table(tables), collection.rows(tables)];
      const select = db.select({ uid: side.uid }).from(side);
      const joined = source.type === "subtree" ? select : select.innerJoin(rows, eq(rows.uid, side.uid));
      return joined.where(conditionsOf(side, rows)).limit(atMost(fewRows + 1));
    });
    const found = (await statement.execute(values)) as { uid: string }[];
    if (found.length <= fewRows) return { count: found.length, uids: found.map(({ uid }) => uid).sort() };
  }
  const statement = session.prepared(`${key}.count`, (db, tables) => {
    const [side, rows] = [finder.table(tables), collection.rows(tables)];
    const select = db.select({ count: finder.isDistinct ? count() : countDistinct(side.uid) }).from(side);
    const joined = source.type === "subtree" ? select : select.innerJoin(rows, eq(rows.uid, side.uid));
    return joined.where(conditionsOf(side, rows));
  });
  return { count: Number((await statement.execute(values))[0]?.count) };
}
