// Advisories in YAML. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { AdvisoryEventSchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { AdvisoryRecord } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { parseText } from "../../../src/advisories/document-text.ts";
import { isYamlAdvisories, readYamlAdvisories } from "../../../src/advisories/yaml/read.ts";
import type { Json } from "../osv/generated.ts";

const head = "schema-version: 2.0.2\npackage: {name: example-tool}\nadvisories:\n";

function read(text: string, source = "") {
  const document = parseText(text, "yaml");
  assert.ok(isYamlAdvisories(document));
  const items = [...readYamlAdvisories(document, { source }).items];
  const problems = items.flatMap(({ name, record, problems }) =>
    problems.map(({ path, rule }) => `${record ? "" : "left out "}${name}: ${path} ${rule}`),
  );
  return { records: items.flatMap(({ record }) => record ?? []), problems };
}

const logOf = ({ statements }: AdvisoryRecord) =>
  statements[0]!.events.map((event) => toJson(AdvisoryEventSchema, event) as Json);

/** Returns the types of the events, without author, time and review. */
const types = (record: AdvisoryRecord) =>
  logOf(record).map(({ author: _, createTime: _time, reviewState: _state, ...type }) => type);

const at = "timestamp: 2030-01-09T00:00:00Z";
const advisory = (id: string, ...events: string[]) =>
  `  - id: ${id}\n    aliases: [CVE-${id}]\n    events: [${events.join(", ")}]\n`;
const fixed = `{${at}, type: fixed, data: {fixed-version: 1.0-r0}}`;

describe("advisories in YAML", () => {
  it("each advisory becomes a record with its log of events", () => {
    const { records, problems } = read(`${head}  - id: CGA-2345-6789-cfgh
    aliases: [CVE-2030-1000001]
    events:
      - timestamp: 2030-01-02T03:04:05Z
        type: detection
        data:
          type: scan/v1
          data: {subpackageName: sub, componentID: "0011", componentName: example.test/lib, componentVersion: v1.0.0,
            componentType: go-module, componentLocation: /usr/bin/example, scanner: some-scanner}
      - {timestamp: 2030-01-09T00:00:00Z, type: fixed, data: {fixed-version: 1.10}}
      - {timestamp: 2030-01-10, type: false-positive-determination, data: {type: vulnerable-code-not-in-execution-path, note: n}}
      - {timestamp: 2030-01-11T00:00:00Z, type: fix-not-planned, data: {note: n}}
      - {timestamp: 2030-01-12T00:00:00Z, type: analysis-not-planned, data: {note: n}}
      - {timestamp: 2030-01-13T00:00:00Z, type: pending-upstream-fix, data: {note: n}}
      - {timestamp: 2030-01-14T00:00:00Z, type: true-positive-determination}
      - {timestamp: 2030-01-15T00:00:00Z, type: detection, data: {type: nvdapi, data: {cpeSearched: a, cpeFound: b}}}
      - {timestamp: 2030-01-16T00:00:00Z, type: detection, data: {type: manual}}
      - {timestamp: 2030-01-17T00:00:00Z, type: fixed, data:}
      - {timestamp: 2030-01-18T00:00:00Z, type: detection}
`);
    assert.deepEqual(problems, []);
    const [record] = records as [AdvisoryRecord];
    const { source, document, vulnerability, advisoryId, aliases, modifyTime, extra } = record;
    assert.deepEqual(
      [source, document, vulnerability, advisoryId],
      ["yaml", "example-tool", ...Array(2).fill("CGA-2345-6789-cfgh")],
    );
    assert.deepEqual([aliases, modifyTime, extra], [["CVE-2030-1000001"], undefined, '{"schema-version":"2.0.2"}']);
    const { product, status, extra: statementExtra } = record.statements[0]!;
    assert.deepEqual(
      [product!.purl, product!.name, status, statementExtra.includes("2030-01-10")],
      ["pkg:apk/example-tool", "example-tool", 0, true],
    );
    const [scan, ...others] = types(record);
    assert.deepEqual(scan.detection.scanv1, {
      scanner: "some-scanner",
      subpackage: "sub",
      componentId: "0011",
      component: "example.test/lib",
      componentVersion: "v1.0.0",
      componentType: "go-module",
      componentLocation: "/usr/bin/example",
    });
    assert.deepEqual(others, [
      { fixed: { fixedVersion: "1.10" } },
      { falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", note: "n" } },
      { fixNotPlanned: { note: "n" } },
      { analysisNotPlanned: { note: "n" } },
      { pendingUpstreamFix: { note: "n" } },
      { truePositiveDetermination: {} },
      { detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } } },
      { detection: { manual: {} } },
      { fixed: {} },
      { detection: { manual: {} } },
    ]);
    const { author, createTime, reviewState } = logOf(record)[0]!;
    assert.deepEqual([author, createTime, reviewState], ["yaml", "2030-01-02T03:04:05Z", "REVIEW_STATE_APPROVED"]);
  });

  it("have the event with the latest time last, and the author of the import", () => {
    const { records } = read(
      head + advisory("A-1", "{timestamp: 2030-02-01T00:00:00Z, type: detection}", fixed),
      "team",
    );
    assert.deepEqual(types(records[0]!), [{ fixed: { fixedVersion: "1.0-r0" } }, { detection: { manual: {} } }]);
    assert.deepEqual([records[0]!.source, logOf(records[0]!)[0]!.author], ["team", "team"]);
  });

  const components: readonly (readonly [type: string, name: string, found: readonly string[]])[] = [
    ["go-module", "example.test/lib", ["pkg:golang/example.test/lib"]],
    ["apk", "libssl3", ["pkg:apk/libssl3"]],
    ["python", "Flask_X", ["pkg:pypi/flask-x"]],
    ["java", "core", ["pkg:maven/core"]],
    ["", "lib", ["lib"]],
    ["java archive", "lib", ["lib"]],
    ["npm", "", []],
  ];
  for (const [type, name, found] of components) {
    it(`the last detection names the affected part: ${type} ${name}`, () => {
      const data = `{type: scan/v1, data: {componentName: "${name}", componentType: ${type}}}`;
      const earlier =
        "{timestamp: 2030-01-01T00:00:00Z, type: detection, data: {type: scan/v1, data: {componentName: x}}}";
      const scan = `{${at}, type: detection, data: ${data}}`;
      const { records } = read(head + advisory("A-1", scan, earlier));
      assert.deepEqual(records[0]!.statements[0]!.subcomponents, found);
    });
  }

  const events: readonly (readonly [what: string, event: string, problem: string])[] = [
    ["no time", "{type: fixed}", ".timestamp is missing"],
    ["no time that there is", "{timestamp: soon, type: fixed}", ".timestamp must be a time of RFC 3339"],
    ["no type", `{${at}}`, ".type is missing"],
    ["an unknown type", `{${at}, type: solved}`, '.type is not a type of event: "solved"'],
    ["no members", "fixed", " must be an object"],
  ];
  for (const [what, event, problem] of events) {
    it(`an advisory is left out if an event has ${what}, because it may be the decisive one`, () => {
      const { records, problems } = read(head + advisory("A-1", fixed, event) + advisory("A-2", fixed));
      assert.deepEqual(
        records.map(({ vulnerability }) => vulnerability),
        ["A-2"],
      );
      assert.deepEqual(problems, [`left out A-1: events[1]${problem}`]);
    });
  }

  const fields: readonly (readonly [what: string, event: string, type: Json, problem: string])[] = [
    [
      "a reason that is unknown",
      `{${at}, type: false-positive-determination, data: {type: luck, note: n}}`,
      { falsePositiveDetermination: { note: "n" } },
      'data.type is not a reason: "luck"',
    ],
    [
      "a way of detection that is unknown",
      `{${at}, type: detection, data: {type: scan/v9, data: {x: y}}}`,
      { detection: {} },
      'data.type is not a type of detection: "scan/v9"',
    ],
    ["data that is a text", `{${at}, type: fixed, data: soon}`, { fixed: {} }, "data must be an object"],
    [
      "a version that is a list",
      `{${at}, type: fixed, data: {fixed-version: [1]}}`,
      { fixed: {} },
      "data.fixed-version must be a text",
    ],
  ];
  for (const [what, event, type, problem] of fields) {
    it(`lose a field, and keep its event: ${what}`, () => {
      const { records, problems } = read(head + advisory("A-1", event));
      assert.deepEqual([types(records[0]!), problems], [[type], [`A-1: events[0].${problem}`]]);
    });
  }

  it("lose an advisory that cannot be read, and keep the others", () => {
    const noId = `  - events: [${fixed}]\n`;
    const oneAlias = `  - {id: A-6, aliases: CVE-1, events: [${fixed}]}\n`;
    const { records, problems } = read(
      head +
        advisory("A-1", fixed) +
        advisory("A-1", fixed) +
        advisory("A-3") +
        "  - id: A-4\n    events:\n" +
        noId +
        oneAlias +
        "  - text\n",
    );
    assert.deepEqual(
      records.map(({ vulnerability, aliases }) => [vulnerability, aliases]),
      [
        ["A-1", ["CVE-A-1"]],
        ["A-6", []],
      ],
    );
    assert.deepEqual(problems, [
      "left out A-1: id must be unique: example-tool has A-1 twice",
      "left out A-3: events must have an event that can be read",
      "left out A-4: events must have an event that can be read",
      "left out : id is missing",
      "A-6: aliases must be a list",
      "left out :  must be an object",
    ]);
  });

  it("advisories of two packages with one id become two records with one public id", () => {
    const other = head.replace("example-tool", "other-tool");
    const { records, problems } = read(`---\n${head}${advisory("A-1", fixed)}---\n${other}${advisory("A-1", fixed)}`);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      records.map(({ document, advisoryId, statements }) => [document, advisoryId, statements[0]!.product!.purl]),
      [
        ["example-tool", "A-1", "pkg:apk/example-tool"],
        ["other-tool", "A-1", "pkg:apk/other-tool"],
      ],
    );
  });

  it("advisories of valid documents are read if another document is invalid", () => {
    const { records, problems } = read(
      `---\n${head}${advisory("A-1", fixed)}---\nschema-version: 3\npackage: {name: a}\n`,
    );
    assert.equal(records.length, 1);
    assert.deepEqual(problems, ['left out document 2:  has the schema-version "3", not 2']);
  });

  const bad: readonly (readonly [text: string, reason: RegExp])[] = [
    ["schema-version: 3\npackage: {name: a}", /schema-version "3", not 2/],
    ["schema-version:\npackage: {name: a}", /schema-version "", not 2/],
    ["schema-version: 2\npackage:", /package.name is missing/],
    ["schema-version: 2\npackage: {name: [a]}", /package.name is missing/],
    ["schema-version: 2\npackage: {name: a}\nadvisories: x", /advisories must be a list/],
  ];
  for (const [text, reason] of bad) {
    it(`are rejected with a reason: ${JSON.stringify(text)}`, () => {
      assert.throws(() => read(text), reason);
    });
  }

  for (const version of ["2", "2.0.1", "2.1"]) {
    it(`a document may have no advisories: schema-version ${version}`, () => {
      const { records, problems } = read(`schema-version: ${version}\npackage: {name: a}\nadvisories:\n`);
      assert.deepEqual([records, problems], [[], []]);
    });
  }
});
