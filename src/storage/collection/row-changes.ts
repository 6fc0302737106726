// What an update changes.
import { isDeepStrictEqual } from "node:util";
import type { ResourceRow } from "./collection.ts";

/** The time of an update that is made at this time: neither before the last one nor before the creation. */
export function laterUpdate({ createTime, updateTime = createTime }: ResourceRow, time: number): number {
  return Math.max(createTime, updateTime, time);
}

/** The columns in which two states of a row differ, without the update time. */
export function changedColumns<R extends ResourceRow>(before: R, after: R): string[] {
  const known = before as unknown as Record<string, unknown>;
  return Object.entries(after)
    .filter(([column, value]) => column !== "updateTime" && !isSameValue(known[column], value))
    .map(([column]) => column);
}

/** Whether two values of a column are stored as the same; of JSON a database may change the order of members. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}
