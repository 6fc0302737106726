// The entity tag of a row: equal tags mean equal resources, in every protocol and version of the API.
import { hash } from "node:crypto";
import { memoizeByObject } from "../../base/lazy.ts";
import { memoizeFrozen } from "../../base/memoize-frozen.ts";
import type { Collection, ResourceRow } from "./collection.ts";

/**
 * Returns the strong entity tag of a row (RFC 9110 §8.8.3): 22 characters in quotes. Columns that no response shows, and those whose
 * changes are not logged, do not count.
 *
 * It is not made from the change log, whose tracker knows the last change of a kind only.
 */
export function rowTag<R extends ResourceRow>(collection: Collection<R>, row: R): string {
  return taggerOf(collection)(row).tag;
}

const taggerOf = memoizeByObject(({ kind, internal = [], unloggedColumns = [] }: Collection<never>) => {
  const hidden: ReadonlySet<string> = new Set([...internal, ...unloggedColumns]);
  return memoizeFrozen((row: ResourceRow) => {
    // A column without a value may be absent from a row that was just written.
    const columns = Object.entries(row).filter(([column, value]) => !hidden.has(column) && value != null);
    const text = JSON.stringify([kind, Object.fromEntries(columns)], sortMembers);
    return { tag: `"${hash("sha256", text, "base64url").slice(0, 22)}"` };
  });
});

/** Written rows have their columns, and changed rows the members of JSON, in another order than rows that were read. */
function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
