// What the OSV documentation says of a record (https://ossf.github.io/osv-schema/, 1.9), as far as records that are exported
// have such members. The published JSON Schema comes in no package: `npm run test:osv` fetches it.
import { ecosystems } from "../../../src/cli/advisories/exports/osv-names.ts";

const text = { type: "string", minLength: 1 };
const time = { type: "string", format: "date-time", pattern: "Z$" };
const texts = { type: "array", items: text, uniqueItems: true };

const one = (name: string) => ({ type: "object", properties: { [name]: text }, required: [name], maxProperties: 1 });

const range = {
  type: "object",
  additionalProperties: false,
  required: ["type", "events"],
  properties: {
    type: { enum: ["ECOSYSTEM", "SEMVER", "GIT"] },
    events: {
      type: "array",
      minItems: 1,
      contains: { required: ["introduced"] },
      items: { oneOf: [one("introduced"), one("fixed"), one("last_affected"), one("limit")] },
    },
    database_specific: { type: "object" },
  },
};

const scored = (type: string, pattern: string) => ({
  type: "object",
  additionalProperties: false,
  required: ["type", "score"],
  properties: { type: { const: type }, score: { type: "string", pattern } },
});

const severity = {
  oneOf: [
    scored("CVSS_V2", "^AV:[NAL]/"),
    scored("CVSS_V3", "^CVSS:3[.][01]/AV:[NALP]/"),
    scored("CVSS_V4", "^CVSS:4[.]0/AV:[NALP]/"),
  ],
};

/** The schema of a record. */
export const osvSchema = {
  type: "object",
  additionalProperties: false,
  required: ["schema_version", "id", "modified"],
  properties: {
    schema_version: { type: "string", pattern: "^1\\.\\d+\\.\\d+$" },
    id: { type: "string", pattern: "^[A-Za-z]+-.+" },
    modified: time,
    published: time,
    upstream: texts,
    related: texts,
    severity: { type: "array", items: severity },
    affected: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["package", "ranges"],
        properties: {
          package: {
            type: "object",
            additionalProperties: false,
            required: ["ecosystem", "name", "purl"],
            properties: {
              ecosystem: {
                type: "string",
                pattern: `^(${ecosystems.map((name) => name.replace(".", "\\.")).join("|")})(:.+)?$`,
              },
              name: text,
              purl: { type: "string", pattern: "^pkg:[a-z]+/[^ ]+$" },
            },
          },
          ranges: { type: "array", minItems: 1, items: range },
        },
      },
    },
  },
};
