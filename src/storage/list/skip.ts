// Skips many rows in several sorted ranges at once, without reading them.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { type Cursor, compareCursors } from "./order.ts";
import type { cursorAtOffset, Range } from "./range.ts";

/** Up to this many rows are faster to read than to skip: in total, or per range. */
const readThrough = { total: 100, perRange: 4 };

/** Returns the cursor of the row at an offset after the cursor of a range, or undefined if there are fewer rows. */
export type FindCursor = typeof cursorAtOffset;

/** Ranges after a skip, and how many rows were skipped. */
export interface Skipped {
  readonly ranges: readonly Range[];
  readonly count: number;
}

/**
 * Moves ranges past nearly the first `skip` rows of their common order. Returns undefined if there are fewer rows.
 *
 * Take the row at offset n of each of the k ranges, with k * n < skip. The first of these k rows in the order has at
 * most k * n rows before it. So it, and the n rows before it in its own range, can be skipped.
 */
export async function skipRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  ranges: readonly Range[],
  skip: number,
  find: FindCursor,
): Promise<Skipped | undefined> {
  const moved = [...ranges];
  let left = skip;
  while (moved.length > 0 && left > Math.max(readThrough.total, readThrough.perRange * moved.length)) {
    const offset = Math.floor((left - 1) / (moved.length === 1 ? 1 : 2 * moved.length));
    const cursors: (Cursor | undefined)[] = [];
    for (const range of moved) cursors.push(await find(session, collection, range, offset));
    while (moved.length * offset < left) {
      const first = firstCursor(cursors, ranges[0]!.order);
      if (first === undefined) return undefined;
      moved[first] = { ...moved[first]!, after: cursors[first] };
      left -= offset + 1;
      cursors[first] = await find(session, collection, moved[first], offset);
    }
  }
  return { ranges: moved, count: skip - left };
}

/** Returns the index of the first cursor in the order, or undefined if there is none. */
function firstCursor(cursors: readonly (Cursor | undefined)[], order: Range["order"]): number | undefined {
  let first: number | undefined;
  cursors.forEach((cursor, i) => {
    const best = first === undefined ? undefined : cursors[first];
    if (cursor && (!best || compareCursors(cursor, best, order) < 0)) first = i;
  });
  return first;
}
