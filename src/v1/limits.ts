// Limits of version 1, whose lists have no pages. Lengths are in UTF-16 code units.

export const v1Limits = {
  /** Items of a list. */
  v1ListItems: 10_000,
  /** Length of all texts in a list: more than the largest number of groups needs. */
  v1ListLength: 32 * 1024 * 1024,
  /** Length of all readmes in a list. */
  v1ListReadmes: 16 * 1024 * 1024,
} as const;
