// The orders that a listing can have, as the databases have them.

import type { ResourceRow } from "../collection/collection.ts";
import { sortPrefix } from "../schema/ordered-text.ts";

/**
 * The fields that listings can be sorted by. All but the last are columns of the entries; by the aliases of advisories the
 * whole range is sorted.
 */
export type SortField = EntryField | "aliasText";

/** Those that entries are sorted by. */
export type EntryField = "uid" | "name" | "createTime" | "updateTime";

/** A field, and the direction. */
export interface Order {
  readonly field: SortField;
  readonly descending: boolean;
}

/** A place between rows: behind the one with this value of the sort field, as far as it counts, and this uid. */
export interface Cursor {
  readonly value: string | number;
  readonly uid: string;
}

/** The place behind a row. */
export function cursorOf(row: ResourceRow, field: SortField): Cursor {
  return { value: sortValue(row, field), uid: row.uid };
}

/** Compares two places in an order. Ties of the sort field are broken by uid, in the same direction. */
export function compareCursors(a: Cursor, b: Cursor, { descending }: Order): number {
  const ascending = compareValues(a.value, b.value) || compareValues(a.uid, b.uid);
  return descending ? -ascending : ascending;
}

function compareValues(a: string | number, b: string | number): number {
  return typeof a === "string" && typeof b === "string" ? compareText(a, b) : Number(a) - Number(b);
}

/** Compares in the byte order of UTF-8, which is that of code points. `<` compares UTF-16 units, a different order. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Surrogates stand for code points that come after all that are one unit long. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

function sortValue(row: ResourceRow, field: SortField): string | number {
  if (field === "uid") return row.uid;
  if (field === "name") return sortPrefix(row.name ?? "");
  if (field === "aliasText") return sortPrefix(row.aliasText ?? "");
  return field === "updateTime" ? (row.updateTime ?? row.createTime) : row.createTime;
}
