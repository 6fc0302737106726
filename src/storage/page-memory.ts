// Pages that are listed again and again stay in memory until something in their ranges changes.
import { LRUCache } from "lru-cache";
import type { Collection, ResourceRow } from "./collection.ts";
import type { FindingMemory } from "./finder.ts";
import { type FollowedLog, type LogLimits, newFollowedLog } from "./followed-log.ts";
import { countRows, type ListQuery, listRows, planRows } from "./listing.ts";
import type { Milestones } from "./milestones.ts";
import { keyOf } from "./range.ts";
import type { Session } from "./session.ts";

/** A page of a listing, with what a reply says besides. */
export interface ListedPage<R> {
  /** In order. Frozen where the page is remembered: the next reading answers the same list. */
  readonly rows: readonly R[];
  /** Whether rows follow it. */
  readonly hasMore: boolean;
  /** How many rows the whole listing has. */
  readonly total: number;
}

/** Sizes of what is kept. */
export interface PageLimits extends LogLimits {
  /** Bytes of all pages with what is made of them, about. */
  readonly bytes: number;
  /** Bytes of one page: larger ones are always read. */
  readonly pageBytes: number;
  /** Characters of what names a page: those of many places are always read. */
  readonly nameLength: number;
  /**
   * Readings of pages that are looked back on. A page is kept when it was read among them and would be the same now, and it
   * displaces only what none of them asked for: to keep what is displaced unused costs more than to read it.
   */
  readonly readings: number;
  /** How long a page is kept, in milliseconds: what is repaired by hand is in no change log. */
  readonly ageMs: number;
}

const defaultLimits: PageLimits = {
  bytes: 8 * 2 ** 20,
  pageBytes: 512 * 2 ** 10,
  nameLength: 1000,
  readings: 2000,
  ageMs: 60_000,
  changes: 500,
  places: 4000,
};

/** Reads pages, or remembers them. */
export interface PageMemory {
  /** How many pages were remembered, and how many had to be read. */
  readonly hits: number;
  readonly misses: number;
  /** The page of at most `query.limit` rows, as of the snapshot of the session. */
  read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery): Promise<ListedPage<R>>;
}

interface Kept {
  readonly page: ListedPage<ResourceRow>;
  /** The last change of the resource before it was read. */
  readonly sequence: number;
  /** When it was read, in milliseconds of `performance.now`. */
  readonly time: number;
  /** The number of the last reading that asked for it. */
  usedAt: number;
}

/** Makes one that remembers nothing yet. */
export function newPageMemory(
  milestones: Milestones,
  findings: FindingMemory,
  limits: PageLimits = defaultLimits,
): PageMemory {
  const kept = new LRUCache<string, Kept>({
    maxSize: limits.bytes,
    maxEntrySize: limits.pageBytes,
  });
  /** The last change before each of the last pages that were read. */
  const lastRead = new LRUCache<string, number>({ max: limits.readings });
  const logs = new Map<string, FollowedLog>();
  let hits = 0;
  let misses = 0;

  async function fetch<R extends ResourceRow>(
    session: Session,
    collection: Collection<R>,
    query: ListQuery,
  ): Promise<ListedPage<R>> {
    misses++;
    const plans = await planRows(session, findings, collection, query);
    const planned = { ...query, plans, limit: query.limit + 1 };
    const found = await listRows(session, collection, planned, milestones.find);
    const total = await countRows(session, collection, planned);
    return { rows: found.slice(0, query.limit), hasMore: found.length > query.limit, total };
  }

  function logOf(kind: string): FollowedLog {
    const known = logs.get(kind);
    if (known) return known;
    const log = newFollowedLog(kind, limits);
    logs.set(kind, log);
    return log;
  }

  function find(name: string, isUnchangedSince: (sequence: number) => boolean): ListedPage<ResourceRow> | undefined {
    const known = kept.get(name);
    if (!known) return undefined;
    if (isUnchangedSince(known.sequence) && performance.now() - known.time < limits.ageMs) {
      known.usedAt = ++hits + misses;
      return known.page;
    }
    kept.delete(name);
    return undefined;
  }

  function keep(name: string, page: ListedPage<ResourceRow>, sequence: number): void {
    const usedAt = hits + misses;
    const isFull = kept.calculatedSize > limits.bytes - limits.pageBytes;
    const oldest = kept.rvalues().next().value;
    if (isFull && oldest && usedAt - oldest.usedAt < limits.readings) return;
    Object.freeze(page.rows);
    kept.set(name, { page, sequence, time: performance.now(), usedAt }, { size: bytesOf(page.rows) });
  }

  return {
    get hits() {
      return hits;
    },
    get misses() {
      return misses;
    },
    async read<R extends ResourceRow>(session: Session, collection: Collection<R>, query: ListQuery) {
      const name = nameOf(collection, query);
      if (name === undefined || name.length > limits.nameLength) return await fetch(session, collection, query);
      const log = logOf(collection.kind);
      const latest = await log.follow(session);
      if (latest === undefined) return await fetch(session, collection, query);
      const places = placesOf(query);
      const known = find(name, (sequence) => log.isUnchangedSince(sequence, places));
      if (known) return known as ListedPage<R>;
      const page = await fetch(session, collection, query);
      const before = lastRead.get(name);
      lastRead.set(name, latest);
      const isRepeated = before !== undefined && log.isUnchangedSince(before, places);
      // Where another session has followed the log further meanwhile, it may have passed a change that this page lacks.
      if (isRepeated && log.isAt(latest)) keep(name, page, latest);
      return page;
    },
  };
}

/**
 * Names a page; undefined for what is not remembered. What conditions look at may change without the rows, and so may what is
 * changed beside the log.
 */
function nameOf({ kind, isTouched }: { kind: string; isTouched?: boolean }, query: ListQuery): string | undefined {
  const { sources, filters, condition, order, after, skip, limit } = query;
  if (isTouched || condition) return undefined;
  return JSON.stringify([kind, sources, filters, order, after, skip, limit]);
}

/** Where something has to change for the page to change. */
function placesOf({ sources }: ListQuery): string[] {
  return sources.map((source) => (source.type === "row" ? source.uid : keyOf(source)));
}

/** What a page takes in memory, about: its rows, the messages made of them, and those in protobuf and in JSON. */
function bytesOf(rows: readonly ResourceRow[]): number {
  let bytes = 1000;
  for (const row of rows) {
    bytes += 500;
    for (const value of Object.values(row)) {
      if (typeof value === "string") bytes += 4 * value.length;
      else if (typeof value === "object" && value !== null) bytes += 8 * JSON.stringify(value).length;
    }
  }
  return bytes;
}
