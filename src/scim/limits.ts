/** Limits of provisioning by SCIM. Lengths are in UTF-16 units. */
export const scimLimits = {
  /** The maximum size of a request body. */
  bodyBytes: 1024 * 1024,
  /** The maximum number of operations of a PATCH. */
  operations: 1_000,
  /** The maximum length of a filter and of the path of an operation, and the maximum number of comparisons in one. */
  filterLength: 2_000,
  filterTerms: 50,
  /** The maximum number of comparisons in all filters of a PATCH of a user. */
  patchTerms: 1_000,
  /** The number of resources in a response: by default, and at most. */
  defaultCount: 100,
  maxCount: 500,
  /** The maximum number of users, and of groups, that are compared with conditions no index can answer. */
  scannedRows: 10_000,
  /** The maximum length of userName, externalId and displayName, which are indexed, and of other attributes. */
  indexedLength: 512,
  textLength: 2_048,
  /** The maximum number of values of an attribute, such as e-mail addresses. */
  values: 50,
  /** The maximum length of all attributes of a user, as JSON: a list has up to 500 users. */
  userLength: 65_536,
  users: 200_000,
  groups: 10_000,
  membersOfGroup: 50_000,
  /** The maximum number of members, and of groups of users, in the response to a list; the page ends before more. */
  membersOfPage: 20_000,
  /** The response to a PATCH of a group with more members than this has no content. */
  membersOfPatch: 1_000,
  /** How many of the members that a request adds or removes the change log names. */
  loggedMembers: 100,
} as const;
