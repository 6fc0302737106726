// Exports as OpenVEX: what came from OpenVEX is as it was, and what other formats say is neither more nor less.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { type AdvisoryRecord, AdvisoryRecordSchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { document, type Json, read, write } from "./exchange.ts";

const purl = "pkg:apk/wolfi/tool";
const vulnerability = { name: "CVE-2030-1" };
const time = "2030-01-02T03:04:05Z";

/** Returns a record of another format with statements about one product. */
function record(statements: Json[], changes: Json = {}): AdvisoryRecord {
  return fromJson(AdvisoryRecordSchema, {
    source: "s",
    document: "d",
    vulnerability: "CVE-2030-1",
    format: "RECORD_FORMAT_OSV",
    publishTime: time,
    statements: statements.map((each) => ({ product: { purl }, ...each })),
    ...changes,
  });
}

/** Returns the statements of an export without what they have in common, and what was lost. */
async function exported(...records: AdvisoryRecord[]): Promise<{ statements: Json[]; lost: Json }> {
  const { document: vex, lost } = await write(records);
  const short = ({ vulnerability: v, timestamp: t, products, ...statement }: Json) => ({
    products: products.map(({ "@id": id, ...more }: Json) => (Object.keys(more).length > 0 ? { id, ...more } : id)),
    ...statement,
    ...(t === time ? {} : { timestamp: t }),
    ...(JSON.stringify(v) === JSON.stringify(vulnerability) ? {} : { vulnerability: v }),
  });
  return { statements: vex.statements.map(short), lost };
}

const affected = { status: "PRODUCT_STATUS_AFFECTED" };
const fixed = { status: "PRODUCT_STATUS_FIXED" };
const notAffected = { status: "PRODUCT_STATUS_NOT_AFFECTED" };
const unknown = { status: "PRODUCT_STATUS_UNDER_INVESTIGATION" };
const range = (...events: [string, string][]) => ({
  type: "ECOSYSTEM",
  events: events.map(([type, version]) => ({ type: `RANGE_EVENT_TYPE_${type}`, version })),
});
const noAction = { status: "affected", action_statement: "No action statement provided" };
const noReason = { status: "not_affected", impact_statement: "No justification or impact statement provided" };
const aRange = { "a range of versions": 1 };
const unnamed = { "a product or a part of one that has no package URL, CPE or IRI": 1 };

describe("writing OpenVEX from other formats", () => {
  const cases: readonly (readonly [string, Json[], Json[], Json?])[] = [
    ["all versions are affected", [affected], [{ products: [purl], ...noAction }]],
    [
      "all versions are affected, by a range",
      [{ ...affected, ranges: [range(["INTRODUCED", "0"])] }],
      [{ products: [purl], ...noAction }],
    ],
    [
      "versions that are affected",
      [{ ...affected, versions: ["1", "2"] }],
      [{ products: [`${purl}@1`, `${purl}@2`], ...noAction }],
    ],
    [
      "a range with a fix: only that version is fixed",
      [{ ...affected, ranges: [range(["INTRODUCED", "0"], ["FIXED", "2"])] }],
      [{ products: [`${purl}@2`], status: "fixed" }],
      aRange,
    ],
    [
      "branches with a fix each, and the versions that the source enumerates",
      [
        {
          ...affected,
          versions: ["1", "3"],
          action: "upgrade",
          ranges: [range(["INTRODUCED", "0"], ["FIXED", "2"]), range(["INTRODUCED", "3"], ["FIXED", "4"])],
        },
      ],
      [
        { products: [`${purl}@2`, `${purl}@4`], status: "fixed" },
        { products: [`${purl}@1`, `${purl}@3`], status: "affected", action_statement: "upgrade" },
      ],
      aRange,
    ],
    [
      "a range without a fix says nothing of one version or of all",
      [{ ...affected, ranges: [range(["INTRODUCED", "1"], ["LAST_AFFECTED", "2"])] }],
      [],
      aRange,
    ],
    [
      "commits",
      [{ ...affected, ranges: [{ ...range(["INTRODUCED", "0"], ["FIXED", "ab"]), type: "GIT" }] }],
      [],
      aRange,
    ],
    [
      "versions from which on it is fixed",
      [{ ...fixed, ranges: [range(["INTRODUCED", "2"])] }],
      [{ products: [`${purl}@2`], status: "fixed" }],
      aRange,
    ],
    ["not affected without a reason", [notAffected], [{ products: [purl], ...noReason }]],
    [
      "not affected with a reason",
      [{ ...notAffected, justification: "component_not_present", impact: "i" }],
      [{ products: [purl], status: "not_affected", justification: "component_not_present", impact_statement: "i" }],
    ],
    [
      "texts about another status are notes",
      [
        { ...affected, versions: ["1"], justification: "component_not_present", impact: "i", notes: "n", action: "a" },
        { ...fixed, versions: ["2"], impact: "i", notes: "n", action: "a" },
        { ...notAffected, versions: ["3"], impact: "i", notes: "n", action: "a" },
      ],
      [
        { products: [`${purl}@2`], status: "fixed", status_notes: "n\ni\na" },
        { products: [`${purl}@3`], status: "not_affected", status_notes: "n\na", impact_statement: "i" },
        { products: [`${purl}@1`], status: "affected", status_notes: "n\ni", action_statement: "a" },
      ],
      { "a justification of what is not `not_affected`": 1 },
    ],
    ["under investigation", [unknown], [{ products: [purl], status: "under_investigation" }]],
    [
      "plans",
      [
        { ...affected, versions: ["1"], plan: "RESPONSE_PLAN_FIX_NOT_PLANNED" },
        { ...affected, versions: ["2"], plan: "RESPONSE_PLAN_PENDING_UPSTREAM_FIX", action: "Wait." },
        { ...unknown, versions: ["3"], plan: "RESPONSE_PLAN_ANALYSIS_NOT_PLANNED" },
      ],
      [
        { products: [`${purl}@3`], status: "under_investigation", status_notes: "No analysis is planned." },
        { products: [`${purl}@1`], status: "affected", action_statement: "No fix is planned." },
        { products: [`${purl}@2`], status: "affected", action_statement: "A fix is awaited from upstream. Wait." },
      ],
    ],
    [
      "releases of a distribution",
      [
        { ...affected, release: "v3.20", versions: ["1"] },
        { ...fixed, release: "v3.21", versions: ["1"] },
      ],
      [
        { products: [`${purl}@1?distro=wolfi-v3.21`], status: "fixed" },
        { products: [`${purl}@1?distro=wolfi-v3.20`], ...noAction },
      ],
    ],
    [
      "a part of a product",
      [{ ...affected, subcomponents: ["pkg:npm/a@1"] }],
      [{ products: [{ id: purl, subcomponents: [{ "@id": "pkg:npm/a@1" }] }], ...noAction }],
    ],
    [
      "a part that only has a name: all of the product would be more",
      [{ ...affected, subcomponents: ["openssl"] }],
      [],
      unnamed,
    ],
    ["a product that only has a name", [{ ...affected, product: { name: "Box 9" } }], [], unnamed],
    [
      "a package of an ecosystem without package URLs",
      [{ ...affected, product: { ecosystem: "GHC", name: "a:b" } }],
      [],
      unnamed,
    ],
    [
      "a product that has a CPE",
      [{ ...affected, product: { cpe: "cpe:/a:x:tool" } }],
      [{ products: [{ id: undefined, identifiers: { cpe22: "cpe:/a:x:tool" } }], ...noAction }],
    ],
    [
      "a release of an unknown distribution",
      [{ ...affected, product: { purl: "pkg:npm/a" }, release: "1.x" }],
      [],
      unnamed,
    ],
    [
      "a log: its last event",
      [
        {
          events: [
            { detection: { manual: {} }, createTime: "2030-01-01T00:00:00Z" },
            { fixNotPlanned: { note: "old" }, createTime: "2030-01-03T00:00:00Z" },
          ],
        },
      ],
      [
        {
          products: [purl],
          status: "affected",
          status_notes: "old",
          action_statement: "No fix is planned.",
          timestamp: "2030-01-03T00:00:00Z",
        },
      ],
      { "the history of a state": 1 },
    ],
    [
      "a log that ends in a fix without a version",
      [{ events: [{ fixed: {} }] }],
      [],
      { "a state that nobody has approved, or a fix without a version": 1 },
    ],
  ];
  for (const [name, statements, expected, lost = {}] of cases) {
    it(name, async () => assert.deepEqual(await exported(record(statements)), { statements: expected, lost }));
  }

  it("the vulnerability has its CVE as its name, and what else the record has is counted", async () => {
    const { statements, lost } = await exported(
      record([affected], {
        vulnerability: "GHSA-1",
        aliases: ["CVE-2030-7"],
        upstream: ["UP-1"],
        summary: "short",
        details: "long",
        related: ["R-1"],
        severities: [{ type: "CVSS_V3", score: "x" }],
        references: [{ url: "https://a.example" }],
      }),
    );
    assert.deepEqual(statements[0].vulnerability, {
      name: "CVE-2030-7",
      description: "short",
      aliases: ["GHSA-1", "UP-1"],
    });
    assert.deepEqual(lost, {
      "a severity": 1,
      "a reference": 1,
      "the id of a related vulnerability": 1,
      "details of a vulnerability": 1,
    });
  });

  it("vulnerabilities that a record includes are not written as aliases", async () => {
    const { statements, lost } = await exported(
      record([affected], { vulnerability: "DSA-1", upstream: ["CVE-1", "CVE-2"] }),
    );
    assert.deepEqual(statements[0].vulnerability, { name: "DSA-1" });
    assert.deepEqual(lost, { "the id of a related vulnerability": 1 });
  });

  it("withdrawn records are not written", async () => {
    const withdrawn = record([affected], { withdrawTime: time });
    assert.deepEqual(await exported(withdrawn), { statements: [], lost: {} });
  });
});

describe("the document of an export", () => {
  it("has an author, an id and a time of its own, and the same id the next time", async () => {
    const [{ document: first }, { document: second }] = await Promise.all([write([record([affected])]), write([])]);
    const { statements: _, ...head } = first;
    assert.deepEqual(head, {
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": second["@id"],
      author: "Exporter",
      timestamp: "2031-01-01T00:00:00Z",
      version: Date.parse("2031-01-01T00:00:00Z") / 1000,
    });
    assert.match(head["@id"], /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.deepEqual(second.statements, []);
  });
});

describe("writing OpenVEX from OpenVEX", () => {
  const again = async (...statements: object[]) => (await exported(...read(document(statements)).records)).statements;

  it("statements on versions, parts and qualifiers of a product stay apart", async () => {
    const statement = (id: string, status: string, part?: string) => ({
      vulnerability,
      status,
      ...(status === "affected" && { action_statement: "wait" }),
      products: [{ "@id": id, ...(part && { subcomponents: [{ "@id": part }] }) }],
    });
    const all = [
      statement("pkg:apk/alpine/x@1", "affected"),
      statement("pkg:apk/wolfi/x@2", "fixed"),
      statement("pkg:apk/wolfi/x@1", "affected"),
      statement("pkg:oci/x?repository_url=a", "affected"),
      statement("pkg:oci/x?repository_url=b", "fixed"),
      statement("pkg:oci/y", "fixed", "pkg:npm/b@1"),
      statement("pkg:oci/y", "affected", "pkg:npm/a@1"),
    ];
    const { document: vex } = await write(read(document(all)).records);
    assert.deepEqual(
      vex.statements.map(({ timestamp: _, products, ...statement }: Json) => ({ ...statement, products })),
      all.map(({ vulnerability: v, status, products, ...more }) => ({ vulnerability: v, status, ...more, products })),
    );
  });

  it("equal products are one, and equal statements that follow each other are one with several products", async () => {
    const one = (id: string, status: string) => ({ vulnerability, status, products: [id, id] });
    const [a, b] = [`${purl}@1`, `${purl}@2`];
    assert.deepEqual(await again(one(a, "fixed"), one(b, "fixed")), [{ products: [a, b], status: "fixed" }]);
    const [fix, unsure] = [
      { products: [a], status: "fixed" },
      { products: [a], status: "under_investigation" },
    ];
    // Of one time, the worst is last.
    assert.deepEqual(await again(one(a, "fixed"), one(a, "under_investigation"), one(a, "fixed")), [fix, unsure]);
  });

  it("statements without a time have that of their document, in its spelling", async () => {
    const statement = { vulnerability, status: "fixed", products: [purl] };
    const timestamp = "2030-01-01T00:00:00.000000001+01:00";
    const { document: vex } = await write(read(document([statement], { timestamp })).records);
    assert.equal(vex.statements[0].timestamp, timestamp);
  });

  it("the id of a statement stays if all of its products are in one advisory", async () => {
    const statement = { "@id": "https://vex.example/#1", version: 2, vulnerability, status: "fixed" };
    const [one, two] = [
      [`${purl}@1`, `${purl}@2`],
      [purl, "pkg:npm/a"],
    ].map((products) => write(read(document([{ ...statement, products }])).records));
    assert.deepEqual(
      (await one!).document.statements.map((each: Json) => [each["@id"], each.version]),
      [["https://vex.example/#1", 2]],
    );
    const { document: vex, lost } = await two!;
    assert.deepEqual(
      vex.statements.map((each: Json) => each["@id"]),
      [undefined, undefined],
    );
    assert.deepEqual(lost, { "the id of a statement about several products": 2 });
  });
});

describe("sources that disagree", () => {
  const said = (source: string, ...statements: [day: number, version: string, status: Json, part?: string][]) =>
    record(
      statements.map(([day, version, status, part]) => ({
        ...status,
        time: `2030-01-0${day}T00:00:00Z`,
        versions: version === "" ? [] : [version],
        subcomponents: part ? [part] : [],
      })),
      { source, document: source, format: "RECORD_FORMAT_OPENVEX" },
    );
  /** Returns the lines of an export: day, version and status. */
  const lines = async (...records: AdvisoryRecord[]) => {
    const { statements, lost } = await exported(...records);
    const all = statements.flatMap(({ products, status, timestamp }) =>
      products.map((product: Json) => {
        const { id, subcomponents = [] } = typeof product === "string" ? { id: product } : product;
        const parts = subcomponents.map((part: Json) => ` > ${part["@id"]}`).join("");
        return `${Number(timestamp.slice(8, 10))} ${id.slice(purl.length) || "all"}${parts} ${status}`;
      }),
    );
    return Object.keys(lost).length > 0 ? [...all, lost] : all;
  };
  const until2 = { ...affected, ranges: [range(["INTRODUCED", "0"], ["FIXED", "2"])], time: "2030-01-01T00:00:00Z" };
  const before2 = record([until2], { source: "a" });
  const cases: readonly (readonly [string, AdvisoryRecord[], Json[]])[] = [
    [
      "an affected range and a fix within it, in a format without an order of statements",
      [record([until2, { ...fixed, versions: ["1.5"], time: "2030-01-02T00:00:00Z" }], { source: "a" })],
      ["1 @2 fixed", "2 @1.5 fixed", "2 @1.5 affected", aRange],
    ],
    ["one source alone", [said("a", [1, "", affected], [2, "1", fixed])], ["1 all affected", "2 @1 fixed"]],
    [
      "the worse is said again after the better",
      [said("a", [1, "", affected]), said("b", [2, "", notAffected])],
      ["1 all affected", "2 all not_affected", "2 all affected"],
    ],
    [
      "what is worse of one version is said again of it",
      [said("a", [1, "1", affected]), said("b", [2, "", notAffected])],
      ["1 @1 affected", "2 all not_affected", "2 @1 affected"],
    ],
    [
      "what is worse of all versions is said again of one",
      [said("a", [1, "", unknown]), said("b", [2, "1", fixed])],
      ["1 all under_investigation", "2 @1 fixed", "2 @1 under_investigation"],
    ],
    [
      "the worse comes later",
      [said("a", [2, "", affected]), said("b", [1, "", notAffected])],
      ["1 all not_affected", "2 all affected"],
    ],
    [
      "both at the same time",
      [said("a", [1, "", affected]), said("b", [1, "", notAffected])],
      ["1 all not_affected", "1 all affected"],
    ],
    ["other versions", [said("a", [1, "1", affected]), said("b", [2, "2", fixed])], ["1 @1 affected", "2 @2 fixed"]],
    [
      "a fix is as good as not affected",
      [said("a", [1, "1", fixed]), said("b", [2, "", notAffected])],
      ["1 @1 fixed", "2 all not_affected"],
    ],
    [
      "a source that came to another result",
      [said("a", [1, "", affected], [3, "", fixed]), said("b", [2, "", notAffected])],
      ["1 all affected", "2 all not_affected", "3 all fixed"],
    ],
    [
      "a source that is better of some versions keeps its order",
      [said("a", [1, "", affected], [2, "2", fixed]), said("b", [3, "", notAffected])],
      ["1 all affected", "2 @2 fixed", "3 all not_affected", "3 all affected", "3 @2 fixed"],
    ],
    [
      "parts",
      [said("a", [1, "", affected, "pkg:npm/a@1"]), said("b", [2, "", notAffected])],
      ["1 all > pkg:npm/a@1 affected", "2 all not_affected", "2 all > pkg:npm/a@1 affected"],
    ],
    [
      "other parts",
      [said("a", [1, "", affected, "pkg:npm/a@1"]), said("b", [2, "", notAffected, "pkg:npm/b@1"])],
      ["1 all > pkg:npm/a@1 affected", "2 all > pkg:npm/b@1 not_affected"],
    ],
    [
      "the whole product and a part of it",
      [said("a", [1, "", affected]), said("b", [2, "", notAffected, "pkg:npm/b@1"])],
      ["1 all affected", "2 all > pkg:npm/b@1 not_affected", "2 all > pkg:npm/b@1 affected"],
    ],
    [
      "a version in a range",
      [before2, said("b", [2, "1.5", notAffected], [3, "2.5", fixed])],
      ["1 @2 fixed", "2 @1.5 not_affected", "3 @2.5 fixed", "3 @1.5 affected", aRange],
    ],
    [
      "versions of which some are in a range",
      [before2, said("b", [2, "", notAffected])],
      [{ ...aRange, "an advisory on which sources disagree in a way that OpenVEX cannot say": 1 }],
    ],
    [
      "what is worse cannot be said: nothing is",
      [said("a", [1, "", affected, "openssl"]), said("b", [1, "", unknown], [2, "", notAffected])],
      [{ ...unnamed, "an advisory on which sources disagree in a way that OpenVEX cannot say": 1 }],
    ],
  ];
  for (const [name, records, expected] of cases) {
    it(name, async () => {
      assert.deepEqual(await lines(...records), expected);
      assert.deepEqual(await lines(...records.toReversed()), expected);
    });
  }
});
