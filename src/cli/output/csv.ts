import type { JsonObject } from "@bufbuild/protobuf";
import { stringify } from "csv-stringify/sync";
import { escapeCell } from "../escape.ts";
import { type Column, cellText } from "./view.ts";

/**
 * RFC 4180, all columns, titles in the first line unless they are not wanted. A cell that a spreadsheet would run as a formula gets an
 * apostrophe, and one with a separator of some locale gets quotes (OWASP, CSV Injection).
 */
export function csvText(columns: readonly Column[], rows: readonly JsonObject[], hasHeaders: boolean): string {
  const titles = columns.map(({ title }) => title.toLowerCase().replaceAll(" ", "_"));
  const cells = rows.map((row) => columns.map(({ value }) => neutralCell(cellText(row, value))));
  return stringify([...(hasHeaders ? [titles] : []), ...cells], { escape_formulas: true, quoted_match: /[;\t]/ });
}

/** The library adds the apostrophe before every other character that begins a formula. */
function neutralCell(text: string): string {
  return text.startsWith("\n") ? `'${escapeCell(text)}` : escapeCell(text);
}
