/** Limits of an apply. */
export const applyLimits = {
  /** The maximum number of resources in a request. Its size has the limit of all requests. */
  requestResources: 10_000,
  /** The maximum number of stored resources of one kind that a request is compared with. */
  storedResources: 20_000,
  /** How many creations run at the same time on PostgreSQL. */
  concurrentCreations: 200,
} as const;
