// Rules that repos and tags share.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { patternRule, type TextRule } from "../../../pipeline/text-rules.ts";

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

/** The rule of one bundle. */
export const bundleRule: TextRule = {
  test: (text) => bundleNames.has(text),
  description: `only the following keywords are valid: ${[...bundleNames].join(", ")}`,
  pattern: `^(?:${[...bundleNames].join("|")})$`,
};

/** The rule of tag names, as in registries. */
export const tagRule = patternRule("tag", /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/, "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$");

/** The rule of manifest digests. */
export const digestRule = patternRule("digest", /^sha256:[0-9a-f]{64}$/, "^sha256:[0-9a-f]{64}$");

/** The rule of architectures, as images name them. */
export const architectureRule = patternRule(
  "architecture",
  /^[a-z0-9_]{1,32}(?:\/v[0-9])?$/,
  "^[a-z0-9_]{1,32}(/v[0-9])?$",
);

/** Whether the caller may manage the catalog. The catalog fields of other callers are ignored. */
export function canManageCatalog(call: Call, uid: string): boolean {
  return accessOf(call).has(Capability.CAP_REPO_INTERNAL_ADMIN, uid);
}
