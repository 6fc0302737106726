// Features of tables on a terminal only: highlighted titles, and the ages of resources.
import { styleText } from "node:util";
import type { Shell } from "../shell.ts";
import { type Column, memberAt, type View } from "./view.ts";

/** Returns the columns of a table. On a terminal, resources with a time of creation also have their age. */
export function tableColumns({ stdout }: Shell, { columns }: View): readonly Column[] {
  const shown = columns.filter(({ wide }) => !wide);
  const hasAge = stdout.isTTY === true && columns.some(({ value, wide }) => wide && value === "createTime");
  return hasAge ? [...shown, ageColumn(Date.now())] : shown;
}

/** Returns a table with bold titles on a terminal, and unchanged elsewhere or where Node has no styles: with NO_COLOR or CI. */
export function withBoldTitles({ stdout }: Shell, table: string): string {
  const end = table.indexOf("\n");
  return end < 0 ? table : styleText("bold", table.slice(0, end), { stream: stdout }) + table.slice(end);
}

function ageColumn(now: number): Column {
  return { title: "age", value: (row) => ageText(now - Date.parse(String(memberAt(row, "createTime") ?? ""))) };
}

const units = [
  ["y", 365 * 24 * 60 * 60],
  ["d", 24 * 60 * 60],
  ["h", 60 * 60],
  ["m", 60],
  ["s", 1],
] as const;

/** Returns an age in its largest unit, such as 3d, from milliseconds. Days are counted up to two years. Empty if it is not a number. */
export function ageText(ms: number): string {
  if (Number.isNaN(ms)) return "";
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [unit, size] = units.find(([name, size]) => seconds >= (name === "y" ? 2 : 1) * size) ?? ["s", 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
