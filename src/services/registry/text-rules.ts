// What repos and tags have in common.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { patternRule, type TextRule } from "../../pipeline/text-rules.ts";

const bundleNames = new Set([
  "application",
  "base",
  "byol",
  "ai",
  "ai-gpu",
  "featured",
  "fips",
  "commercial",
  "emeritoss",
]);

/** One bundle. */
export const bundleRule: TextRule = {
  test: (text) => bundleNames.has(text),
  description: `only the following keywords are valid: ${[...bundleNames].join(", ")}`,
  pattern: `^(?:${[...bundleNames].join("|")})$`,
};

/** The name of a tag, as registries have it. */
export const tagRule = patternRule("tag", /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/, "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$");

/** The digest of a manifest. */
export const digestRule = patternRule("digest", /^sha256:[0-9a-f]{64}$/, "^sha256:[0-9a-f]{64}$");

/** Whether the caller keeps the catalog there, and so may say what belongs to it; others' words about it are ignored. */
export function canManageCatalog(call: Call, uid: string): boolean {
  return accessOf(call).has(Capability.CAP_REPO_INTERNAL_ADMIN, uid);
}
