// AIP-158: how many results a page has, and how many are skipped before it.
import { textLength } from "./text-length.ts";
import type { Violations } from "./violations.ts";

/** How many items a page has when the request does not say. */
export const defaultPageSize = 50;
/** The most items of a page, whatever the request says. */
export const maxPageSize = 200;

/**
 * What the texts of a page may add up to, in UTF-16 units. In protobuf ASCII takes no more bytes, names of members make up for
 * numbers and tags: a page stays below the 4 MiB that clients of gRPC take unless they are told otherwise.
 */
const maxPageLength = 4_000_000;

/** The effective page size: 50 when none is asked for, never more than 200. Negative sizes are violations. */
export function effectivePageSize(asked: number, violations: Violations): number {
  if (asked < 0) violations.add("page_size", "must not be negative");
  return asked === 0 ? defaultPageSize : Math.min(asked, maxPageSize);
}

/** The skip of a request. Negative ones are violations. */
export function effectiveSkip(asked: number, violations: Violations): number {
  if (asked < 0) violations.add("skip", "must not be negative");
  return asked;
}

/**
 * How many of the first items fit into one page, by their texts: one at least, so that every page gets further. The bound
 * for rows that are as large as they may be, such as identities with many claims.
 */
export function countFitting(items: readonly unknown[]): number {
  let [count, length] = [0, 0];
  for (const item of items) {
    length += textLength(item);
    if (count > 0 && length > maxPageLength) break;
    count++;
  }
  return count;
}
