// The rules of the OSV documentation for a record (https://ossf.github.io/osv-schema/, 1.9), in words of our own. The published JSON
// Schema comes in no package: `npm run suites -- osv` fetches it.
import { ecosystems } from "../../../src/advisories/ecosystems.ts";
import { databases, referenceTypes } from "../../../src/advisories/osv/names.ts";

const text = { type: "string", minLength: 1 };
const time = { type: "string", format: "date-time", pattern: "Z$" };
const texts = { type: "array", items: text, uniqueItems: true };
const object = (required: string[], properties: object) => ({ type: "object", required, properties });
const oneOf = (names: readonly string[]) => `^(${names.map((name) => name.replace(".", "\\.")).join("|")})`;

const commit = { pattern: "^(0|[a-f0-9]{40}|[a-f0-9]{64})$" };
const one = (name: string) => ({ ...object([name], { [name]: text }), maxProperties: 1 });
const has = (name: string) => ({ contains: { required: [name] } });

const range = {
  ...object(["type", "events"], {
    type: { enum: ["ECOSYSTEM", "SEMVER", "GIT"] },
    repo: text,
    events: {
      type: "array",
      minItems: 1,
      ...has("introduced"),
      items: { oneOf: [one("introduced"), one("fixed"), one("last_affected"), one("limit")] },
      not: { allOf: [has("fixed"), has("last_affected")] },
    },
    database_specific: { type: "object" },
  }),
  if: { properties: { type: { const: "GIT" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["repo"], properties: { events: { items: { additionalProperties: commit } } } },
};

const scored = (type: string, pattern: string) =>
  object(["type", "score"], { type: { const: type }, score: { type: "string", pattern }, source: text });
const severity = {
  type: "array",
  items: {
    oneOf: [
      scored("CVSS_V2", "^AV:[NAL]/"),
      scored("CVSS_V3", "^CVSS:3[.][01]/(?=.*AV:[NALP]/)([A-Z]+:[A-Z]/)*[A-Z]+:[A-Z]$"),
      scored("CVSS_V4", "^CVSS:4[.]0/AV:[NALP]/AC:[LH]/AT:[NP]/PR:[NLH]/UI:[NPA]/"),
      scored("Ubuntu", "^(negligible|low|medium|high|critical)$"),
    ],
  },
};

const affected = object([], {
  package: object(["ecosystem", "name"], {
    ecosystem: { type: "string", pattern: `${oneOf(ecosystems)}(:.+)?$` },
    name: text,
    purl: { type: "string", pattern: "^pkg:[a-z-]+/[^ ]+$" },
  }),
  severity,
  ranges: { type: "array", minItems: 1, items: range },
  versions: texts,
  ecosystem_specific: { type: "object" },
  database_specific: { type: "object" },
});

/** The schema of a record. */
export const osvSchema = {
  ...object(["id", "modified"], {
    schema_version: { type: "string", pattern: "^1\\.\\d+\\.\\d+$" },
    id: { type: "string", pattern: `^(x_.+|(${oneOf(databases).slice(1)})-.+)$` },
    modified: time,
    published: time,
    withdrawn: time,
    aliases: texts,
    upstream: texts,
    related: texts,
    summary: text,
    details: text,
    severity,
    database_specific: { type: "object" },
    affected: { type: "array", minItems: 1, items: affected },
    references: {
      type: "array",
      items: object(["type", "url"], { type: { enum: referenceTypes }, url: { type: "string", format: "uri" } }),
    },
    credits: { type: "array", items: object(["name"], { name: text }) },
  }),
  additionalProperties: false,
  if: { required: ["severity"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { affected: { items: { properties: { severity: false } } } } },
};
