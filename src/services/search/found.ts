import type { ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";

/** How many rows one search reads to compare them with the words of the query, for each kind. */
export const readAtMost = 200;

/** A resource or person that was found, without the path. */
export interface Found {
  readonly kind: ResourceKind;
  /** Empty for packages, which have none. */
  readonly uid: string;
  readonly name: string;
  readonly description?: string;
  readonly email?: string;
  readonly isYou?: boolean;
}

/** The results of one kind, and whether there may be more. */
export interface FoundRows {
  readonly found: readonly Found[];
  readonly truncated: boolean;
}

/** Orders by name, then by uid. */
export function compareNames(a: Found, b: Found): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.uid < b.uid ? -1 : 1;
}

/** Returns results with those first whose whole name or address is the text, which is in lower case. Their order stays otherwise. */
export function exactFirst(found: readonly Found[], text: string): Found[] {
  const isExact = ({ name, email }: Found) => [name, email].some((each) => each?.toLowerCase() === text);
  return [...found.filter(isExact), ...found.filter((one) => !isExact(one))];
}

/** Returns what several ways have found, each once, in their order. */
export function together(...ways: readonly FoundRows[]): FoundRows {
  const byUid = new Map<string, Found>();
  for (const { found } of ways) for (const one of found) if (!byUid.has(keyOf(one))) byUid.set(keyOf(one), one);
  return { found: [...byUid.values()], truncated: ways.some(({ truncated }) => truncated) };
}

/** Packages have no uid. */
function keyOf({ uid, name }: Found): string {
  return uid === "" ? name : uid;
}

/** Returns the first of what was found, and whether there is more. */
export function firstOf({ found, truncated }: FoundRows, limit: number): FoundRows {
  return { found: found.slice(0, limit), truncated: truncated || found.length > limit };
}
