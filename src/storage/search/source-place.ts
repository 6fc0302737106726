import type { TextQuery } from "../list/text-search.ts";

/** How much longer the uid of a child is: a slash and 16 characters. */
const segmentLength = 17;

/** How long the uids of a source are: those of direct children have one segment more. Null where they are of any length. */
export function childLength({ type, uid }: TextQuery["source"]): number | null {
  return type === "children" ? uid.length + segmentLength : null;
}
