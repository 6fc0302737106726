// The records that clients of the API of OSV.dev receive: the members of the published schema, and nothing else.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { publishedRecord } from "../../../src/advisories/osv/published.ts";
import type { Json } from "./generated.ts";

const known: Json = {
  schema_version: "1.9.0",
  id: "GHSA-1",
  modified: "2030-01-02T03:04:05Z",
  aliases: ["CVE-2030-1"],
  severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
  affected: [
    {
      package: { ecosystem: "npm", name: "left" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "2.0.0" }], database_specific: { any: [1] } }],
      versions: ["1.0.0"],
      ecosystem_specific: { any: { thing: null } },
      database_specific: { more: 1 },
    },
  ],
  references: [{ type: "FIX", url: "https://example.test/1" }],
  credits: [{ name: "Finder", contact: ["mailto:finder@example.test"], type: "FINDER" }],
  database_specific: { any: { depth: [{}] } },
};

describe("records for clients of OSV.dev", () => {
  it("records have every member of the published schema", () => assert.deepEqual(publishedRecord(known), known));

  it("records have only members, words and kinds of values of the published schema", () => {
    const [item] = known.affected;
    const [range] = item.ranges;
    const record = {
      ...known,
      vendor: {},
      summary: ["not", "a", "text"],
      toString: "x",
      upstream: "CVE-2030-2",
      database_specific: "word",
      severity: [{ ...known.severity[0], by: "vendor" }, { type: "VENDOR", score: "9" }, "9"],
      affected: [
        {
          ...item,
          note: "",
          package: { ...item.package, arch: "arm" },
          ranges: [{ ...range, note: 1, events: [{ introduced: "0", by: "hand" }, { fixed: "2.0.0" }] }],
        },
      ],
      references: [...known.references, { type: "VENDOR", url: "https://example.test/2" }],
      credits: [
        { ...known.credits[0], role: "x" },
        { name: "Other", contact: "text", type: "WITNESS" },
      ],
    };
    const { database_specific: _, ...others } = known;
    assert.deepEqual(publishedRecord(record), {
      ...others,
      severity: [known.severity[0], { score: "9" }],
      references: [...known.references, { url: "https://example.test/2" }],
      credits: [known.credits[0], { name: "Other" }],
    });
  });
});
