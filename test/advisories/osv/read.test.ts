// OSV records: what becomes of each member, and that reading loses nothing. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  ProductSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { productOf } from "../../../src/advisories/ecosystems.ts";
import { canonicalJson } from "../../../src/advisories/extra.ts";
import { recordJson } from "../../../src/advisories/osv/json.ts";
import { isOsv, isOsvIndex, readOsv } from "../../../src/advisories/osv/read.ts";
import { parseExactly } from "../../../src/base/json.ts";
import { generatedRecords, type Json } from "./generated.ts";

const record = (changes: Json = {}): Json => ({ id: "GO-2030-1", modified: "2030-02-01T00:00:00Z", ...changes });
const go = (name: string, changes: Json = {}): Json => ({ package: { ecosystem: "Go", name }, ...changes });
const range = (...events: Json[]): Json => ({ type: "SEMVER", events: [{ introduced: "0" }, ...events] });

/** Reads one record, and returns what was reported as texts. */
function read(document: Json): { record: AdvisoryRecord | undefined; json: Json; problems: string[] } {
  const [item, ...others] = readOsv(document, { source: "" }).items;
  assert.ok(item && others.length === 0);
  const problems = item.problems.map(({ path, rule }) => `${path}: ${rule}`);
  return { record: item.record, json: item.record && toJson(AdvisoryRecordSchema, item.record), problems };
}

/** Returns the statements of a record with this item of `affected`. */
const statementsOf = (...affected: Json[]): Json[] => read(record({ affected })).json.statements;

/** Reads a record and writes it again; nothing may be reported. */
function again(document: Json): Json {
  const { record, problems } = read(document);
  assert.deepEqual(problems, []);
  assert.ok(record);
  return recordJson(record);
}

describe("reading OSV", () => {
  it("a record keeps every member", () => {
    const document = record({
      schema_version: "1.7.0",
      published: "2030-01-01T00:00:00Z",
      withdrawn: "2030-03-01T00:00:00Z",
      aliases: ["CVE-2030-1"],
      upstream: ["CVE-2030-2"],
      related: ["CVE-2030-3"],
      summary: "s",
      details: "d",
      severity: [
        { type: "CVSS_V3", score: "CVSS:3.1/AV:N" },
        { type: "Other", score: "high" },
      ],
      affected: [go("example.test/a", { ranges: [range({ fixed: "1.2.3" })], versions: ["1.0.0"] })],
      references: [{ type: "FIX", url: "https://example.test" }],
      credits: [{ name: "A" }],
      database_specific: { a: { b: 1 } },
    });
    assert.deepEqual(read(document).json, {
      source: "osv",
      document: "GO-2030-1",
      vulnerability: "GO-2030-1",
      advisoryId: "GO-2030-1",
      format: "RECORD_FORMAT_OSV",
      publishTime: "2030-01-01T00:00:00Z",
      modifyTime: "2030-02-01T00:00:00Z",
      withdrawTime: "2030-03-01T00:00:00Z",
      aliases: ["CVE-2030-1"],
      upstream: ["CVE-2030-2"],
      related: ["CVE-2030-3"],
      summary: "s",
      details: "d",
      severities: [
        { type: "CVSS_V3", score: "CVSS:3.1/AV:N" },
        { type: "Other", score: "high" },
      ],
      references: [{ type: "FIX", url: "https://example.test" }],
      statements: [
        {
          product: { purl: "pkg:golang/example.test/a", ecosystem: "Go", name: "example.test/a" },
          status: "PRODUCT_STATUS_AFFECTED",
          versions: ["1.0.0"],
          ranges: [
            {
              type: "SEMVER",
              events: [
                { type: "RANGE_EVENT_TYPE_INTRODUCED", version: "0" },
                { type: "RANGE_EVENT_TYPE_FIXED", version: "1.2.3" },
              ],
            },
          ],
        },
      ],
      extra: '{"credits":[{"name":"A"}],"database_specific":{"a":{"b":1}},"schema_version":"1.7.0"}',
    });
    assert.deepEqual(again(document), document);
  });

  it("a record needs only id and modified", () => {
    assert.deepEqual(again(record()), record());
  });

  it("the caller can name the source", () => {
    const [item] = readOsv(record(), { source: "acme" }).items;
    assert.equal(item?.record?.source, "acme");
  });

  it("a record that was never changed since the year 1 is a record", () => {
    assert.equal(again(record({ modified: "0001-01-01T00:00:00Z" })).modified, "0001-01-01T00:00:00Z");
  });

  it("releases, branches and packages are statements of their own", () => {
    const of = (release: string, fixed: string) => ({
      package: { ecosystem: `Debian:${release}`, name: "tool", purl: "pkg:deb/debian/tool?arch=source" },
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed }] }],
    });
    const [first, second, third] = statementsOf(of("12", "1"), of("13", "2"), go("a", { versions: ["1"] }));
    assert.deepEqual([first.release, second.release, third.release], ["12", "13", undefined]);
    const debian = { purl: "pkg:deb/debian/tool?arch=source", ecosystem: "Debian", name: "tool" };
    assert.deepEqual([first.product, second.product], [debian, debian]);
  });

  it("a product without a package URL is that of its ecosystem and name, or the repository of its ranges", () => {
    const git = { type: "GIT", repo: "https://git.example.test/a", events: [{ introduced: "0" }] };
    const linux = { package: { ecosystem: "Linux", name: "Kernel" }, versions: ["6"] };
    const wrong = { package: { ecosystem: "npm", name: "a", purl: "pkg:" }, versions: ["1"] };
    const products = statementsOf(linux, { ranges: [git] }, wrong, { versions: ["1"] }).map(({ product }) => product);
    assert.deepEqual(products, [
      { ecosystem: "Linux", name: "Kernel" },
      { name: "https://git.example.test/a" },
      { purl: "pkg:npm/a", ecosystem: "npm", name: "a" },
      undefined,
    ]);
  });

  const empty = range({ fixed: "0" });
  const nobody: readonly (readonly [string, Json, string, string])[] = [
    ["fixed before all versions", { ranges: [empty] }, "", ""],
    [
      "a mark of the range",
      { ranges: [{ ...range({ fixed: "9" }), database_specific: { false_positive: true } }] },
      "",
      "",
    ],
    ["a mark of the package", { versions: ["1"], database_specific: { false_positive: "true" } }, "", ""],
    [
      ...([
        "a mark with a reason",
        { database_specific: { false_positive: true, reason: "inline-mitigations-exist" } },
      ] as const),
      ...(["inline_mitigations_already_exist", "TYPE_INLINE_MITIGATIONS_EXIST"] as const),
    ],
    [
      ...(["a reason", { database_specific: { false_positive: "vulnerable-code-version-not-used" } }] as const),
      ...(["vulnerable_code_not_present", "TYPE_VULNERABLE_CODE_VERSION_NOT_USED"] as const),
    ],
    [
      "a justification",
      { database_specific: { false_positive: {}, justification: "component_not_present" } },
      ...(["component_not_present", ""] as const),
    ],
  ];
  for (const [name, changes, justification, type] of nobody) {
    it(`nobody is affected: ${name}`, () => {
      const document = record({ affected: [go("a", changes)] });
      const [statement] = read(document).json.statements;
      assert.deepEqual(
        [statement.status, statement.ranges, statement.versions, statement.justification ?? ""],
        ["PRODUCT_STATUS_NOT_AFFECTED", undefined, undefined, justification],
      );
      assert.equal(statement.events?.[0].falsePositiveDetermination.type ?? "", type);
      assert.deepEqual(again(document), document);
    });
  }

  it("versions, another range or another mark mean that some versions are affected", () => {
    const items = [{ ranges: [empty], versions: ["1"] }, { ranges: [empty, range({ fixed: "2" })] }];
    const marks = [{ false_positive: false }, { false_positive: "no" }, { false_positive: null }, {}];
    const others = marks.map((database_specific) => ({ versions: ["1"], database_specific }));
    const statements = statementsOf(...[...items, ...others, {}].map((each) => go("a", each)));
    for (const { status } of statements) assert.equal(status, "PRODUCT_STATUS_AFFECTED");
    assert.equal(statements.length, 7);
  });

  it("related ids are those of the vulnerability in feeds that have no others", () => {
    const related = ["CGA-2345-6789-cfgh", "CVE-2030-7"];
    const feed = record({ id: "CGA-2345-6789-cfgh", related });
    assert.deepEqual(read(feed).record?.upstream, ["CVE-2030-7"]);
    assert.deepEqual(again(feed), feed);
    for (const others of [{ upstream: ["CVE-2030-8"] }, { aliases: ["CVE-2030-8"] }])
      assert.ok(!read({ ...feed, ...others }).record?.upstream.includes("CVE-2030-7"));
    assert.deepEqual(read(record({ related })).record?.upstream, []);
  });

  it("an id that our exports put x_ before is the id", () => {
    const ours = record({ id: "x_ACME-1", related: ["ACME-1"] });
    assert.equal(read(ours).record?.advisoryId, "ACME-1");
    assert.deepEqual(again(ours), ours);
    assert.equal(read(record({ id: "x_ACME-1" })).record?.advisoryId, "x_ACME-1");
  });

  it("members without a field in the messages are kept", () => {
    const document = record({
      severity: [{ type: "Ubuntu", score: "low", source: "SELF" }],
      affected: [
        {
          package: { ecosystem: "npm", name: "A", purl: "pkg:npm/A@1?checksum=x", note: 1 },
          ranges: [{ type: "SEMVER", events: [{ introduced: "0", why: "x" }], database_specific: { b: 2 }, other: [] }],
          severity: [{ type: "New", score: "1", by: "x" }],
          ecosystem_specific: { a: [null] },
          more: "m",
        },
      ],
      references: [{ type: "WEB", url: "u", title: "t" }],
      credits: [{ name: "A", other: {} }],
      new_member: { x: "" },
    });
    assert.deepEqual(again(document), document);
  });

  it("an object with several events is read as several events", () => {
    const affected = [go("a", { ranges: [{ type: "SEMVER", events: [{ introduced: "1", fixed: "2" }] }] })];
    assert.deepEqual(again(record({ affected })).affected[0].ranges[0].events, [{ introduced: "1" }, { fixed: "2" }]);
  });

  it("members named as those of Object.prototype, and large numbers, are kept as they are", () => {
    const text = '{"__proto__":{"polluted":1},"constructor":12345678901234567890,"deep":1.0}';
    const head = '"id":"GO-2030-1","modified":"2030-02-01T00:00:00Z"';
    const document = `{"__proto__":{"a":1},${head},"database_specific":${text}}`;
    assert.equal(
      canonicalJson(again(parseExactly(document))),
      `{"__proto__":{"a":1},"database_specific":${text},${head}}`,
    );
    assert.equal(({} as Json).polluted, undefined);
  });
});

describe("OSV that is wrong", () => {
  const lost: readonly (readonly [string, Json, string[]])[] = [
    ["a list of aliases", { aliases: "CVE-2030-1" }, ["aliases: must be a list"]],
    ["an alias", { aliases: [1] }, ["aliases[0]: must be a text"]],
    ["a time", { published: "yesterday" }, ["published: must be a time of RFC 3339"]],
    ["a severity", { severity: [{ type: "CVSS_V3" }] }, ["severity[0]: must have a type and a score"]],
    ["a reference", { references: [{ type: "WEB" }] }, ["references[0].url: is missing"]],
    ["credits", { credits: [{ name: 1 }] }, ["credits[0].name: must be a text"]],
    ["what should be an object", { database_specific: [] }, ["database_specific: must be an object"]],
    [
      "a package URL",
      { affected: [{ package: { ecosystem: "npm", name: "a", purl: "npm:a" }, versions: ["1"] }] },
      ["affected[0].package.purl: must be a package URL"],
    ],
    [
      "a range without events, which says nothing",
      { affected: [go("a", { ranges: [{ type: "SEMVER", events: [] }], versions: ["1"] })] },
      ["affected[0].ranges[0].events: must not be empty"],
    ],
  ];
  for (const [name, changes, expected] of lost) {
    it(`an invalid record of OSV loses ${name}`, () => {
      const { record: found, problems } = read(record(changes));
      assert.deepEqual(problems, expected);
      assert.equal(found?.advisoryId, "GO-2030-1");
      assert.doesNotThrow(() => recordJson(found));
    });
  }

  const left: readonly (readonly [string, Json, string])[] = [
    ["without an id", { modified: "2030-01-01T00:00:00Z" }, "id: is missing"],
    ["without a time", { id: "A-1" }, "modified: is missing"],
    ["with a wrong time", record({ modified: "2030-02-30T00:00:00Z" }), "modified: must be a time of RFC 3339"],
    ["whose packages are not a list", record({ affected: {} }), "affected: must be a list"],
    ["of which a package cannot be read", record({ affected: [go("b"), 1] }), "affected[1]: must be an object"],
    [
      "with a package whose name cannot be stored",
      record({ affected: [go("a\0"), go("b")] }),
      "affected[0].package.name: must be well-formed Unicode without the character NUL",
    ],
    [
      "with a package without a name",
      record({ affected: [{ package: { ecosystem: "Go" }, versions: ["1"] }] }),
      "affected[0].package: must have an ecosystem and a name, or a package URL",
    ],
    [
      "with a package without an ecosystem",
      record({ affected: [{ package: { name: "a", purl: "npm:a" }, versions: ["1"] }] }),
      "affected[0].package: must have an ecosystem and a name, or a package URL",
    ],
    [
      "of which a version is wrong",
      record({ affected: [go("a", { versions: ["1", 2] })] }),
      "affected[0].versions[1]: must be a text",
    ],
    [
      "of which an event of a range is wrong, but not the versions",
      record({ affected: [go("a", { ranges: [range({ fixed: 1 })], versions: ["1"] })] }),
      "affected[0].ranges[0].events[1].fixed: must be a text",
    ],
    [
      "of which an event of a range says nothing",
      record({ affected: [go("a", { ranges: [range({ until: "1" })] })] }),
      "affected[0].ranges[0].events[1]: must have one of introduced, fixed, last_affected, limit",
    ],
    [
      "with a package whose versions are all wrong",
      record({ affected: [go("a", { versions: "1" }), go("b")] }),
      "affected[0].versions: must be a list",
    ],
    [
      "with a package whose only range has no events",
      record({ affected: [go("a", { ranges: [{ type: "SEMVER" }] }), go("b")] }),
      "affected[0]: must name versions that can be read",
    ],
    [
      "with a range of too many events",
      record({
        affected: [go("a", { ranges: [range(...Array.from({ length: 100_000 }, () => ({ fixed: "1" })))] }), go("b")],
      }),
      "affected[0].ranges[0].events: has 100001 items, more than the limit of 10000",
    ],
    ["that is not an object", "A-1", ": must be an object"],
  ];
  for (const [name, document, expected] of left) {
    it(`leaves out a record ${name}`, () => {
      const { record: found, problems } = read(document);
      assert.deepEqual([found, problems.at(-1)], [undefined, expected]);
    });
  }

  for (const [written, known] of [
    ["pypi", "PyPI"],
    ["debian:12", "Debian:12"],
    ["GITHUB ACTIONS", "GitHub Actions"],
    ["rocky linux:9", "Rocky Linux:9"],
    ["crates-io", "crates.io"],
    ["golang", "Go"],
  ] as const) {
    it(`reads the ecosystem ${written} as ${known}, and reports it`, () => {
      const {
        record: found,
        json,
        problems,
      } = read(record({ affected: [{ package: { ecosystem: written, name: "a/b" }, versions: ["1"] }] }));
      const [base = "", release] = known.split(":");
      const [{ product, release: said }] = json.statements;
      assert.deepEqual([product, said], [toJson(ProductSchema, productOf(base, "a/b")), release]);
      assert.deepEqual(problems, [`affected[0].package.ecosystem: is read as ${JSON.stringify(known)}`]);
      assert.equal((recordJson(found!).affected as Json[])[0].package.ecosystem, known);
    });
  }

  it("an id with blanks is read with hyphens and reported, and replaces no record that has such an id", () => {
    const { record: found, problems } = read(record({ id: " ACME 2030  1" }));
    assert.deepEqual(problems, ['id: is read as "ACME-2030-1", since ids have no blanks']);
    assert.deepEqual([found?.advisoryId, found?.document], ["ACME-2030-1", " ACME 2030  1"]);
    assert.equal(recordJson(found!).id, "ACME-2030-1");
  });

  it("an invalid record does not affect the others", () => {
    const items = [...readOsv([record(), { id: "A-1" }, null, record({ id: "A-2" })], { source: "" }).items];
    assert.deepEqual(
      items.map((item) => [item.name, item.record !== undefined]),
      [
        ["GO-2030-1", true],
        ["A-1", false],
        ["", false],
        ["A-2", true],
      ],
    );
  });
});

describe("documents of OSV", () => {
  it("a record, a list of records and the empty list are documents of OSV", () => {
    for (const document of [record(), [record()], [], [record(), 1], { id: "A-1", affected: [] }])
      assert.ok(isOsv(document));
    for (const document of [{}, null, "", { id: "A-1" }, [{}]]) assert.ok(!isOsv(document));
  });

  it("index files hold no records", () => {
    const entry = { id: "GO-2030-1", modified: "2030-02-01T00:00:00Z" };
    const { modified } = entry;
    const lists = [
      [entry, entry],
      [{ ...entry, aliases: ["CVE-2030-1"] }],
      [{ path: "example.test/a", vulns: [entry] }],
    ];
    for (const document of [...lists, { modified }]) assert.ok(isOsvIndex(document));
    for (const document of [[], {}, entry, { path: "a" }, null, [entry, record({ summary: "s" })], [null]])
      assert.ok(!isOsvIndex(document), JSON.stringify(document));
  });
});

describe("generated OSV records", () => {
  it("generated records are unchanged after reading and writing", () => {
    const records = generatedRecords(27, 1000);
    const items = [...readOsv(records, { source: "" }).items];
    assert.equal(items.length, records.length);
    for (const [i, { record: found, problems }] of items.entries()) {
      assert.deepEqual(problems, []);
      assert.equal(canonicalJson(found && recordJson(found)), canonicalJson(records[i]));
    }
  });
});
