// What is shown of a kind of thing, in whatever format.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../json.ts";

/** One column: its title, and the member that it shows (`role.name`) or how to make its text. */
export interface Column {
  readonly title: string;
  readonly value: string | ((row: JsonObject) => string);
  /** Only in the formats that have room for it. */
  readonly wide?: boolean;
}

/** What a kind of thing looks like. */
export interface View {
  /** In the plural, for "no groups". */
  readonly noun: string;
  readonly columns: readonly Column[];
  /** The member that `-o id` prints; `uid` when absent. */
  readonly id?: string;
}

/** What a column shows of a row, as it is. */
export function cellText(row: JsonObject, value: Column["value"]): string {
  if (typeof value === "function") return value(row);
  return plainText(memberAt(row, value));
}

/** By the first two columns, in which 1.9 comes before 1.10; what is alike there stays in its order. */
export function inOrder({ columns }: View, rows: readonly JsonObject[]): JsonObject[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  return rows
    .map((row) => ({ row, texts: columns.slice(0, 2).map(({ value }) => cellText(row, value)) }))
    .sort((a, b) => compare(a.texts[0] ?? "", b.texts[0] ?? "") || compare(a.texts[1] ?? "", b.texts[1] ?? ""))
    .map(({ row }) => row);
}

/** The member at a path such as `role.name`; undefined when there is none. */
export function memberAt(row: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = row;
  for (const name of path.split(".")) {
    if (!isJsonObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

function plainText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(plainText).join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
