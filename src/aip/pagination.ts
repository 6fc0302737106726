// AIP-158: how many results a page has, and how many are skipped before it.
import type { Violations } from "./violations.ts";

export const defaultPageSize = 50;
export const maximumPageSize = 200;

/** The effective page size: 50 when none is asked for, never more than 200. Negative sizes are violations. */
export function effectivePageSize(asked: number, violations: Violations): number {
  if (asked < 0) violations.add("page_size", "must not be negative");
  return asked === 0 ? defaultPageSize : Math.min(asked, maximumPageSize);
}

/** The skip of a request. Negative ones are violations. */
export function effectiveSkip(asked: number, violations: Violations): number {
  if (asked < 0) violations.add("skip", "must not be negative");
  return asked;
}
