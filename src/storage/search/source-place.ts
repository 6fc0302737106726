import { depthOf } from "../../model/uid.ts";
import type { TextQuery } from "../list/text-search.ts";

/** How long the uids of a source are; null where they are of any length. The uids of direct children have one segment more. */
export function childLength({ type, uid }: TextQuery["source"]): number | null {
  return type === "children" ? lengthOfDepth(depthOf(uid) + 1) : null;
}

function lengthOfDepth(depth: number): number {
  return 40 + 17 * (depth - 1);
}
