// Exports as YAML: what came from YAML is as it was, and only what has a log is written.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { stringify } from "yaml";
import {
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { parseText } from "../../../src/advisories/document-text.ts";
import { reasonWords } from "../../../src/advisories/reasons.ts";
import { readYamlAdvisories } from "../../../src/advisories/yaml/read.ts";
import { writeYaml } from "../../../src/advisories/yaml/write.ts";
import { type Json, newDraws } from "../osv/generated.ts";

async function exported(...advisories: AdvisoryStatements[]): Promise<{ text: string; lost: string[] }> {
  const lost: string[] = [];
  const all = (async function* () {
    yield* advisories;
  })();
  let text = "";
  const options = { id: "g", author: "a", ecosystem: "Wolfi", time: 0 };
  for await (const part of writeYaml(all, options, { add: (what) => lost.push(what) })) text += part;
  return { text, lost };
}

/** The advisories of documents in the order of their ids. */
function imported(documents: Json): AdvisoryStatements[] {
  const items = [...readYamlAdvisories(documents, { source: "" }).items];
  const advisories = items.map(({ record, problems }) => {
    assert.deepEqual(problems, []);
    const advisory = fromJson(AdvisoryStatementsSchema, { advisory: { advisoryId: record!.advisoryId } });
    advisory.records.push(record!);
    return advisory;
  });
  return advisories.sort((a, b) => (a.advisory!.advisoryId < b.advisory!.advisoryId ? -1 : 1));
}

/** Documents of several packages, whose advisories are in the order of their ids and whose events in that of their times. */
function generated(seed: number): Json[] {
  const draws = newDraws(seed);
  const texts = ["1.10", "0x1", "true", "~", "a: b", "- x", "two\nlines\n", " blank ", "#x", "ä\u0007", "2030-01-01"];
  const some = (members: Json) => Object.fromEntries(Object.entries(members).filter(() => draws.oneIn(2)));
  const note = () => some({ note: draws.pick(texts), "x-more": draws.pick(texts) });
  const scan = () =>
    some({ componentName: draws.pick(texts), componentID: "0011", scanner: "s", "x-scan": { deep: ["1"] } });
  const kinds: readonly (() => Json)[] = [
    () => ({ type: "detection", data: { type: "manual" } }),
    () => ({ type: "detection", data: { type: "scan/v1", data: { componentType: "go-module", ...scan() } } }),
    () => ({ type: "detection", data: { type: "nvdapi", data: { cpeSearched: "a", cpeFound: draws.pick(texts) } } }),
    () => ({ type: "fixed", data: { "fixed-version": draws.pick(texts), ...note() } }),
    () => ({ type: "fixed" }),
    () => ({ type: "true-positive-determination" }),
    () => ({ type: "false-positive-determination", data: { type: draws.pick(reasonWords), ...note() } }),
    () => ({
      type: draws.pick(["fix-not-planned", "analysis-not-planned", "pending-upstream-fix"]),
      data: { note: "n", ...note() },
    }),
  ];
  const times = ["2030-01-0DT00:00:00Z", "2030-01-0DT00:00:00.123456789Z", "2030-01-0D", "2030-01-0DT00:00:00+02:00"];
  const event = (i: number) => ({
    timestamp: draws.pick(times).replace("D", `${i + 1}`),
    ...draws.pick(kinds)(),
    ...some({ "x-event": "1.0" }),
  });
  const advisory = (i: number) => ({
    id: `CGA-2345-6789-cfg${i}`,
    ...some({ aliases: ["CVE-2030-1", "GHSA-2222-3333-4444"], "x-advisory": { a: "1" } }),
    events: Array.from({ length: 1 + draws.below(4) }, (_, i) => event(i)),
  });
  return ["gtk+3.0", "tool"].slice(draws.below(2)).map((name) => ({
    "schema-version": draws.pick(["2", "2.0.2"]),
    package: { name, ...some({ "x-package": "1" }) },
    ...some({ "x-document": "1" }),
    advisories: Array.from({ length: 1 + draws.below(3) }, (_, i) => advisory(i)),
  }));
}

const other = (...records: Json[]) =>
  fromJson(AdvisoryStatementsSchema, {
    advisory: { advisoryId: "CGA-2345-6789-cfgh", aliases: ["CVE-2030-1"] },
    records: records.map((record) => ({
      source: "s",
      document: "d",
      vulnerability: "v",
      format: "RECORD_FORMAT_API",
      ...record,
    })),
  });
const product = { purl: "pkg:apk/tool", name: "tool" };
const event = (type: Json, more: Json = {}) => ({
  ...{ createTime: "2030-01-01T00:00:00Z", reviewState: "REVIEW_STATE_APPROVED", ...type, ...more },
});
const fixed = event({ fixed: { fixedVersion: "1" } });

describe("an export as YAML", () => {
  it("is the documents that were imported, whatever they say", async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const documents = generated(seed);
      const { text, lost } = await exported(...imported(documents));
      const again = parseText(text, "yaml");
      assert.deepEqual([[again].flat(), lost], [documents, []], `seed ${seed}`);
      // Through the text of another writer, too.
      const read = parseText(documents.map((each) => stringify(each)).join("---\n"), "yaml");
      assert.deepEqual([read].flat(), documents, `seed ${seed}`);
    }
  });

  it("has events that were written with the API, with the aliases of the advisory", async () => {
    const { text, lost } = await exported(other({ statements: [{ product, events: [fixed] }] }));
    assert.deepEqual(lost, []);
    assert.equal(
      text,
      `schema-version: 2.0.2
package:
  name: tool
advisories:
  - id: CGA-2345-6789-cfgh
    aliases:
      - CVE-2030-1
    events:
      - timestamp: 2030-01-01T00:00:00Z
        type: fixed
        data:
          fixed-version: "1"
`,
    );
  });

  it("joins the logs of several records in the order of time", async () => {
    const later = event({ detection: { manual: {} } }, { createTime: "2031-01-01T00:00:00Z" });
    const logs = [[later, fixed], [fixed]].map((events) => ({ statements: [{ product, events }] }));
    const { text } = await exported(other(...logs));
    assert.deepEqual(
      [...text.matchAll(/ type: (\S+)/g)].map(([, type]) => type),
      ["fixed", "detection", "manual"],
    );
  });

  const lost: readonly (readonly [what: string, record: Json, lost: readonly string[]])[] = [
    ["a status", { statements: [{ product, status: "PRODUCT_STATUS_AFFECTED" }] }, ["a status without a log"]],
    [
      "a library",
      { statements: [{ product: { purl: "pkg:npm/tool" }, events: [fixed] }] },
      ["a product that is not an apk package"],
    ],
    [
      "a withdrawn record",
      { withdrawTime: "2030-01-01T00:00:00Z", statements: [{ product, events: [fixed] }] },
      ["a record that its source withdrew"],
    ],
    [
      "an event that waits for review",
      { statements: [{ product, events: [event(fixed, { reviewState: "REVIEW_STATE_PENDING" })] }] },
      ["an event that is not approved"],
    ],
    ["patches", { statements: [{ product, events: [event({ patched: {} })] }] }, ["a fix by patches"]],
  ];
  for (const [what, record, expected] of lost) {
    it(`counts what it cannot say: ${what}`, async () => {
      assert.deepEqual(await exported(other(record)), { text: "", lost: expected });
    });
  }
});
