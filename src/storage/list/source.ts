import { childrenKey } from "../schema/entry-keys.ts";

/** A set of rows that is contiguous in some order. */
export type RangeSource =
  /** All descendants of a uid. */
  | { readonly type: "subtree"; readonly uid: string }
  /** The direct children of a uid; for null, the rows without parent. */
  | { readonly type: "children"; readonly uid: string | null };

/** Returns the key of the entries and of the counter of a source. */
export function entryKeyOf(source: RangeSource): string {
  return source.type === "subtree" ? source.uid : childrenKey(source.uid);
}
