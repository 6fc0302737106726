// Records with the members and words of the published schema alone (https://ossf.github.io/osv-schema/, 1.9). Clients of the API
// of OSV.dev decode a closed message: one unknown name makes them reject a whole response.
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { referenceTypes } from "./names.ts";

/** The required form of a value, or of each item of a list: text, object, one of several words, or an object with these members. */
type Shape = "text" | "object" | readonly string[] | { readonly [member: string]: Shape };

const severity: Shape = {
  type: ["CVSS_V2", "CVSS_V3", "CVSS_V4", "Ubuntu"],
  score: "text",
  source: ["NVD", "CNA", "SELF"],
};

const affected: Shape = {
  package: { ecosystem: "text", name: "text", purl: "text" },
  severity,
  ranges: {
    type: ["GIT", "SEMVER", "ECOSYSTEM"],
    repo: "text",
    events: { introduced: "text", fixed: "text", last_affected: "text", limit: "text" },
    database_specific: "object",
  },
  versions: "text",
  ecosystem_specific: "object",
  database_specific: "object",
};

const creditTypes: readonly string[] = [
  "FINDER",
  "REPORTER",
  "ANALYST",
  "COORDINATOR",
  "REMEDIATION_DEVELOPER",
  "REMEDIATION_REVIEWER",
  "REMEDIATION_VERIFIER",
  "TOOL",
  "SPONSOR",
  "OTHER",
];

const record = {
  schema_version: "text",
  id: "text",
  modified: "text",
  published: "text",
  withdrawn: "text",
  aliases: "text",
  upstream: "text",
  related: "text",
  summary: "text",
  details: "text",
  severity,
  affected,
  references: { type: referenceTypes, url: "text" },
  credits: { name: "text", contact: "text", type: creditTypes },
  database_specific: "object",
} satisfies Shape;

const lists: ReadonlySet<string> = new Set([
  "aliases",
  "upstream",
  "related",
  "severity",
  "affected",
  "ranges",
  "events",
  "versions",
  "references",
  "credits",
  "contact",
]);

/** Leaves out every member, and every word, that the schema does not have. */
export function publishedRecord(whole: JsonObject): JsonObject {
  return membersOf(whole, record);
}

function membersOf(object: JsonObject, shapes: Readonly<Record<string, Shape>>): JsonObject {
  const kept = Object.entries(object).map(([name, value]) => {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (shape === undefined || Array.isArray(value) !== lists.has(name)) return [name, undefined] as const;
    const items = Array.isArray(value) ? value.map((item) => keptOf(item, shape)) : keptOf(value, shape);
    return [name, Array.isArray(items) ? items.filter((item) => item !== undefined) : items] as const;
  });
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

/** Undefined when it is nothing of this shape. */
function keptOf(value: unknown, shape: Shape): unknown {
  if (shape === "text") return typeof value === "string" ? value : undefined;
  if (isWords(shape)) return shape.find((word) => word === value);
  if (!isJsonObject(value)) return undefined;
  return shape === "object" ? value : membersOf(value, shape);
}

function isWords(shape: Shape): shape is readonly string[] {
  return Array.isArray(shape);
}
