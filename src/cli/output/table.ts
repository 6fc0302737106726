// Tables for people. Cells are texts of others: nothing in them may reach the terminal as an instruction.
import type { JsonObject } from "@bufbuild/protobuf";
import stringWidth from "string-width";
import { printable } from "../escape.ts";
import { type Column, cellText } from "./view.ts";

const gap = "   ";

/**
 * Columns under their titles, unless those are not wanted; empty without rows. `widths` are the least that the columns have, and
 * grow to what they have here.
 */
export function tableText(
  columns: readonly Column[],
  rows: readonly JsonObject[],
  hasHeaders = true,
  widths: number[] = [],
): string {
  if (rows.length === 0) return "";
  const cells = rows.map((row) => columns.map(({ value }) => printable(cellText(row, value))));
  const titles = columns.map(({ title }) => printable(title.toUpperCase()));
  return alignedText(hasHeaders ? [titles, ...cells] : cells, widths);
}

/** Lines whose cells stand under each other; a wide character counts for two. `widths` as for tables. */
export function alignedText(lines: readonly (readonly string[])[], widths: number[] = []): string {
  for (const line of lines)
    for (const [i, cell] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, stringWidth(cell));
  const pad = (cell: string, i: number) => cell + " ".repeat((widths[i] ?? 0) - stringWidth(cell));
  return lines.map((line) => `${line.map(pad).join(gap).trimEnd()}\n`).join("");
}
