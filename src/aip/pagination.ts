// AIP-158: page size and skip.
import { textLength } from "./text-length.ts";
import type { Violations } from "./violations.ts";

/** The page size if the request has none. */
export const defaultPageSize = 50;
/** The maximum page size. */
export const maxPageSize = 200;

/**
 * The maximum total length of the texts on a page, in UTF-16 units. ASCII takes no more bytes in protobuf, and member
 * names make up for numbers and tags, so a page stays below 4 MiB, the default limit of gRPC clients.
 */
const maxPageLength = 4_000_000;

/** Returns the page size: 50 by default, at most 200. Adds a violation for a negative one. */
export function effectivePageSize(asked: number, violations: Violations): number {
  if (asked < 0) violations.add("page_size", "must not be negative");
  return asked === 0 ? defaultPageSize : Math.min(asked, maxPageSize);
}

/** Returns the skip of a request. Adds a violation for a negative one. */
export function effectiveSkip(asked: number, violations: Violations): number {
  if (asked < 0) violations.add("skip", "must not be negative");
  return asked;
}

/**
 * Returns how many of the first items fit on a page by the length of their texts. At least one, so every page makes
 * progress. This limits pages of very large rows, such as identities with many claims.
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
