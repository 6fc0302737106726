import { ancestorsOf } from "../../model/uid.ts";

/** Returns the keys of a row's entries: one for each ancestor, and one for the children of its parent. */
export function keysOf(row: { readonly uid: string; readonly parent: string | null }): string[] {
  return [...ancestorsOf(row.uid), childrenKey(row.parent)];
}

/** Returns the key of the direct children of a uid; for null, of the rows without parent. */
export function childrenKey(parent: string | null): string {
  return `${parent ?? ""}/*`;
}

/** Returns the uid of a key, whether of a whole subtree or of the children only. */
export function uidOfKey(key: string): string {
  return key.endsWith("/*") ? key.slice(0, -2) : key;
}
