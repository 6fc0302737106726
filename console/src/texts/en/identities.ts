/** Texts that the tabs of the identities have in common. */
export const texts = {
  "identities.title": "Identities",
  "identities.tabs": "Kinds of identities",
  "identities.workloads": "Workloads",
} as const;
