import type { JsonObject } from "@bufbuild/protobuf";
import { stringify } from "csv-stringify/sync";
import { escapeCell } from "../escape.ts";
import { type Column, cellText } from "./view.ts";

/**
 * RFC 4180 with all columns, and titles in the first line unless disabled. Cells that a spreadsheet would run as a
 * formula get an apostrophe, and cells with a separator of some locale get quotes (OWASP, CSV Injection).
 */
export function csvText(columns: readonly Column[], rows: readonly JsonObject[], hasHeaders: boolean): string {
  const titles = columns.map(({ title }) => title.toLowerCase().replaceAll(" ", "_"));
  const cells = rows.map((row) => columns.map(({ value }) => neutralCell(cellText(row, value))));
  return stringify([...(hasHeaders ? [titles] : []), ...cells], { escape_formulas: true, quoted_match: /[;\t]/ });
}

/** The library adds the apostrophe before all other characters that start a formula. */
function neutralCell(text: string): string {
  return text.startsWith("\n") ? `'${escapeCell(text)}` : escapeCell(text);
}
