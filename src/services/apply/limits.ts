/** Limits of an apply. */
export const applyLimits = {
  /** The maximum number of resources in a request. Its size has the limit of all requests. */
  resources: 10_000,
  /** The maximum number of stored resources of one kind that a request is compared with. */
  stored: 20_000,
  /** How many creations run at the same time on PostgreSQL. */
  together: 200,
} as const;
