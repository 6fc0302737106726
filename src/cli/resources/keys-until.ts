import type { JsonObject } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { staticKeysExpiry } from "../../sts/static-keys-expiry.ts";

/** Returns when the static keys of an identity expire; empty if it has none. */
export function keysUntil({ staticKeys, createTime }: JsonObject): string {
  if (!isJsonObject(staticKeys)) return "";
  const { expirationTime } = staticKeys;
  const asked = typeof expirationTime === "string" ? Date.parse(expirationTime) : undefined;
  const until = staticKeysExpiry(asked, Date.parse(String(createTime)));
  return Number.isNaN(until) ? "" : new Date(until).toISOString();
}
