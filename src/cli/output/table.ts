// Tables. Cells contain untrusted text, so everything is escaped for the terminal.
import type { JsonObject } from "@bufbuild/protobuf";
import { printable } from "../escape.ts";
import { type Column, cellText } from "./view.ts";

const gap = "   ";

/**
 * Returns a table with titles unless disabled; empty without rows. `widths` are minimum column widths, and grow to the
 * widths used here.
 */
export async function tableText(
  columns: readonly Column[],
  rows: readonly JsonObject[],
  hasHeaders = true,
  widths: number[] = [],
): Promise<string> {
  if (rows.length === 0) return "";
  const cells = rows.map((row) => columns.map(({ value }) => printable(cellText(row, value))));
  const titles = columns.map(({ title }) => printable(title.toUpperCase()));
  return await alignedText(hasHeaders ? [titles, ...cells] : cells, widths);
}

/** Returns aligned lines. Wide characters count as two columns. `widths` as in `tableText`. */
export async function alignedText(lines: readonly (readonly string[])[], widths: number[] = []): Promise<string> {
  const widthOf = await widthOfTexts(lines.flat());
  for (const line of lines) for (const [i, cell] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
  const pad = (cell: string, i: number) => cell + " ".repeat((widths[i] ?? 0) - widthOf(cell));
  return lines.map((line) => `${line.map(pad).join(gap).trimEnd()}\n`).join("");
}

/** Returns the function for the widths of these texts. string-width takes almost as long to load as Node, and ASCII needs none. */
async function widthOfTexts(texts: readonly string[]): Promise<(text: string) => number> {
  if (texts.every((text) => /^[ -~]*$/.test(text))) return (text) => text.length;
  return (await import("string-width")).default;
}
