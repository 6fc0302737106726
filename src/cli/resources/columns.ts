// Columns that several kinds of resource share.
import type { JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import type { Column } from "../output/view.ts";

export const uid: Column = { title: "uid", value: "uid" };
export const name: Column = { title: "name", value: "name" };
export const description: Column = { title: "description", value: "description" };
export const created: Column = { title: "created", value: "createTime", wide: true };
export const updated: Column = { title: "updated", value: "updateTime", wide: true };

/** Returns a column with a duration as flags take it: `2h` for 7200s. */
export function lasting(title: string, member: string, options: Pick<Column, "wide"> = {}): Column {
  return { title, member, value: (row) => durationText(row[member]), ...options };
}

/** Returns a duration of the JSON in the largest unit that leaves no rest: `90m` for 5400s. */
export function durationText(duration: JsonValue | undefined): string {
  const [, count] = /^(\d+)s$/.exec(String(duration ?? "")) ?? [];
  if (count === undefined) return String(duration ?? "");
  const seconds = Number(count);
  const [unit, length] = units.find(([, each]) => seconds > 0 && seconds % each === 0) ?? ["s", 1];
  return `${seconds / length}${unit}`;
}

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
] as const;

/** Returns the name of a reference, or its uid if the name is not visible. */
export function nameOrUid(reference: JsonValue | undefined): string {
  if (!isJsonObject(reference)) return "";
  return String(reference.name ?? reference.uid ?? "");
}
