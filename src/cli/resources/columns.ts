// Columns that several kinds of resource share.
import type { JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import type { Column } from "../output/view.ts";

export const uid: Column = { title: "uid", value: "uid" };
export const name: Column = { title: "name", value: "name" };
export const description: Column = { title: "description", value: "description" };
export const created: Column = { title: "created", value: "createTime", wide: true };
export const updated: Column = { title: "updated", value: "updateTime", wide: true };

/** Returns the name of a reference, or its uid if the name is not visible. */
export function nameOrUid(reference: JsonValue | undefined): string {
  if (!isJsonObject(reference)) return "";
  return String(reference.name ?? reference.uid ?? "");
}
