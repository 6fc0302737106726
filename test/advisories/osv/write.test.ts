// Exports as OSV: what came from OSV is as it was, and what other formats say is neither more nor less.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { canonicalJson } from "../../../src/advisories/extra.ts";
import { readOsv } from "../../../src/advisories/osv/read.ts";
import { writeOsv } from "../../../src/advisories/osv/write.ts";
import { generatedRecords, type Json } from "./generated.ts";
import { osvSchema } from "./schema.ts";

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const validate = ajv.compile(osvSchema);

const options = { id: "g", author: "a", ecosystem: "Wolfi", time: Date.UTC(2031, 0) };

/** Exports, and counts what was lost. Every record must be valid. */
async function exported(...advisories: AdvisoryStatements[]): Promise<{ records: Json[]; lost: string[] }> {
  const lost: string[] = [];
  const parts = writeOsv(
    (async function* () {
      yield* advisories;
    })(),
    options,
    { add: (what, where) => lost.push(`${where}: ${what}`) },
  );
  let text = "";
  for await (const part of parts) text += part;
  const records = JSON.parse(text);
  for (const record of records) assert.ok(validate(record), JSON.stringify([record, validate.errors]));
  return { records, lost };
}

/** Records as OSV sources give them, each with the advisory of its id. */
function osv(...documents: Json[]): AdvisoryStatements[] {
  return [...readOsv(documents, { source: "" }).items].map(({ record }) =>
    statementsOf(record!.advisoryId, [], [record!]),
  );
}

function statementsOf(advisoryId: string, records: Json[], more: AdvisoryRecord[] = []): AdvisoryStatements {
  const message = fromJson(AdvisoryStatementsSchema, {
    advisory: { advisoryId, aliases: ["CVE-2030-1"], updateTime: "2030-09-09T00:00:00Z" },
    records,
  });
  message.records.push(...more);
  return message;
}

const purl = "pkg:apk/wolfi/tool?arch=x86_64";
/** Returns an advisory with one record of another format. */
const other = (statements: Json[], record: Json = {}): AdvisoryStatements =>
  statementsOf("CGA-2345-6789-cfgh", [
    {
      source: "s",
      document: "d",
      vulnerability: "CVE-2030-1",
      format: "RECORD_FORMAT_OPENVEX",
      ...record,
      statements: statements.map((each) => ({ product: { purl }, ...each })),
    },
  ]);

const affected = { status: "PRODUCT_STATUS_AFFECTED" };
const fixed = (...versions: string[]) => ({ status: "PRODUCT_STATUS_FIXED", versions });
const none = { status: "PRODUCT_STATUS_NOT_AFFECTED" };
const searched = { status: "PRODUCT_STATUS_UNDER_INVESTIGATION" };
const introduced = (version: string) => ({ type: "RANGE_EVENT_TYPE_INTRODUCED", version });
const fix = (version: string) => ({ type: "RANGE_EVENT_TYPE_FIXED", version });
const limit = (version: string) => ({ type: "RANGE_EVENT_TYPE_LIMIT", version });
const last = (version: string) => ({ type: "RANGE_EVENT_TYPE_LAST_AFFECTED", version });
const log = (...events: Json[]) => ({
  events: events.map((event, i) => ({
    createTime: `2030-01-0${i + 1}T00:00:00Z`,
    reviewState: "REVIEW_STATE_APPROVED",
    ...event,
  })),
});

const entry = (said: Json, ecosystem = "Wolfi", name = "tool") => ({ package: { ecosystem, name, purl }, ...said });
const range = (...events: Json[]) => ({ ranges: [{ type: "ECOSYSTEM", events }] });
const marked = (mark: Json) => ({
  ranges: [
    {
      type: "ECOSYSTEM",
      events: [{ introduced: "0" }, { fixed: "0" }],
      database_specific: { false_positive: true, ...mark },
    },
  ],
});

describe("writing OSV: records that came from OSV", () => {
  it("records are written unchanged and valid", async () => {
    const documents = generatedRecords(5, 300).filter(({ id }) => !id.startsWith("ACME-"));
    const { records, lost } = await exported(...osv(...documents));
    assert.deepEqual(lost, []);
    for (const [i, record] of records.entries()) assert.equal(canonicalJson(record), canonicalJson(documents[i]));
    assert.equal(records.length, documents.length);
  });

  const record = (id: string, changes: Json = {}) => ({ id, modified: "2030-02-01T00:00:00Z", ...changes });
  const go = (name: string, version: string) => ({ package: { ecosystem: "Go", name }, versions: [version] });

  it("a record is written once, with the advisory that has its id", async () => {
    const [first] = osv(record("GO-2030-1", { affected: [go("a", "1"), go("b", "1")] }));
    const part = statementsOf(
      "CGA-2345-6789-cfgh",
      [],
      [{ ...first!.records[0]!, statements: [first!.records[0]!.statements[1]!] }],
    );
    assert.deepEqual(
      (await exported(part, first!)).records.map(({ id }) => id),
      ["GO-2030-1"],
    );
  });

  it("withdrawn records are written, too", async () => {
    const withdrawn = record("GO-2030-1", { withdrawn: "2030-03-01T00:00:00Z" });
    const { records } = osv(withdrawn)[0]!;
    const alone = { ...osv()[0], ...fromJson(AdvisoryStatementsSchema, {}), records };
    assert.deepEqual((await exported(...osv(record("GO-2030-0")), alone)).records, [record("GO-2030-0"), withdrawn]);
    const { records: live, lost } = await exported(...osv(record("GO-2030-1")), alone);
    assert.deepEqual([live, lost], [[record("GO-2030-1")], ["GO-2030-1: a record whose id another one has"]]);
  });

  it("records with one id from several sources, groups or products become one record", async () => {
    const a = record("GO-2030-1", { published: "2029-01-02T00:00:00Z", aliases: ["A"], affected: [go("a", "1")] });
    const severity = [{ type: "Ubuntu", score: "low" }];
    const b = record("GO-2030-1", {
      modified: "2030-02-02T00:00:00Z",
      aliases: ["A", "B"],
      affected: [go("a", "2")],
      severity,
    });
    const c = { ...a, published: "2029-01-01T00:00:00Z", summary: "s", details: "x" };
    for (const parts of [
      [a, b, c, a],
      [c, a, b],
    ]) {
      const { records, lost } = await exported(...osv(...parts));
      const { affected: items, aliases, ...one } = records[0];
      assert.deepEqual(one, {
        id: "GO-2030-1",
        modified: "2030-02-02T00:00:00Z",
        published: "2029-01-01T00:00:00Z",
        summary: "s",
        details: "x",
      });
      assert.deepEqual(new Set(aliases), new Set(["A", "B"]));
      assert.deepEqual(
        new Set(items.map(canonicalJson)),
        new Set([{ ...go("a", "2"), severity }, go("a", "1")].map(canonicalJson)),
      );
      assert.deepEqual([records.length, lost], [1, []]);
    }
    const { lost } = await exported(...osv(c, { ...c, summary: "t" }));
    assert.deepEqual(lost, ["GO-2030-1: a second summary of a record"]);
  });
});

describe("writing OSV: what other formats say", () => {
  const said: readonly (readonly [name: string, statements: Json[], affected: Json[], lost: string[]])[] = [
    ["affected", [affected], [entry(range({ introduced: "0" }))], []],
    ["affected versions", [{ ...affected, versions: ["1", "2"] }], [entry({ versions: ["1", "2"] })], []],
    [
      "ranges with several branches",
      [
        {
          ...affected,
          ranges: [{ type: "SEMVER", events: [introduced("1"), fix("1.5"), introduced("2"), fix("2.5")] }],
        },
      ],
      [
        entry({
          ranges: [
            { type: "SEMVER", events: [{ introduced: "1" }, { fixed: "1.5" }, { introduced: "2" }, { fixed: "2.5" }] },
          ],
        }),
      ],
      [],
    ],
    [
      "a fix and a last affected version of one range",
      [
        {
          ...affected,
          ranges: [{ type: "vers", events: [introduced("1"), fix("1.5"), introduced("2"), last("2.5")] }],
        },
      ],
      [
        entry({
          ranges: [
            ...range({ introduced: "1" }, { fixed: "1.5" }).ranges,
            ...range({ introduced: "2" }, { last_affected: "2.5" }).ranges,
          ],
        }),
      ],
      [],
    ],
    [
      "limits of several branches",
      [{ ...affected, ranges: [{ events: [introduced("1"), limit("2"), introduced("3"), limit("4")] }] }],
      [
        entry({
          ranges: [
            ...range({ introduced: "1" }, { limit: "2" }).ranges,
            ...range({ introduced: "3" }, { limit: "4" }).ranges,
          ],
        }),
      ],
      [],
    ],
    [
      "a range in words",
      [{ ...affected, ranges: [{ type: "TEXT", extra: '{"text":"before 2"}' }] }],
      [],
      ["a range of versions in words"],
    ],
    [
      "a range without a begin",
      [{ ...affected, ranges: [{ events: [fix("2")] }] }],
      [entry(range({ introduced: "0" }, { fixed: "2" }))],
      [],
    ],
    [
      "releases",
      [
        { ...affected, release: "v1", versions: ["1"] },
        { ...fixed("2"), release: "v2" },
      ],
      [entry({ versions: ["1"] }, "Wolfi:v1"), entry(range({ introduced: "0" }, { fixed: "2" }), "Wolfi:v2")],
      [],
    ],
    ["a fix", [fixed("1.2")], [entry(range({ introduced: "0" }, { fixed: "1.2" }))], []],
    [
      "several fixes",
      [fixed("1.2"), fixed("2.1")],
      [entry(range({ introduced: "0" }, { fixed: "1.2" }, { fixed: "2.1" }))],
      [],
    ],
    [
      "a fix from a version on",
      [{ status: "PRODUCT_STATUS_FIXED", ranges: [{ events: [introduced("2")] }] }],
      [entry(range({ introduced: "0" }, { fixed: "2" }))],
      [],
    ],
    ["a fix of nobody knows which version", [fixed()], [], ["a fix without a version"]],
    [
      "affected versions and a fix",
      [{ ...affected, versions: ["1"] }, fixed("3")],
      [entry({ versions: ["1"] })],
      ["a fix, next to affected versions"],
    ],
    [
      "affected up to the fix, and the fix",
      [{ ...affected, ranges: [{ events: [introduced("1"), fix("3")] }] }, fixed("3")],
      [entry(range({ introduced: "1" }, { fixed: "3" }))],
      [],
    ],
    ["not affected", [none], [entry(marked({}))], []],
    [
      "not affected, and why",
      [{ ...none, justification: "component_not_present" }],
      [entry(marked({ justification: "component_not_present" }))],
      [],
    ],
    ["some versions that are not affected", [{ ...none, versions: ["1"] }], [], ["versions that are not affected"]],
    [
      "parts that are not affected",
      [{ ...none, subcomponents: ["a"] }],
      [],
      ["the parts that a status is about", "parts of a product that are not affected"],
    ],
    ["under investigation", [searched], [], ["a status under investigation"]],
    [
      "not affected, and under investigation",
      [none, searched],
      [],
      ["a status under investigation", "a product that is not affected, next to another status"],
    ],
    [
      "not affected, and some versions not affected",
      [none, { ...none, versions: ["1"] }],
      [entry(marked({}))],
      ["versions that are not affected"],
    ],
    [
      "a fix, and under investigation",
      [fixed("1"), searched],
      [entry(range({ introduced: "0" }, { fixed: "1" }))],
      ["a status under investigation"],
    ],
    [
      "affected, and not affected",
      [affected, none],
      [entry(range({ introduced: "0" }))],
      ["a product that is not affected, next to another status"],
    ],
    [
      "plans and texts",
      [{ ...affected, plan: "RESPONSE_PLAN_FIX_NOT_PLANNED", notes: "n" }],
      [entry(range({ introduced: "0" }))],
      ["a plan", "a text about a product"],
    ],
    ["an image", [{ ...affected, product: { purl: "pkg:oci/x" } }], [], ["a product that no ecosystem of OSV has"]],
    [
      "a log that ends with a fix",
      [{ ...none, ...log({ detection: { manual: {} } }, { fixed: { fixedVersion: "1-r1" } }) }],
      [entry(range({ introduced: "0" }, { fixed: "1-r1" }))],
      [],
    ],
    [
      "a log that ends with a false positive",
      [log({ falsePositiveDetermination: { type: "TYPE_INLINE_MITIGATIONS_EXIST" } })],
      [entry(marked({ reason: "inline-mitigations-exist" }))],
      [],
    ],
    [
      "a log without a fix",
      [log({ fixed: { fixedVersion: "1" } }, { fixNotPlanned: {} })],
      [entry(range({ introduced: "0" }))],
      ["a plan"],
    ],
    [
      "a log whose last event waits for a review",
      [log({ truePositiveDetermination: {} }, { reviewState: "REVIEW_STATE_PENDING", fixed: { fixedVersion: "1" } })],
      [entry(range({ introduced: "0" }))],
      [],
    ],
    ["a log that ends with a detection", [log({ detection: { manual: {} } })], [], ["a status under investigation"]],
    ["nothing", [], [], ["an advisory without a status"]],
  ];
  for (const [name, statements, expected, losses] of said) {
    it(name, async () => {
      const { records, lost } = await exported(other(statements));
      assert.deepEqual(
        lost,
        losses.map((what) => `CGA-2345-6789-cfgh: ${what}`),
      );
      assert.deepEqual(
        records.flatMap((record) => record.affected),
        expected,
      );
    });
  }

  it("is a record with ids, times, severities and references", async () => {
    const document = other([{ ...affected, time: "2030-03-01T00:00:00Z" }], {
      publishTime: "2030-01-01T00:00:00Z",
      modifyTime: "2030-02-01T00:00:00Z",
      aliases: ["GHSA-1"],
      related: ["CVE-2"],
      summary: "s",
      details: "d",
      severities: [
        { type: "CVSS_V4", score: "CVSS:4.0/AC:L/AV:N/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N" },
        { type: "CVSS_V3", score: "CVSS:3.1/AV:N" },
      ],
      references: [
        { type: "self", url: "https://example.test", summary: "t" },
        { type: "WEB", url: "none" },
      ],
    });
    const { records, lost } = await exported(document);
    const { affected: _, ...head } = records[0];
    assert.deepEqual(head, {
      schema_version: "1.9.0",
      id: "CGA-2345-6789-cfgh",
      modified: "2030-03-01T00:00:00Z",
      published: "2030-01-01T00:00:00Z",
      upstream: ["CVE-2030-1", "GHSA-1"],
      related: ["CGA-2345-6789-cfgh", "CVE-2030-1", "GHSA-1", "CVE-2"],
      summary: "s",
      details: "d",
      severity: [{ type: "CVSS_V4", score: "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N" }],
      references: [{ type: "WEB", url: "https://example.test" }],
    });
    const kinds = ["a severity that is not valid", "the name of a reference", "a reference that is not a URI"];
    assert.deepEqual(
      lost,
      kinds.map((what) => `CGA-2345-6789-cfgh: ${what}`),
    );
  });

  it("a record without a time has that of its advisory", async () => {
    const { records } = await exported(other([affected]));
    assert.deepEqual([records[0].modified, records[0].published], ["2030-09-09T00:00:00Z", undefined]);
  });

  it("an id of an unregistered database reads back as the same advisory", async () => {
    const [record] = (
      await exported({ ...other([affected]), ...statementsOf("ACME-1", []), records: other([affected]).records })
    ).records;
    assert.deepEqual([record.id, record.related[0]], ["x_ACME-1", "ACME-1"]);
    assert.equal([...readOsv(record, { source: "" }).items][0]?.record?.advisoryId, "ACME-1");
  });

  it("joins the record of an OSV source that has the id", async () => {
    const document = {
      id: "CGA-2345-6789-cfgh",
      modified: "2030-02-01T00:00:00Z",
      details: "d",
      affected: [entry({ versions: ["1"] })],
    };
    const [whole] = osv(document);
    const both = {
      ...whole!,
      records: [...whole!.records, ...other([fixed("3")], { modifyTime: "2030-05-01T00:00:00Z" }).records],
    };
    const [record] = (await exported(both)).records;
    assert.deepEqual([record.modified, record.details], ["2030-05-01T00:00:00Z", "d"]);
    assert.deepEqual(
      record.affected.toSorted(),
      [entry(range({ introduced: "0" }, { fixed: "3" })), entry({ versions: ["1"] })].toSorted(),
    );
  });

  it("no advisories give an empty list", async () => {
    assert.deepEqual(await exported(), { records: [], lost: [] });
  });
});
