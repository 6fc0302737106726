// `npm run test:osv`: what `gatehouse advisories export --format osv` writes, against the JSON Schema that OSV publishes. Not
// a part of `npm test`, since the schema is fetched.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { databases, ecosystemProblem, ecosystems, recordId } from "../../../../src/cli/advisories/exports/osv-names.ts";
import { eventWords, reasonWords } from "../../../../src/cli/advisories/statuses.ts";
import { type Desk, type Json, openDesk } from "../desk.ts";
import { csaf, record, secdb, vex, yaml } from "../samples.ts";
import { publishedSchema } from "./published-schema.ts";

const schema: Json = await publishedSchema().catch((error: Error) => {
  console.error(`test:osv: ${error.message}`);
  process.exit(1);
});
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const validate: ValidateFunction = ajv.compile(schema);

/** Fails with what the schema says of the record. */
function assertValid(written: Json): void {
  assert.ok(validate(written), JSON.stringify([written, validate.errors]));
}

const vectors: readonly (readonly [type: string, score: string])[] = [
  ["CVSS_V2", "AV:N/AC:L/Au:N/C:P/I:P/A:P"],
  ["CVSS_V2", "AV:N/AC:L/Au:N/C:P/I:P/A:P/E:POC/RL:OF/RC:UR/CDP:LM/TD:ND/CR:H/IR:ND/AR:M"],
  ["CVSS_V3", "CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"],
  ["CVSS_V3", "CVSS:3.1/E:P/MAV:X/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"],
  ["CVSS_V4", "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N"],
  ["CVSS_V4", "CVSS:4.0/U:Amber/MSI:S/E:A/SA:N/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/RE:M"],
];

/** What no record may say, but an advisory may. */
const wrongVectors: readonly (readonly [type: string, score: string])[] = [
  ["CVSS_V3", "CVSS:3.1/AV:N"],
  ["CVSS_V4", "CVSS:4.0/AV:Z/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N"],
  ["Ubuntu", "high"],
];

const packages: readonly (readonly [ecosystem: string, name: string, purl?: string])[] = [
  ...([
    ["Go", "example.test/go"],
    ["npm", "@scope/a"],
    ["PyPI", "p"],
    ["crates.io", "c"],
    ["RubyGems", "g"],
  ] as const),
  ...([
    ["Maven", "org.example:m"],
    ["NuGet", "N"],
    ["Hex", "h"],
  ] as const),
  ...([
    ["Wolfi", "tool", "pkg:apk/wolfi/tool?arch=x86_64"],
    ["Debian:12", "d", "pkg:deb/debian/d"],
  ] as const),
  ...([["Red Hat", "r", "pkg:rpm/redhat/r"]] as const),
];

const osv = [
  ...[...vectors, ...wrongVectors].map(([type, score], i) => record(i, { severity: [{ type, score }] })),
  ...packages.map(([ecosystem, name, purl], i) =>
    record(100 + i, {
      affected: [
        {
          package: { ecosystem, name, ...(purl ? { purl } : {}) },
          ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.0" }] }],
        },
      ],
    }),
  ),
  record(200, { id: "ACME-2030-7", aliases: null, severity: null }),
  record(201, { id: "x_ACME-8", published: undefined }),
  record(202, { id: "no/data~base:1", aliases: ["GHSA-aaaa-bbbb-cccc", "anything"] }),
  record(203, { withdrawn: "2030-03-01T00:00:00Z" }),
];

const event = (type: string, data: string) =>
  `events: [{timestamp: 2030-01-09T00:00:00Z, type: ${type}, data: {${data}}}]`;
/** An advisory for each type of event, for each way to detect, and for each reason of a false positive. */
const events = [
  ...Object.keys(eventWords).map((word) => event(word, word === "fixed" ? "fixed-version: 1.2-r3" : "note: why")),
  event("detection", "type: nvdapi, data: {cpeSearched: a, cpeFound: b}"),
  event("detection", "type: scan/v1, data: {scanner: s, componentName: c, componentType: go-module}"),
  ...[...reasonWords.keys()].map((word) => event("false-positive-determination", `type: ${word}`)),
];
const advisories = events.map(
  (each, i) => `  - id: CGA-aaaa-bbbb-${1000 + i}\n    aliases: [CVE-2031-${1000 + i}]\n    ${each}`,
);
const allEvents = `schema-version: 2.0.2\npackage: {name: "lib foo+bar"}\nadvisories:\n${advisories.join("\n")}\n`;
/** Of these, those that OSV has a word for: a fix, and false positives. */
const sayable = 1 + 1 + reasonWords.size;

describe("records of OSV as they are exported", () => {
  let desk: Desk;
  let group: string;
  before(async () => {
    desk = await openDesk();
    group = await desk.newGroup();
    const files = { "osv.json": osv, "events.yaml": allEvents, "a.yaml": yaml };
    const others = { "secdb.json": secdb, "vex.json": vex, "csaf.json": csaf };
    const { code, stderr } = await desk.importInto(group, desk.folder({ ...files, ...others }));
    assert.deepEqual([code, stderr], [0, ""]);
  });
  after(() => desk[Symbol.asyncDispose]());

  const exported = async (...args: string[]): Promise<Json[]> => {
    const run = await desk.caller.run("advisories", "export", "--group", group, "--format", "osv", ...args);
    assert.equal(run.code, 0, run.stderr);
    return args.includes("--output") ? [] : JSON.parse(run.stdout);
  };

  it("are valid, whatever happened to the advisory and whatever it is of", async () => {
    const records = await exported();
    for (const each of records) assertValid(each);
    const ids = new Set(records.map(({ id }) => id));
    for (const id of ["x_ACME-2030-7", "x_ACME-8", "x_no/data~base:1"]) assert.ok(ids.has(id), id);
    assert.ok(![...ids].some((id) => id.includes("1203")), "what is withdrawn is published no more");
    assert.equal([...ids].filter((id) => /^CGA-aaaa-bbbb-1/.test(id)).length, sayable);
    const systems = new Set(records.map(({ affected }) => affected[0].package.ecosystem));
    const libraries = ["Go", "Hex", "Maven", "NuGet", "PyPI", "RubyGems", "crates.io", "npm"];
    assert.deepEqual([...systems].sort(), ["Chainguard", ...libraries]);
    const scored = records.flatMap(({ severity = [] }) => severity.map(({ type }: Json) => type));
    assert.deepEqual([...new Set(scored)].sort(), ["CVSS_V2", "CVSS_V3", "CVSS_V4"]);
    assert.equal(
      records.filter(({ id, severity }) => /^GO-2030-100[0-8]$/.test(id) && severity).length,
      vectors.length,
    );
  });

  it("are valid for any ecosystem that --ecosystem takes", async () => {
    for (const ecosystem of ["Wolfi", "Alpine:v3.22", "Red Hat", "Azure Linux:3", "Debian:12:x"]) {
      const records = await exported("--ecosystem", ecosystem);
      for (const each of records) assertValid(each);
      assert.ok(records.some(({ affected }) => affected[0].package.ecosystem === ecosystem));
    }
  });

  it("are valid as a feed, file by file", async () => {
    const output = path.join(desk.caller.home, "feed");
    await exported("--output", output);
    const files = readdirSync(output).filter((name) => name !== "all.json");
    assert.equal(files.length, (await exported()).length);
    for (const file of files) assertValid(JSON.parse(readFileSync(path.join(output, file), "utf8")));
  });

  it("would be refused if they were broken", async () => {
    const [whole] = await exported();
    const breaks: Readonly<Record<string, (broken: Json) => void>> = {
      "": (broken) => delete broken.modified,
      "/id": (broken) => (broken.id = "ACME-1"),
      "/modified": (broken) => (broken.modified = "2030-01-01"),
      "/severity/0/score": (broken) => (broken.severity = [{ type: "CVSS_V3", score: "CVSS:3.1/AV:Z" }]),
      "/affected/0/package/ecosystem": (broken) => (broken.affected[0].package.ecosystem = "wolfi"),
      "/affected/0/ranges/0/type": (broken) => (broken.affected[0].ranges[0].type = "APK"),
      "/affected/0/ranges/0/events": (broken) => (broken.affected[0].ranges[0].events = [{ fixed: "1" }]),
    };
    for (const [place, spoil] of Object.entries(breaks)) {
      const broken = structuredClone(whole);
      spoil(broken);
      assert.equal(validate(broken), false, place);
      assert.ok(
        validate.errors?.some(({ instancePath }) => instancePath === place),
        JSON.stringify(validate.errors),
      );
    }
  });
});

describe("the names of OSV", () => {
  it("are those that the schema has: ecosystems", () => {
    assert.deepEqual([...ecosystems].sort(), [...schema.$defs.ecosystemName.enum].sort());
    for (const name of ecosystems) assert.equal(ecosystemProblem(`${name}:1`), "");
  });

  it("are those that the schema has: what ids begin with", () => {
    const [, known = ""] = /^\^\(x_\|\((.*)\)-\)$/.exec(schema.$defs.prefix.pattern) ?? [];
    const written = known.split("|").flatMap((name) => {
      const [, before, letters, behind] = /^(.*)\[(.*)\](.*)$/.exec(name) ?? [];
      return letters === undefined ? [name] : [...letters].map((letter) => before + letter + behind);
    });
    assert.deepEqual([...databases].sort(), written.sort());
    for (const name of databases) assert.equal(recordId(`${name}-1`), `${name}-1`);
  });
});
