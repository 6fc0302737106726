/** Texts of the identities of workloads. */
export const texts = {
  "workloads.list": "Identities of workloads",
} as const;
