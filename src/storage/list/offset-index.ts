// Marks along the big ranges, so that a skip of many rows walks over a thousand of them and not over all. They are kept in
// memory, made when a listing first skips far, and follow the change log.
import { LRUCache } from "lru-cache";
import { lastChangeOfKind, readChangedRows } from "../change-log/change-log.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { keysOf } from "../schema/entry-keys.ts";
import { type Cursor, compareCursors, cursorOf, type Order } from "./order.ts";
import { countUntil, cursorAtOffset, type Range } from "./range.ts";
import type { FindCursor } from "./skip.ts";
import { entryKeyOf } from "./source.ts";

/** Sizes of what is kept and done. */
export interface OffsetIndexLimits {
  /** Rows from one mark to the next, when they are made. */
  readonly segmentRows: number;
  /** Shorter skips need no segments, and where a segment has become longer all are made anew. */
  readonly maxSegmentRows: number;
  /** Marks of all ranges together, each some hundred bytes. */
  readonly maxSegments: number;
  /** Changes that are followed at once; after more, all are made anew. */
  readonly maxChanges: number;
}

const defaultLimits: OffsetIndexLimits = {
  segmentRows: 1024,
  maxSegmentRows: 4096,
  maxSegments: 50_000,
  maxChanges: 2000,
};

/** The rows of a range from one mark to the next. */
interface Segment {
  /** The place behind its last row; undefined at the end of the range. */
  readonly end: Cursor | undefined;
  /** How many rows it has, as of `sequence`. */
  count: number;
  /** The change of its kind up to which `count` is right; what the segments as a whole have followed since comes on top. */
  readonly sequence: number;
}

/** What is known of one range in one order. */
interface Segments {
  readonly list: Segment[];
  /** The last change of the kind that was followed. */
  sequence: number;
  /** Whether the log no longer has what followed it, so that all are to be made anew. */
  isLost?: boolean;
}

/** Reads on one snapshot. */
type Read = <T>(body: (session: Session) => Promise<T>) => Promise<T>;

/** Finds places far into ranges. */
export interface OffsetIndex {
  /**
   * Measures what a skip of so many rows needs. To be called outside of any snapshot: it takes many short ones, so that others
   * get their turn.
   */
  prepare<R extends ResourceRow>(collection: Collection<R>, ranges: readonly Range[], skip: number): Promise<void>;
  readonly find: FindCursor;
}

/** Makes them for one database. */
export function newOffsetIndex(read: Read, limits: OffsetIndexLimits = defaultLimits): OffsetIndex {
  const known = new LRUCache<string, Segments>({
    maxSize: limits.maxSegments,
    sizeCalculation: ({ list }) => list.length,
  });
  const measuring = new Map<string, Promise<void>>();

  async function remeasure<R extends ResourceRow>(collection: Collection<R>, range: Range, key: string): Promise<void> {
    const segments = await buildSegments(read, collection, range, limits.segmentRows);
    known.set(key, segments);
  }

  return {
    async prepare(collection, ranges, skip) {
      if (skip < limits.maxSegmentRows) return;
      for (const range of ranges) {
        const key = segmentsKey(collection, range);
        if (key === undefined) continue;
        const latest = await read((session) => lastChangeOfKind(session, collection.kind));
        if (isUsable(known.get(key), limits, latest)) continue;
        let work = measuring.get(key);
        if (!work) {
          work = remeasure(collection, range, key).finally(() => measuring.delete(key));
          measuring.set(key, work);
        }
        await work;
      }
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
  };
}

/** Undefined for what has no segments: how many rows pass a filter or fulfil a condition is not known from changes alone. */
function segmentsKey({ kind }: { kind: string }, { source, filters, condition, order }: Range): string | undefined {
  if (condition || Object.keys(filters).length > 0) return undefined;
  return [kind, entryKeyOf(source), order.field, order.descending ? "desc" : "asc"].join(" ");
}

/** Whether the segments can follow the changes up to the latest, and are still close enough together. */
function isUsable(segments: Segments | undefined, limits: OffsetIndexLimits, latest: number): boolean {
  if (!segments || segments.isLost || latest - segments.sequence > limits.maxChanges) return false;
  return segments.list.every(({ count }) => count <= limits.maxSegmentRows);
}

/** Measures a whole range. Each segment is read on a snapshot of its own, and remembers which changes that one had. */
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
    // SQLite answers within the turn: without this, nobody else would get one until the end of the range.
    await new Promise((resolve) => setImmediate(resolve));
  } while (after);
  return { list, sequence: list[0]!.sequence };
}

/**
 * Brings the segments up to the snapshot of the session, and answers how many rows each segment has there: the segments
 * themselves move on with the next read. Undefined when they are ahead of the snapshot or too far behind.
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
    // Another read may have followed it while this one waited for the database.
    if (change.sequence <= segments.sequence) continue;
    count(segments, change.sequence, change.before as ResourceRow | null, -1, key, order);
    count(segments, change.sequence, change.after as ResourceRow | null, 1, key, order);
  }
  segments.sequence = Math.max(segments.sequence, latest);
  // Another read with a later snapshot may have moved them further meanwhile: they are right for that one.
  return segments.sequence === latest ? countsOf(segments) : undefined;
}

function countsOf({ list }: Segments): number[] {
  return list.map(({ count }) => count);
}

/** Counts a row that came or went, unless the segment was measured after it did. */
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

/** The segment that a place lies in: the first that does not end before it. */
function indexOf(list: readonly Segment[], place: Cursor, order: Order): number {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { end } = list[middle]!;
    if (end && compareCursors(end, place, order) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
