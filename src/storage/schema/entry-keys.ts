import { ancestorsOf } from "../../model/uid.ts";

/** The keys a row is entered under: one for each ancestor, and one for the children of its parent. */
export function keysOf(row: { readonly uid: string; readonly parent: string | null }): string[] {
  return [...ancestorsOf(row.uid), childrenKey(row.parent)];
}

/** The key of the direct children of a uid; of the rows without parent for null. */
export function childrenKey(parent: string | null): string {
  return `${parent ?? ""}/*`;
}

/** The uid that a key is of, whether it is the key of all that lies below or of the children alone. */
export function uidOfKey(key: string): string {
  return key.endsWith("/*") ? key.slice(0, -2) : key;
}
