import type { TextQuery } from "../list/text-search.ts";

/** The length that each level adds to a uid: a slash and 16 characters. */
const segmentLength = 17;

/** Returns the length of the uids in a source: those of direct children have one segment more. Null if the length varies. */
export function childLength({ type, uid }: TextQuery["source"]): number | null {
  return type === "children" ? uid.length + segmentLength : null;
}
