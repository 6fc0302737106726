// Computes what an update changes.
import { isDeepStrictEqual } from "node:util";
import type { ResourceRow } from "./collection.ts";

/** Returns the time of an update at `time`: never before the previous update or the creation. */
export function laterUpdate({ createTime, updateTime = createTime }: ResourceRow, time: number): number {
  return Math.max(createTime, updateTime, time);
}

/** Returns the columns in which two states of a row differ, without the update time. */
export function changedColumns<R extends ResourceRow>(before: R, after: R): string[] {
  const known = before as unknown as Record<string, unknown>;
  return Object.entries(after)
    .filter(([column, value]) => column !== "updateTime" && !isSameValue(known[column], value))
    .map(([column]) => column);
}

/** Returns whether two values are stored as the same. A database may reorder the members of JSON objects. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}
