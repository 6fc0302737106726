// What is shown of a kind of thing, in whatever format.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";

/** One column: its title, and the member that it shows (`role.name`) or how to make its text. */
export interface Column {
  readonly title: string;
  readonly value: string | ((row: JsonObject) => string);
  /** Only in the formats that have room for it. */
  readonly wide?: boolean;
  /** The member that a function makes its text of, which `describe` then does not show once more. */
  readonly member?: string;
  /** Whether `describe` has it: not where it shows the member in full. True when absent. */
  readonly inDetails?: boolean;
}

/** What a kind of thing looks like. */
export interface View {
  /** In the plural, for "no groups". */
  readonly noun: string;
  readonly columns: readonly Column[];
  /** The member that `-o id` prints; `uid` when absent. */
  readonly id?: string;
  /** Whether its things can have a field, by its path; those fields that are there when absent. */
  readonly hasField?: (path: string) => boolean;
}

/** What a column shows of a row, as it is. */
export function cellText(row: JsonObject, value: Column["value"]): string {
  if (typeof value === "function") return value(row);
  return plainText(memberAt(row, value));
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
