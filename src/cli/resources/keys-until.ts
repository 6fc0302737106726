import type { JsonObject } from "@bufbuild/protobuf";
import { isJsonObject } from "../../json.ts";

/** The contract: keys without a time serve for 365 days, and none serve longer. */
const maxKeysMs = 365 * 24 * 60 * 60 * 1000;

/** When the static keys of an identity cease to serve; empty when it has none. */
export function keysUntil({ staticKeys, createTime }: JsonObject): string {
  if (!isJsonObject(staticKeys)) return "";
  const latest = Date.parse(String(createTime)) + maxKeysMs;
  const said = Date.parse(String(staticKeys.expirationTime ?? ""));
  const until = Number.isNaN(said) ? latest : Math.min(said, latest);
  return Number.isNaN(until) ? "" : new Date(until).toISOString();
}
