// Sorts and limits a list.
import type { JsonObject } from "@bufbuild/protobuf";
import { unknownValue } from "../failure.ts";
import { type Column, cellText, type View } from "./view.ts";

/** The values of `--sort` and `--limit`. */
export interface Arrangement {
  /** A column or a field; the suffix `:desc` reverses the order. */
  readonly sort?: string | undefined;
  readonly limit?: number | undefined;
}

let collator: Intl.Collator | undefined;

/** Natural order: 1.9 comes before 1.10. */
function compareNatural(a: string, b: string): number {
  collator ??= new Intl.Collator("en", { numeric: true });
  return collator.compare(a, b);
}

/** Sorts by the first two columns in natural order. Equal rows keep their order. */
export function inOrder({ columns }: View, rows: readonly JsonObject[]): JsonObject[] {
  return rows
    .map((row) => ({ row, texts: columns.slice(0, 2).map(({ value }) => cellText(row, value)) }))
    .sort(
      (a, b) =>
        compareNatural(a.texts[0] ?? "", b.texts[0] ?? "") || compareNatural(a.texts[1] ?? "", b.texts[1] ?? ""),
    )
    .map(({ row }) => row);
}

/** Returns the rows in the requested order, or unchanged. Wrong usage for an unknown field. */
export function sorted(view: View, rows: readonly JsonObject[], sort: string | undefined): readonly JsonObject[] {
  if (sort === undefined) return rows;
  const [, field = "", direction] = /^(.*?)(?::(asc|desc))?$/.exec(sort) ?? [];
  const value = fieldOf(view, rows, field);
  const sign = direction === "desc" ? -1 : 1;
  return rows
    .map((row) => ({ row, text: cellText(row, value) }))
    .sort((a, b) => compareTexts(a.text, b.text, sign))
    .map(({ row }) => row);
}

/** Empty values come last in both directions. Times of different precision cannot be compared as texts. */
function compareTexts(a: string, b: string, sign: number): number {
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  const times = isTime(a) && isTime(b) ? Date.parse(a) - Date.parse(b) : 0;
  return sign * (times || compareNatural(a, b));
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text);
}

/** Finds a column by its title, such as `last-seen` for "last seen", or a field by its path, such as `oidc.issuer`. */
function fieldOf(view: View, rows: readonly JsonObject[], field: string): Column["value"] {
  const column = view.columns.find(
    ({ title }) => title.replaceAll(" ", "-") === field.toLowerCase().replace(/[ _]/g, "-"),
  );
  if (column) return column.value;
  if (field !== "" && (view.hasField?.(field) ?? rows.some((row) => cellText(row, field) !== ""))) return field;
  const titles = view.columns.map(({ title }) => title.replaceAll(" ", "-"));
  const message = `--sort: ${view.noun} have no field ${JSON.stringify(field)}`;
  throw unknownValue(message, field, titles, `Columns are ${titles.join(", ")}.`);
}
