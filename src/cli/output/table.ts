// Tables for people. Cells are texts of others: nothing in them may reach the terminal as an instruction.
import type { JsonObject } from "@bufbuild/protobuf";
import stringWidth from "string-width";
import { printable } from "../shell.ts";
import { type Column, cellText } from "./view.ts";

const gap = "   ";

/** Columns under their titles; empty without rows. */
export function tableText(columns: readonly Column[], rows: readonly JsonObject[]): string {
  if (rows.length === 0) return "";
  const cells = rows.map((row) => columns.map(({ value }) => printable(cellText(row, value))));
  return alignedText([columns.map(({ title }) => title.toUpperCase()), ...cells]);
}

/** Lines whose cells stand under each other; a wide character counts for two. */
export function alignedText(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map((line) => stringWidth(line[i] ?? ""))));
  const pad = (cell: string, i: number) => cell + " ".repeat((widths[i] ?? 0) - stringWidth(cell));
  return lines.map((line) => `${line.map(pad).join(gap).trimEnd()}\n`).join("");
}
