import { failedPrecondition } from "../../aip/errors.ts";

/** Limits of an apply. */
export const applyLimits = {
  /** The maximum number of resources in a request. Its size has the limit of all requests. */
  requestResources: 10_000,
  /** The maximum number of resources that a request creates, updates and deletes. */
  changes: 10_000,
  /** More changes than this are a large write: on SQLite, one at a time, with a pause for other writes after each. */
  smallChanges: 1_000,
  /** The maximum number of stored resources of one kind that a request is compared with. */
  storedResources: 20_000,
  /** How many creations or deletions run at the same time on PostgreSQL. */
  concurrentCalls: 200,
} as const;

/** Throws TOO_MANY_RESOURCES if a request changes more resources than one transaction should: on SQLite others wait for it. */
export function requireFewChanges(count: number, groupUid: string): void {
  if (count > applyLimits.changes)
    throw failedPrecondition(
      "TOO_MANY_RESOURCES",
      `the request changes ${count} resources, and may change ${applyLimits.changes}; make one for each subgroup`,
      groupUid,
    );
}
