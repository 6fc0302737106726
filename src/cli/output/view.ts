// The declaration of a resource's output: columns, fields and names.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";

/** A column: its title, and the member that it shows (`role.name`) or a function that returns its text. */
export interface Column {
  readonly title: string;
  readonly value: string | ((row: JsonObject) => string);
  /** Shown in wide formats only. */
  readonly wide?: boolean;
  /** The member that the function formats; `describe` does not show it again. */
  readonly member?: string;
  /** Whether `describe` shows the column; false if it shows the member in full. Defaults to true. */
  readonly inDetails?: boolean;
}

/** The view of a kind of resource. */
export interface View {
  /** In the plural, for "no groups". */
  readonly noun: string;
  readonly columns: readonly Column[];
  /** The member that `-o id` prints. Defaults to `uid`. */
  readonly id?: string;
  /** Returns the output of `-o name`; empty if the row has no name. Defaults to the member `name`. */
  readonly nameOf?: (row: JsonObject) => string;
  /** Reports whether these resources can have a field, by its path. By default, fields that are present. */
  readonly hasField?: (path: string) => boolean;
}

/** Returns the text of a column, unescaped. */
export function cellText(row: JsonObject, value: Column["value"]): string {
  if (typeof value === "function") return value(row);
  return plainText(memberAt(row, value));
}

/** Returns the member at a path such as `role.name`, or undefined. */
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
