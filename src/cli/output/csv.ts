import type { JsonObject } from "@bufbuild/protobuf";
import { stringify } from "csv-stringify/sync";
import { type Column, cellText } from "./view.ts";

/** RFC 4180, all columns, titles in the first line. A cell that a spreadsheet would run as a formula gets an apostrophe. */
export function csvText(columns: readonly Column[], rows: readonly JsonObject[]): string {
  const header = columns.map(({ title }) => title.toLowerCase().replaceAll(" ", "_"));
  const cells = rows.map((row) => columns.map(({ value }) => cellText(row, value)));
  return stringify([header, ...cells], { escape_formulas: true });
}
