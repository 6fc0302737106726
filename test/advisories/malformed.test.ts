// Documents that are not as their format says, in one place or in several: a reader throws nothing but BadDocument, and reports every
// record that it leaves out.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toBinary } from "@bufbuild/protobuf";
import { AdvisoryRecordSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readCsaf } from "../../src/advisories/csaf/read.ts";
import { BadDocument } from "../../src/advisories/document.ts";
import { nameDocument } from "../../src/advisories/named-files.ts";
import { readOpenvex } from "../../src/advisories/openvex/read.ts";
import { readOsv } from "../../src/advisories/osv/read.ts";
import type { Reader } from "../../src/advisories/reading.ts";
import { readSecdb } from "../../src/advisories/secdb/read.ts";
import { readYamlAdvisories } from "../../src/advisories/yaml/read.ts";
import { parseExactly } from "../../src/base/json.ts";
import { generatedDocument as csaf } from "./csaf/generated.ts";
import { generatedDocument as openvex } from "./openvex/generated.ts";
import { generatedRecords, type Json, newDraws } from "./osv/generated.ts";

const secdb = {
  apkurl: "{{urlprefix}}/{{reponame}}",
  archs: ["x86_64"],
  reponame: "main",
  urlprefix: "https://apk.example",
  distroversion: "v3.20",
  packages: [
    { pkg: { name: "a", secfixes: { "1.0-r0": ["CVE-2030-1 GHSA-1", "CVE-2030-2 (+ remark)"], "0": ["CVE-2030-3"] } } },
    { pkg: { name: "b", secfixes: { "2.0-r0": ["CVE-2030-1"] } } },
  ],
};
const scan = {
  subpackageName: "tool",
  componentID: "00",
  componentName: "lib",
  componentType: "go-module",
  scanner: "s",
};
const yaml = {
  "schema-version": "2.0.2",
  package: { name: "tool" },
  advisories: [
    {
      id: "CGA-2345-6789-cfgh",
      aliases: ["CVE-2030-1"],
      events: [
        { timestamp: "2030-01-01T00:00:00Z", type: "detection", data: { type: "scan/v1", data: scan } },
        { timestamp: "2030-01-02T00:00:00Z", type: "fixed", data: { "fixed-version": "1.0-r0" } },
      ],
    },
  ],
};

const formats: readonly (readonly [name: string, read: Reader, document: (seed: number) => Json])[] = [
  ["OSV", readOsv, (seed) => generatedRecords(seed, 2)],
  ["OpenVEX", readOpenvex, openvex],
  ["CSAF", readCsaf, csaf],
  ["secdb", readSecdb, () => secdb],
  ["YAML", readYamlAdvisories, () => yaml],
];

/** Values that may be anywhere, as JSON. */
const odd: readonly string[] = [
  "null",
  "true",
  "0",
  "-1",
  "1.0",
  "1e400",
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"pkg:apk/%zz"',
  '"9999-99-99"',
  '"__proto__"',
  "[]",
  "{}",
  "[null]",
  "[{}]",
  '{"toString":null}',
  '{"__proto__":{"a":1}}',
  `"${"x".repeat(5000)}"`,
];

/** Returns the document with a few changes at places that are drawn. */
function changed(document: Json, seed: number): Json {
  const draws = newDraws(seed);
  const copy = parseExactly(JSON.stringify(document)) as Json;
  const places: [owner: Json, key: string][] = [];
  const collect = (owner: Json) => {
    if (typeof owner !== "object" || owner === null) return;
    for (const key of Object.keys(owner)) {
      places.push([owner, key]);
      collect(owner[key]);
    }
  };
  collect(copy);
  for (let i = 0; i <= draws.below(3); i++) {
    const [owner, key] = draws.pick(places);
    if (draws.oneIn(4)) delete owner[key];
    else owner[key] = draws.oneIn(4) ? [owner[key]] : parseExactly(draws.pick(odd));
  }
  // Lists have no holes in JSON.
  return parseExactly(JSON.stringify(copy)) as Json;
}

describe("malformed documents", () => {
  for (const [name, read, document] of formats) {
    it(`a reader of ${name} throws only BadDocument, and loses no record without a reason`, () => {
      for (let seed = 1; seed <= 200; seed++) {
        const malformed = changed(document(1 + (seed % 30)), seed);
        try {
          nameDocument(malformed);
          for (const { record, problems } of read(malformed, { source: "" }).items) {
            if (record) assert.ok(toBinary(AdvisoryRecordSchema, record).length > 0);
            else assert.ok(problems.length > 0, `seed ${seed}`);
            if (record) assert.ok(record.source && record.document && record.vulnerability, `seed ${seed}`);
          }
        } catch (error) {
          assert.ok(error instanceof BadDocument, `seed ${seed}: ${error instanceof Error ? error.stack : error}`);
        }
      }
    });
  }
});
