// What each format says, and what is wrong with what says something else. All documents are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { AdvisoryEvent_FalsePositiveDetermination_Type as Reason } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { ImportedAdvisorySchema } from "../../../gen/gatehouse/vulnerabilities/v1/advisory_import_pb.ts";
import { parseText } from "../../../src/cli/advisories/document-text.ts";
import { type FormatName, readDocument } from "../../../src/cli/advisories/formats.ts";
import { toRecord } from "../../../src/cli/advisories/record.ts";
import { reasonOf } from "../../../src/cli/advisories/sources.ts";
import { justificationOf } from "../../../src/cli/advisories/statuses.ts";

// biome-ignore lint/suspicious/noExplicitAny: what they hold is what the tests are about
type Json = any;

/** What a document comes to: the advisories, and what went wrong. */
function read(document: unknown, format: FormatName | "auto" = "auto"): { found: Json[]; problems: string[] } {
  const found: Json[] = [];
  const problems: string[] = [];
  try {
    for (const part of readDocument(document, format, { author: "" })) {
      try {
        found.push(...part.read().map((each) => toJson(ImportedAdvisorySchema, toRecord(each))));
      } catch (error) {
        problems.push(`${part.name}: ${reasonOf(error)}`);
      }
    }
  } catch (error) {
    problems.push(reasonOf(error));
  }
  return { found, problems };
}

/** The only advisory of a document. */
function only(document: unknown): Json {
  const { found, problems } = read(document);
  assert.deepEqual([found.length, problems], [1, []]);
  return found[0];
}

/** The types of the events, with what they say. */
function types({ events = [] }: Json): Json[] {
  return events.map(({ createTime: _, author: _by, reviewState: _state, ...type }: Json) => type);
}

const osv = (changes: object = {}) => ({
  ...{
    schema_version: "1.7.0",
    id: "GO-2030-0001",
    modified: "2030-02-01T00:00:00Z",
    published: "2030-01-01T00:00:00Z",
  },
  aliases: ["CVE-2030-1000001"],
  severity: [
    { type: "CVSS_V3", score: "CVSS:3.1/AV:N" },
    { type: "Other", score: "high" },
  ],
  affected: [go("example.test/lib", "1.2.3")],
  ...changes,
});
const range = (...events: object[]) => ({ type: "SEMVER", events: [{ introduced: "0" }, ...events] });
const go = (name: string, fixed: string) => ({ package: { ecosystem: "Go", name }, ranges: [range({ fixed })] });
const apk = (name: string, fixed: string, specific?: object) => ({
  package: { ecosystem: "Wolfi", name, purl: `pkg:apk/wolfi/${name}?arch=x86_64` },
  ranges: [{ ...range({ fixed }), type: "ECOSYSTEM", ...(specific ? { database_specific: specific } : {}) }],
});

describe("OSV", () => {
  it("a record is an advisory under its own id", () => {
    const { events, ...advisory } = only(osv());
    assert.deepEqual(advisory, {
      ...{ advisoryId: "GO-2030-0001", author: "osv", artifactName: "example.test/lib", artifactType: "library" },
      ...{ componentName: "example.test/lib", componentType: "go-module", origin: "example.test/lib" },
      aliases: ["CVE-2030-1000001"],
      severities: [{ type: "TYPE_CVSS_V3", score: "CVSS:3.1/AV:N" }, { score: "high" }],
      createTime: "2030-01-01T00:00:00Z",
    });
    assert.deepEqual(events, [
      {
        ...{ createTime: "2030-01-01T00:00:00Z", author: "osv", reviewState: "REVIEW_STATE_APPROVED" },
        fixed: { fixedVersion: "1.2.3" },
      },
    ]);
  });

  it("id and modified are enough", () => {
    const { advisoryId, events } = only({ id: "X-1", modified: "2030-02-01T00:00:00Z" });
    assert.deepEqual([advisoryId, events], ["X-1", undefined]);
  });

  it("null stands for an empty list", () => {
    assert.equal(only(osv({ aliases: null, severity: null })).aliases, undefined);
  });

  it("every branch that is fixed is an event, and so is each package's", () => {
    const affected = [
      {
        package: { ecosystem: "PyPI", name: "p" },
        ranges: [range({ fixed: "1.1" }, { introduced: "2" }, { fixed: "2.3" })],
      },
    ];
    const advisory = only(osv({ affected }));
    assert.deepEqual(types(advisory), [{ fixed: { fixedVersion: "1.1" } }, { fixed: { fixedVersion: "2.3" } }]);
    assert.equal(advisory.componentType, "python");
  });

  it("what is not fixed is affected", () => {
    const affected = [{ package: { ecosystem: "npm", name: "@a/b" }, ranges: [range({ last_affected: "3.0" })] }];
    assert.deepEqual(types(only(osv({ affected }))), [{ truePositiveDetermination: { note: "last affected: 3.0" } }]);
  });

  it("version 0 is a false positive, and so is what says so", () => {
    for (const specific of [undefined, { false_positive: true }]) {
      const affected = [apk("p", "0", specific)];
      assert.deepEqual(types(only(osv({ affected }))), [{ falsePositiveDetermination: {} }]);
    }
    const affected = [apk("p", "0", { false_positive: true, reason: "inline-mitigations-exist" })];
    assert.deepEqual(types(only(osv({ affected }))), [
      { falsePositiveDetermination: { type: "TYPE_INLINE_MITIGATIONS_EXIST" } },
    ]);
  });

  it("packages of a distribution to which the same happened are one advisory, of the first", () => {
    const record = osv({ id: "CGA-2345-6789-cfgh", affected: [apk("tool", "1-r0"), apk("tool-doc", "1-r0")] });
    const { advisoryId, artifactName, artifactType, artifactArchitecture, origin } = only(record);
    assert.deepEqual(
      [advisoryId, artifactName, artifactType, artifactArchitecture, origin],
      ["CGA-2345-6789-cfgh", "tool", "apk", "x86_64", "tool"],
    );
  });

  it("other packages get ids of their own, always the same, and the record's as an alias", () => {
    const record = osv({ affected: [go("example.test/a", "1"), go("example.test/b", "2"), go("example.test/a", "3")] });
    const [first, second, ...rest] = read(record).found;
    assert.deepEqual(rest, []);
    assert.deepEqual([first.advisoryId, types(first).length], ["GO-2030-0001", 2]);
    assert.match(second.advisoryId, /^CGA(-[23456789cfghjmpqrvwx]{4}){3}$/);
    assert.deepEqual(second.aliases, ["GO-2030-0001", "CVE-2030-1000001"]);
    assert.equal(read(record).found[1].advisoryId, second.advisoryId);
  });

  it("related ids are aliases in feeds of that form only", () => {
    const related = ["CGA-2345-6789-cfgh", "CVE-2030-7"];
    assert.deepEqual(only(osv({ id: "CGA-2345-6789-cfgh", aliases: [], related })).aliases, ["CVE-2030-7"]);
    assert.equal(only(osv({ aliases: [], related })).aliases, undefined);
    assert.deepEqual(only(osv({ aliases: [], upstream: ["CVE-2030-8"] })).aliases, ["CVE-2030-8"]);
  });

  it("what is withdrawn says when", () => {
    assert.equal(only(osv({ withdrawn: "2030-03-01T00:00:00Z" })).withdrawTime, "2030-03-01T00:00:00Z");
  });

  it("code without a package is known by its address", () => {
    const affected = [
      { ranges: [{ type: "GIT", repo: "https://git.example/x", events: [{ introduced: "0" }, { fixed: "abc" }] }] },
    ];
    const { artifactName, artifactType } = only(osv({ affected }));
    assert.deepEqual([artifactName, artifactType], ["https://git.example/x", "source"]);
  });

  it("records may stand in one list, and those that are wrong are named", () => {
    const { found, problems } = read([
      osv(),
      osv({ id: "B-2", modified: "yesterday" }),
      7,
      osv({ id: "C-3", affected: {} }),
    ]);
    assert.equal(found.length, 1);
    assert.deepEqual(problems, [
      'B-2: modified "yesterday" is no time',
      ": a record must be an object",
      "C-3: affected must be a list",
    ]);
  });

  it("the index of a feed is no advisory", () => {
    assert.deepEqual(read([{ id: "A-1", modified: "2030-02-01T00:00:00Z" }]), { found: [], problems: [] });
  });
});

describe("secdb", () => {
  const database = (packages: unknown) => ({
    apkurl: "{{urlprefix}}/x",
    archs: ["x86_64"],
    reponame: "os",
    urlprefix: "https://p.example",
    packages,
  });

  it("a package and a vulnerability are an advisory, whatever versions name them", () => {
    const { found, problems } = read(
      database([
        {
          pkg: {
            name: "a",
            secfixes: { "1-r0": ["CVE-2030-1", "CVE-2030-2 GHSA-2"], "2-r0": ["CVE-2030-1"], "0": ["CVE-2030-3"] },
          },
        },
        { pkg: { name: "b", secfixes: { "1-r0": ["CVE-2030-1"] } } },
        { pkg: { name: "c", secfixes: {} } },
      ]),
    );
    assert.deepEqual(problems, []);
    const shown = found.map((each) => [each.artifactName, each.aliases, types(each)]);
    assert.deepEqual(shown, [
      ["a", ["CVE-2030-3"], [{ falsePositiveDetermination: {} }]],
      ["a", ["CVE-2030-1"], [{ fixed: { fixedVersion: "1-r0" } }, { fixed: { fixedVersion: "2-r0" } }]],
      ["a", ["CVE-2030-2", "GHSA-2"], [{ fixed: { fixedVersion: "1-r0" } }]],
      ["b", ["CVE-2030-1"], [{ fixed: { fixedVersion: "1-r0" } }]],
    ]);
    assert.equal(new Set(found.map(({ advisoryId }) => advisoryId)).size, 4);
    assert.deepEqual(
      new Set(found.map(({ artifactType, artifactArchitecture }) => `${artifactType} ${artifactArchitecture}`)),
      new Set(["apk x86_64"]),
    );
  });

  it("a package that is wrong is named, and the others are read", () => {
    const { found, problems } = read(
      database([
        { pkg: { name: "a", secfixes: { "1": "CVE-1" } } },
        {},
        { pkg: { name: "b", secfixes: { "1": ["CVE-1"] } } },
      ]),
    );
    assert.equal(found.length, 1);
    assert.deepEqual(problems, ["a: secfixes.1 must be a list", ": pkg must be an object"]);
  });
});

describe("OpenVEX", () => {
  const vex = (...statements: unknown[]) => ({
    ...{ "@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://v.example/1", author: "Team", version: 1 },
    ...{ timestamp: "2030-01-01T00:00:00Z", statements },
  });
  const statement = (changes: object) => ({
    vulnerability: { name: "CVE-2030-1", aliases: ["GHSA-1"] },
    products: [
      { "@id": "pkg:apk/wolfi/tool@1.2-r0?arch=x86_64", subcomponents: [{ "@id": "pkg:golang/example.test/lib@v1" }] },
    ],
    ...changes,
  });

  it("a product and a vulnerability are an advisory", () => {
    const { events, ...advisory } = only(vex(statement({ status: "fixed" })));
    assert.match(advisory.advisoryId, /^CGA-/);
    assert.deepEqual(
      { ...advisory, advisoryId: "" },
      {
        ...{
          advisoryId: "",
          author: "Team",
          artifactName: "tool",
          artifactType: "apk",
          artifactArchitecture: "x86_64",
        },
        ...{
          componentName: "example.test/lib",
          componentType: "go-module",
          aliases: ["CVE-2030-1", "GHSA-1"],
          origin: "tool",
        },
      },
    );
    assert.deepEqual(events, [
      {
        createTime: "2030-01-01T00:00:00Z",
        author: "Team",
        reviewState: "REVIEW_STATE_APPROVED",
        fixed: { fixedVersion: "1.2-r0" },
      },
    ]);
  });

  const statuses: readonly (readonly [object, object])[] = [
    [{ status: "under_investigation" }, { detection: { manual: {} } }],
    [{ status: "under_investigation", status_notes: "analysis-not-planned" }, { analysisNotPlanned: {} }],
    [{ status: "affected", action_statement: "wait" }, { truePositiveDetermination: { note: "wait" } }],
    [
      { status: "affected", action_statement: "wait", status_notes: "fix-not-planned" },
      { fixNotPlanned: { note: "wait" } },
    ],
    [{ status: "affected", status_notes: "pending-upstream-fix" }, { pendingUpstreamFix: {} }],
    [
      { status: "not_affected", justification: "component_not_present", impact_statement: "n" },
      { falsePositiveDetermination: { type: "TYPE_COMPONENT_VULNERABILITY_MISMATCH", note: "n" } },
    ],
    [{ status: "not_affected" }, { falsePositiveDetermination: {} }],
  ];
  for (const [said, type] of statuses) {
    it(JSON.stringify(said), () => assert.deepEqual(types(only(vex(statement(said)))), [type]));
  }

  it("statements on the same are events of one advisory, of which the later is later", () => {
    const advisory = only(
      vex(
        statement({ status: "under_investigation" }),
        statement({ status: "fixed", timestamp: "2030-02-01T00:00:00Z" }),
      ),
    );
    assert.deepEqual(
      advisory.events.map(({ createTime }: Json) => createTime),
      ["2030-01-01T00:00:00Z", "2030-02-01T00:00:00Z"],
    );
  });

  it("a statement that is wrong is named, and the others are read", () => {
    const { found, problems } = read(
      vex(
        statement({ status: "maybe" }),
        statement({ status: "fixed", products: [] }),
        { status: "fixed" },
        statement({ status: "fixed", products: ["pkg:npm/%40a/b@1"] }),
      ),
    );
    assert.deepEqual(
      found.map(({ artifactName, artifactType }) => [artifactName, artifactType]),
      [["@a/b", "library"]],
    );
    assert.deepEqual(problems, [
      "CVE-2030-1: the status maybe is not known",
      "CVE-2030-1: it names no product",
      "statement 3: vulnerability must be an object",
    ]);
  });
});

describe("CSAF", () => {
  const csaf = (vulnerabilities: unknown[], tree: object = {}) => ({
    document: {
      category: "csaf_vex",
      csaf_version: "2.0",
      publisher: { name: "Vendor" },
      tracking: { current_release_date: "2030-01-01T00:00:00Z" },
    },
    product_tree: {
      full_product_names: [
        { product_id: "p1", name: "Tool", product_identification_helper: { purl: "pkg:apk/wolfi/tool@1-r0" } },
      ],
      branches: [{ branches: [{ product: { product_id: "p2", name: "Box 9" } }] }],
      ...tree,
    },
    vulnerabilities,
  });

  it("every product and vulnerability are an advisory", () => {
    const { found, problems } = read(
      csaf([
        {
          cve: "CVE-2030-1",
          ids: [{ system_name: "X", text: "X-1" }],
          product_status: { fixed: ["p1"], known_affected: ["p2"] },
          scores: [{ products: ["p1"], cvss_v3: { vectorString: "CVSS:3.1/AV:N" } }],
        },
        {
          ids: [{ system_name: "X", text: "X-2" }],
          product_status: { known_not_affected: ["p1"] },
          flags: [{ label: "inline_mitigations_already_exist", product_ids: ["p1"] }],
        },
      ]),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(
      found.map((each) => [each.artifactName, each.aliases, types(each)]),
      [
        ["tool", ["CVE-2030-1", "X-1"], [{ fixed: { fixedVersion: "1-r0" } }]],
        ["Box 9", ["CVE-2030-1", "X-1"], [{ truePositiveDetermination: {} }]],
        ["tool", ["X-2"], [{ falsePositiveDetermination: { type: "TYPE_INLINE_MITIGATIONS_EXIST" } }]],
      ],
    );
    assert.deepEqual(found[0].severities, [{ type: "TYPE_CVSS_V3", score: "CVSS:3.1/AV:N" }]);
    assert.equal(found[0].author, "Vendor");
  });

  for (const [category, name] of [
    ["no_fix_planned", "fixNotPlanned"],
    ["none_available", "pendingUpstreamFix"],
    ["workaround", "truePositiveDetermination"],
  ]) {
    it(`the remediation ${category}`, () => {
      const remediations = [{ category, details: "d", product_ids: ["p1"] }];
      const advisory = only(csaf([{ cve: "CVE-2030-1", product_status: { known_affected: ["p1"] }, remediations }]));
      assert.deepEqual(types(advisory), [{ [name!]: { note: "d" } }]);
    });
  }

  it("what is wrong is named, and the rest is read", () => {
    const { found, problems } = read(
      csaf([
        { cve: "CVE-2030-1", product_status: { fixed: ["p9"] } },
        { product_status: { fixed: ["p1"] } },
        { cve: "CVE-2030-3", product_status: { under_investigation: ["p1"] } },
      ]),
    );
    assert.equal(found.length, 1);
    assert.deepEqual(problems, [
      "CVE-2030-1: the product p9 is not in the product tree",
      "vulnerability 2: it has neither a CVE nor another id",
    ]);
  });

  it("a tree without end is refused", () => {
    let branches: object[] = [];
    for (let i = 0; i < 10_000; i++) branches = [{ branches }];
    assert.deepEqual(read(csaf([], { branches })).problems, ["the product tree is more than 40 levels deep"]);
  });
});

describe("YAML", () => {
  const head = "schema-version: 2.0.2\npackage: {name: example-tool}\nadvisories:\n";
  const yaml = (text: string) => parseText("x.yaml", text, "auto");
  const detection = `
      - timestamp: 2030-01-02T03:04:05Z
        type: detection
        data:
          type: scan/v1
          data: {subpackageName: sub, componentID: "0011", componentName: example.test/lib, componentVersion: v1.0.0,
            componentType: go-module, componentLocation: /usr/bin/example, scanner: some-scanner}`;

  it("every advisory of the package, with all types of events", () => {
    const { found, problems } = read(
      yaml(`${head}  - id: CGA-2345-6789-cfgh
    aliases: [CVE-2030-1000001]
    events:${detection}
      - {timestamp: 2030-01-09T00:00:00Z, type: fixed, data: {fixed-version: 1.10}}
      - {timestamp: 2030-01-10, type: false-positive-determination, data: {type: vulnerable-code-not-in-execution-path, note: n}}
      - {timestamp: 2030-01-11T00:00:00Z, type: fix-not-planned, data: {note: n}}
      - {timestamp: 2030-01-12T00:00:00Z, type: analysis-not-planned, data: {note: n}}
      - {timestamp: 2030-01-13T00:00:00Z, type: pending-upstream-fix, data: {note: n}}
      - {timestamp: 2030-01-14T00:00:00Z, type: true-positive-determination}
      - {timestamp: 2030-01-15T00:00:00Z, type: detection, data: {type: nvdapi, data: {cpeSearched: a, cpeFound: b}}}
      - {timestamp: 2030-01-16T00:00:00Z, type: detection, data: {type: manual}}
      - {timestamp: 2030-01-17T00:00:00Z, type: fixed}
`),
    );
    assert.deepEqual(problems, []);
    const { events: _, ...advisory } = found[0];
    assert.deepEqual(advisory, {
      ...{ advisoryId: "CGA-2345-6789-cfgh", author: "yaml", artifactName: "example-tool", artifactType: "apk" },
      ...{ componentName: "example.test/lib", componentType: "go-module", componentLocation: "/usr/bin/example" },
      ...{ aliases: ["CVE-2030-1000001"], origin: "example-tool" },
    });
    assert.deepEqual(types(found[0]).slice(1), [
      { fixed: { fixedVersion: "1.10" } },
      { falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", note: "n" } },
      { fixNotPlanned: { note: "n" } },
      { analysisNotPlanned: { note: "n" } },
      { pendingUpstreamFix: { note: "n" } },
      { truePositiveDetermination: {} },
      { detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } } },
      { detection: { manual: {} } },
      { fixed: {} },
    ]);
    assert.deepEqual(types(found[0])[0].detection.scanv1, {
      ...{ scanner: "some-scanner", subpackage: "sub", componentId: "0011", component: "example.test/lib" },
      ...{ componentVersion: "v1.0.0", componentType: "go-module", componentLocation: "/usr/bin/example" },
    });
  });

  it("what is wrong is named, and the rest is read", () => {
    const advisory = (id: string, event: string) => `  - id: ${id}\n    aliases: [CVE-${id}]\n    events: [${event}]\n`;
    const fixed = "{timestamp: 2030-01-09T00:00:00Z, type: fixed}";
    const { found, problems } = read(
      yaml(
        head +
          advisory("A-1", fixed) +
          advisory("A-1", fixed) +
          advisory("A-3", "") +
          advisory("A-4", "{type: fixed}") +
          advisory("A-5", "{timestamp: soon, type: fixed}") +
          advisory("A-6", "{timestamp: 2030-01-09T00:00:00Z, type: solved}") +
          advisory("A-7", "{timestamp: 2030-01-09T00:00:00Z, type: detection, data: {type: x}}") +
          advisory("A-8", fixed),
      ),
    );
    assert.deepEqual(
      found.map(({ advisoryId }) => advisoryId),
      ["A-1", "A-8"],
    );
    assert.deepEqual(problems, [
      "A-1: A-1 is there twice",
      "A-3: it has no events",
      "A-4: timestamp is missing",
      'A-5: timestamp "soon" is no time',
      "A-6: the type of event solved is not known",
      "A-7: the type of detection x is not known",
    ]);
  });

  it("other versions of the format are refused", () => {
    assert.deepEqual(read(yaml("schema-version: 3\npackage: {name: a}")).problems, ["schema-version 3 is not known"]);
  });

  it("an alias that grows without end is no document", () => {
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 12; i++)
      bomb.push(`${"abcdefghijklm"[i]}: &${"abcdefghijklm"[i]} [${`*${"abcdefghijklm"[i - 1]},`.repeat(9)}]`);
    assert.throws(() => yaml(bomb.join("\n")), /it is no YAML/);
  });
});

describe("documents", () => {
  it("of no format are refused", () => {
    for (const document of [null, 7, "x", [], {}, { packages: [] }, { advisories: [] }])
      assert.deepEqual(read(document).problems, ["it is in none of the formats that are known"]);
  });

  it("of another format than the one asked for are refused", () => {
    assert.deepEqual(read(osv(), "secdb").problems, ["it is not secdb"]);
  });

  it("that cannot be parsed say why", () => {
    assert.throws(() => parseText("x.json", "{", "auto"), /^BadDocument: it is no JSON: /);
    assert.throws(() => parseText("x.yml", "a: [", "auto"), /^BadDocument: it is no YAML: /);
  });

  it("may begin with a byte order mark", () => {
    assert.deepEqual(parseText("x.json", "\uFEFF{}", "auto"), {});
  });
});

it("every reason of a false positive has a justification", () => {
  const shown = Object.fromEntries(Object.entries(Reason).map(([name, reason]) => [name, justificationOf(reason)]));
  assert.deepEqual(shown, {
    UNSPECIFIED: "vulnerable_code_not_present",
    VULNERABILITY_RECORD_ANALYSIS_CONTESTED: "vulnerable_code_not_present",
    COMPONENT_VULNERABILITY_MISMATCH: "component_not_present",
    VULNERABLE_CODE_VERSION_NOT_USED: "vulnerable_code_not_present",
    VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE: "vulnerable_code_not_present",
    VULNERABLE_CODE_NOT_IN_EXECUTION_PATH: "vulnerable_code_not_in_execute_path",
    VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY: "vulnerable_code_cannot_be_controlled_by_adversary",
    INLINE_MITIGATIONS_EXIST: "inline_mitigations_already_exist",
  });
});
