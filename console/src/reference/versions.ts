/** The documents of each version of the API. */
export const versions = {
  current: ["v2beta1", "gatehouse", "auth"],
  v2: ["v2"],
  v1: ["v1"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Version = keyof typeof versions;
