// Helpers for the JSON of the API.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";

/** Sets the member at a path such as `uidp.childrenOf`. */
export function setMember(target: JsonObject, path: string, value: JsonValue): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let place = target;
  for (const name of names) {
    const inner = place[name];
    const next = isJsonObject(inner) ? inner : {};
    place[name] = next;
    place = next;
  }
  place[last] = value;
}

/** Returns a text member; empty if absent. */
export function textAt(source: JsonObject, name: string): string {
  const value = source[name];
  return typeof value === "string" ? value : "";
}
