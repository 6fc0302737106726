// The sort orders of lists, as the databases sort.

import type { ResourceRow } from "../collection/collection.ts";
import { sortPrefix } from "../schema/ordered-text.ts";

/**
 * The fields that lists can be sorted by. Entries are stored in the order of their fields; by a field of rows, the
 * database sorts the whole range. The name of the role is in another row: see role-order.ts.
 */
export type SortField = EntryField | RowField | "roleName";

/** The fields that rows are sorted by. */
export type RowField = (typeof rowTexts)[number] | PublishedField;

/** The texts among them, of which a prefix is compared. */
const rowTexts = ["aliasText", "sink", "artifactName"] as const;

/** Those in the index `advisories_published`. Rows without a value yet are left out. */
export type PublishedField = (typeof publishedFields)[number];

const publishedFields = ["score", "publishTime"] as const;

/** The fields that entries are sorted by. */
export type EntryField = "uid" | "name" | "createTime" | "updateTime";

/** A sort field and direction. */
export interface Order {
  readonly field: SortField;
  readonly descending: boolean;
}

/** A position between rows: after the row with this uid and this prefix of the sort value. */
export interface Cursor {
  readonly value: string | number;
  readonly uid: string;
}

/** Reports whether rows are sorted by a prefix of a text of theirs, which no entry has. */
export function isRowText(field: SortField): field is (typeof rowTexts)[number] {
  return rowTexts.some((one) => one === field);
}

/** Reports whether rows are sorted by a number in the index `advisories_published`. */
export function isPublished(field: SortField): field is PublishedField {
  return publishedFields.some((one) => one === field);
}

/** Returns the cursor after a row. */
export function cursorOf(row: ResourceRow, field: SortField): Cursor {
  return { value: sortValue(row, field), uid: row.uid };
}

/** Compares two cursors. Equal sort values are ordered by uid, in the same direction. */
export function compareCursors(a: Cursor, b: Cursor, { descending }: Order): number {
  const ascending = compareValues(a.value, b.value) || compareValues(a.uid, b.uid);
  return descending ? -ascending : ascending;
}

function compareValues(a: string | number, b: string | number): number {
  return typeof a === "string" && typeof b === "string" ? compareText(a, b) : Number(a) - Number(b);
}

/** Compares in UTF-8 byte order, which is code point order. `<` compares UTF-16 units, a different order. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Surrogates belong to code points that sort after all single units. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

/** Returns what sorts by the name of a role, then by its uid. Names contain no NUL, which is before all other characters. */
export function roleSortValue(name: string, uid: string): string {
  return `${sortPrefix(name)}\0${uid}`;
}

function sortValue(row: ResourceRow, field: SortField): string | number {
  if (field === "uid") return row.uid;
  if (field === "name") return sortPrefix(row.name ?? "");
  if (isRowText(field)) return sortPrefix(row[field] ?? "");
  if (isPublished(field)) return row[field] ?? 0;
  if (field === "roleName") return roleSortValue(row.roleName ?? "", row.roleUid ?? "");
  return field === "updateTime" ? (row.updateTime ?? row.createTime) : row.createTime;
}
