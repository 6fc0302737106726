// Marks along the big ranges, so that a skip of many rows walks over a thousand of them and not over all. They are kept in
// memory, made when a listing first skips far, and follow the change log.
import { LRUCache } from "lru-cache";
import { latestOfKind, readDifferencesOfKind } from "../change-log/change-log.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { keysOf } from "../schema/entry-keys.ts";
import { type Cursor, compareCursors, cursorOf, type Order } from "./order.ts";
import { countAhead, findPlace, type Range } from "./range.ts";
import type { FindPlace } from "./skip.ts";
import { keyOf } from "./source.ts";

/** Sizes of what is kept and done. */
export interface MilestoneLimits {
  /** Rows from one mark to the next, when they are made. */
  readonly stride: number;
  /** Shorter skips need no marks, and where a stretch has become longer all are made anew. */
  readonly longest: number;
  /** Marks of all ranges together, each some hundred bytes. */
  readonly marks: number;
  /** Changes that are followed at once; after more, all are made anew. */
  readonly changes: number;
}

const defaultLimits: MilestoneLimits = { stride: 1024, longest: 4096, marks: 50_000, changes: 2000 };

/** The rows of a range from one mark to the next. */
interface Stretch {
  /** The place behind its last row; undefined at the end of the range. */
  readonly end: Cursor | undefined;
  /** How many rows it has, as of `sequence`. */
  count: number;
  /** The change of its kind up to which `count` is right; what the marks as a whole have followed since comes on top. */
  readonly sequence: number;
}

/** What is known of one range in one order. */
interface Marks {
  readonly stretches: Stretch[];
  /** The last change of the kind that was followed. */
  sequence: number;
  /** Whether the log no longer has what followed it, so that all are to be made anew. */
  isLost?: boolean;
}

/** Reads on one snapshot. */
type Read = <T>(body: (session: Session) => Promise<T>) => Promise<T>;

/** Finds places far into ranges. */
export interface Milestones {
  /**
   * Measures what a skip of so many rows needs. To be called outside of any snapshot: it takes many short ones, so that others
   * get their turn.
   */
  prepare<R extends ResourceRow>(collection: Collection<R>, ranges: readonly Range[], skip: number): Promise<void>;
  readonly find: FindPlace;
}

/** Makes them for one database. */
export function newMilestones(read: Read, limits: MilestoneLimits = defaultLimits): Milestones {
  const known = new LRUCache<string, Marks>({
    maxSize: limits.marks,
    sizeCalculation: ({ stretches }) => stretches.length,
  });
  const measuring = new Map<string, Promise<void>>();

  async function remeasure<R extends ResourceRow>(collection: Collection<R>, range: Range, key: string): Promise<void> {
    const marks = await measure(read, collection, range, limits.stride);
    known.set(key, marks);
  }

  return {
    async prepare(collection, ranges, skip) {
      if (skip < limits.longest) return;
      for (const range of ranges) {
        const key = keyOfMarks(collection, range);
        if (key === undefined) continue;
        const latest = await read((session) => latestOfKind(session, collection.kind));
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
      const key = keyOfMarks(collection, range);
      const marks = key !== undefined && offset >= limits.stride ? known.get(key) : undefined;
      if (!key || !marks) return await findPlace(session, collection, range, offset);
      const counts = await follow(session, collection, range, marks, limits.changes);
      return counts
        ? await findByMarks(session, collection, range, marks.stretches, counts, offset)
        : await findPlace(session, collection, range, offset);
    },
  };
}

/** Undefined for what has no marks: how many rows pass a filter or fulfil a condition is not known from changes alone. */
function keyOfMarks({ kind }: { kind: string }, { source, filters, condition, order }: Range): string | undefined {
  if (condition || Object.keys(filters).length > 0) return undefined;
  return [kind, keyOf(source), order.field, order.descending ? "desc" : "asc"].join(" ");
}

/** Whether the marks can follow the changes up to the latest, and are still close enough together. */
function isUsable(marks: Marks | undefined, limits: MilestoneLimits, latest: number): boolean {
  if (!marks || marks.isLost || latest - marks.sequence > limits.changes) return false;
  return marks.stretches.every(({ count }) => count <= limits.longest);
}

/** Measures a whole range. Each stretch is read on a snapshot of its own, and remembers which changes that one had. */
async function measure<R extends ResourceRow>(
  read: Read,
  collection: Collection<R>,
  whole: Range,
  stride: number,
): Promise<Marks> {
  const stretches: Stretch[] = [];
  let after: Cursor | undefined;
  do {
    const range: Range = { ...whole, after };
    const stretch = await read(async (session): Promise<Stretch> => {
      const sequence = await latestOfKind(session, collection.kind);
      const end = await findPlace(session, collection, range, stride - 1);
      const count = end ? stride : await countAhead(session, collection, range, undefined);
      return { end, count, sequence };
    });
    stretches.push(stretch);
    after = stretch.end;
    // SQLite answers within the turn: without this, nobody else would get one until the end of the range.
    await new Promise((resolve) => setImmediate(resolve));
  } while (after);
  return { stretches, sequence: stretches[0]!.sequence };
}

/**
 * Brings the marks up to the snapshot of the session, and answers how many rows each stretch has there: the marks
 * themselves move on with the next read. Undefined when they are ahead of the snapshot or too far behind.
 */
async function follow<R extends ResourceRow>(
  session: Session,
  { kind }: Collection<R>,
  { source, order }: Range,
  marks: Marks,
  most: number,
): Promise<readonly number[] | undefined> {
  const latest = await latestOfKind(session, kind);
  if (latest === marks.sequence) return countsOf(marks);
  if (latest < marks.sequence || latest - marks.sequence > most) return undefined;
  const changes = await readDifferencesOfKind(session, kind, marks.sequence, most);
  if (!changes) {
    marks.isLost = true;

    return undefined;
  }
  const key = keyOf(source);
  for (const change of changes) {
    // Another read may have followed it while this one waited for the database.
    if (change.sequence <= marks.sequence) continue;
    count(marks, change.sequence, change.before as ResourceRow | null, -1, key, order);
    count(marks, change.sequence, change.after as ResourceRow | null, 1, key, order);
  }
  marks.sequence = Math.max(marks.sequence, latest);
  // Another read with a later snapshot may have moved them further meanwhile: they are right for that one.
  return marks.sequence === latest ? countsOf(marks) : undefined;
}

function countsOf({ stretches }: Marks): number[] {
  return stretches.map(({ count }) => count);
}

/** Counts a row that came or went, unless the stretch was measured after it did. */
function count(
  { stretches }: Marks,
  sequence: number,
  row: ResourceRow | null,
  difference: 1 | -1,
  key: string,
  order: Order,
): void {
  if (!row || !keysOf(row).includes(key)) return;
  const stretch = stretches[indexOf(stretches, cursorOf(row, order.field), order)]!;
  if (sequence > stretch.sequence) stretch.count += difference;
}

async function findByMarks<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
  stretches: readonly Stretch[],
  counts: readonly number[],
  offset: number,
): Promise<Cursor | undefined> {
  const { after, order } = range;
  let at = after ? indexOf(stretches, after, order) : 0;
  const ahead = after ? await countAhead(session, collection, range, stretches[at]!.end) : counts[0]!;
  if (offset < ahead) return await findPlace(session, collection, range, offset);
  let left = offset - ahead;
  for (at++; at < counts.length && left >= counts[at]!; at++) left -= counts[at]!;
  if (at >= counts.length) return undefined;
  return await findPlace(session, collection, { ...range, after: stretches[at - 1]!.end }, left);
}

/** The stretch that a place lies in: the first that does not end before it. */
function indexOf(stretches: readonly Stretch[], place: Cursor, order: Order): number {
  let low = 0;
  let high = stretches.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { end } = stretches[middle]!;
    if (end && compareCursors(end, place, order) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
