// An offset index divides a large range into segments with known row counts. A large skip then reads a thousand rows
// instead of all. The index is in memory, is built for the first large skip, and follows the change log.
import { LRUCache } from "lru-cache";
import { lastChangeOfKind, readChangedRows } from "../change-log/change-log.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { keysOf } from "../schema/entry-keys.ts";
import { type Cursor, compareCursors, cursorOf, type Order } from "./order.ts";
import { countUntil, cursorAtOffset, type Range } from "./range.ts";
import type { FindCursor } from "./skip.ts";
import { entryKeyOf } from "./source.ts";

/** Limits of the index. */
export interface OffsetIndexLimits {
  /** Rows per segment when the index is built. */
  readonly segmentRows: number;
  /** Smaller skips do not use the index. If a segment grows beyond this, the index of its range is rebuilt. */
  readonly maxSegmentRows: number;
  /** Segments of all ranges together, about a hundred bytes each. */
  readonly maxSegments: number;
  /** How many changes are applied at once; after more, the index is rebuilt. */
  readonly maxChanges: number;
}

const defaultLimits: OffsetIndexLimits = {
  segmentRows: 1024,
  maxSegmentRows: 4096,
  maxSegments: 50_000,
  maxChanges: 2000,
};

/** A segment of a range. */
interface Segment {
  /** The cursor after its last row; undefined at the end of the range. */
  readonly end: Cursor | undefined;
  /** Its number of rows, with all changes that were applied. */
  count: number;
  /** The last change before the segment was built. Only later changes are applied to `count`. */
  readonly sequence: number;
}

/** The segments of one range in one sort order. */
interface Segments {
  readonly list: Segment[];
  /** The last change that was applied. */
  sequence: number;
  /** Whether the index must be rebuilt, because the log lacks the next changes. */
  isLost?: boolean;
}

/** Runs reads in one snapshot. */
type Read = <T>(body: (session: Session) => Promise<T>) => Promise<T>;

/** Finds cursors at large offsets. */
export interface OffsetIndex {
  /**
   * Builds the index for a skip of this size, if it needs one. Call it outside of a snapshot: it uses many short ones
   * and yields in between.
   */
  prepare<R extends ResourceRow>(collection: Collection<R>, ranges: readonly Range[], skip: number): Promise<void>;
  readonly find: FindCursor;
  /** Returns how many rows of a range are not after a cursor. */
  countUntil<R extends ResourceRow>(
    session: Session,
    collection: Collection<R>,
    range: Range,
    end: Cursor,
  ): Promise<number>;
  /** Forgets all segments. */
  clear(): void;
}

/** Creates the index of one database. */
export function newOffsetIndex(read: Read, limits: OffsetIndexLimits = defaultLimits): OffsetIndex {
  const known = new LRUCache<string, Segments>({
    maxSize: limits.maxSegments,
    sizeCalculation: ({ list }) => list.length,
  });
  const building = new Map<string, Promise<void>>();
  let clears = 0;

  async function rebuild<R extends ResourceRow>(collection: Collection<R>, range: Range, key: string): Promise<void> {
    const clearsBefore = clears;
    const segments = await buildSegments(read, collection, range, limits.segmentRows);
    // After a failover, the segments may have changes that were lost.
    if (clears === clearsBefore) known.set(key, segments);
  }

  return {
    async prepare(collection, ranges, skip) {
      if (skip < limits.maxSegmentRows) return;
      for (const range of ranges) {
        const key = segmentsKey(collection, range);
        if (key === undefined) continue;
        const latest = await read((session) => lastChangeOfKind(session, collection.kind));
        if (isUsable(known.get(key), limits, latest)) continue;
        let work = building.get(key);
        if (!work) {
          work = rebuild(collection, range, key).finally(() => building.delete(key));
          building.set(key, work);
        }
        await work;
      }
    },
    clear() {
      clears++;
      known.clear();
    },
    async find(session, collection, range, offset) {
      const key = segmentsKey(collection, range);
      const segments = key !== undefined && offset >= limits.segmentRows ? known.get(key) : undefined;
      if (!key || !segments) return await cursorAtOffset(session, collection, range, offset);
      const counts = await follow(session, collection, range, segments, limits.maxChanges);
      return counts
        ? await findInSegments(session, collection, range, segments.list, counts, offset)
        : await cursorAtOffset(session, collection, range, offset);
    },
    async countUntil(session, collection, range, end) {
      const key = range.after ? undefined : segmentsKey(collection, range);
      const segments = key === undefined ? undefined : known.get(key);
      const counts = segments && (await follow(session, collection, range, segments, limits.maxChanges));
      return counts
        ? await countInSegments(session, collection, range, segments.list, counts, end)
        : await countUntil(session, collection, range, end);
    },
  };
}

/**
 * Returns the key of a range. Returns undefined for a filtered range: changes alone do not tell how many rows match.
 */
function segmentsKey({ kind }: { kind: string }, { source, filters, condition, order }: Range): string | undefined {
  if (condition || Object.keys(filters).length > 0) return undefined;
  return [kind, entryKeyOf(source), order.field, order.descending ? "desc" : "asc"].join(" ");
}

/** Returns whether segments can be brought up to the latest change and are still small enough. */
function isUsable(segments: Segments | undefined, limits: OffsetIndexLimits, latest: number): boolean {
  if (!segments || segments.isLost || latest - segments.sequence > limits.maxChanges) return false;
  return segments.list.every(({ count }) => count <= limits.maxSegmentRows);
}

/** Builds the segments of a range. Each is read in its own snapshot, and records the last change in it. */
async function buildSegments<R extends ResourceRow>(
  read: Read,
  collection: Collection<R>,
  whole: Range,
  stride: number,
): Promise<Segments> {
  const list: Segment[] = [];
  let after: Cursor | undefined;
  do {
    const range: Range = { ...whole, after };
    const segment = await read(async (session): Promise<Segment> => {
      const sequence = await lastChangeOfKind(session, collection.kind);
      const end = await cursorAtOffset(session, collection, range, stride - 1);
      const count = end ? stride : await countUntil(session, collection, range, undefined);
      return { end, count, sequence };
    });
    list.push(segment);
    after = segment.end;
    // Reads from SQLite are synchronous: without this, nothing else would run until the end of the range.
    await new Promise((resolve) => setImmediate(resolve));
  } while (after);
  return { list, sequence: list[0]!.sequence };
}

/**
 * Applies the changes up to the snapshot of the session, and returns the row counts of the segments in it. Returns
 * undefined if the segments are ahead of the snapshot or too far behind.
 */
async function follow<R extends ResourceRow>(
  session: Session,
  { kind }: Collection<R>,
  { source, order }: Range,
  segments: Segments,
  most: number,
): Promise<readonly number[] | undefined> {
  const latest = await lastChangeOfKind(session, kind);
  if (latest === segments.sequence) return countsOf(segments);
  if (latest < segments.sequence || latest - segments.sequence > most) return undefined;
  const changes = await readChangedRows(session, kind, segments.sequence, most);
  if (!changes) {
    segments.isLost = true;

    return undefined;
  }
  const key = entryKeyOf(source);
  for (const change of changes) {
    // Another read may have applied it while this one waited for the database.
    if (change.sequence <= segments.sequence) continue;
    count(segments, change.sequence, change.before as ResourceRow | null, -1, key, order);
    count(segments, change.sequence, change.after as ResourceRow | null, 1, key, order);
  }
  segments.sequence = Math.max(segments.sequence, latest);
  // Another read with a later snapshot may have applied more meanwhile: the counts are then right only for that one.
  return segments.sequence === latest ? countsOf(segments) : undefined;
}

function countsOf({ list }: Segments): number[] {
  return list.map(({ count }) => count);
}

/** Adds or subtracts a row, unless the segment was built after the change. */
function count(
  { list }: Segments,
  sequence: number,
  row: ResourceRow | null,
  difference: 1 | -1,
  key: string,
  order: Order,
): void {
  if (!row || !keysOf(row).includes(key)) return;
  const segment = list[indexOf(list, cursorOf(row, order.field), order)]!;
  if (sequence > segment.sequence) segment.count += difference;
}

async function findInSegments<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
  list: readonly Segment[],
  counts: readonly number[],
  offset: number,
): Promise<Cursor | undefined> {
  const { after, order } = range;
  let at = after ? indexOf(list, after, order) : 0;
  const ahead = after ? await countUntil(session, collection, range, list[at]!.end) : counts[0]!;
  if (offset < ahead) return await cursorAtOffset(session, collection, range, offset);
  let left = offset - ahead;
  for (at++; at < counts.length && left >= counts[at]!; at++) left -= counts[at]!;
  if (at >= counts.length) return undefined;
  return await cursorAtOffset(session, collection, { ...range, after: list[at - 1]!.end }, left);
}

async function countInSegments<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
  list: readonly Segment[],
  counts: readonly number[],
  end: Cursor,
): Promise<number> {
  const at = indexOf(list, end, range.order);
  const before = counts.slice(0, at).reduce((sum, count) => sum + count, 0);
  return before + (await countUntil(session, collection, { ...range, after: list[at - 1]?.end }, end));
}

/** Returns the index of the segment with a cursor: the first that does not end before it. */
function indexOf(list: readonly Segment[], cursor: Cursor, order: Order): number {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { end } = list[middle]!;
    if (end && compareCursors(end, cursor, order) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
