// OSV records, and what they come to. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { only, read, types } from "./reading.ts";

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
      ...{ createTime: "2030-01-01T00:00:00Z", modifyTime: "2030-02-01T00:00:00Z", parts: {} },
    });
    // A record does not say since when it is so.
    assert.deepEqual(events, [
      { ...{ author: "osv", reviewState: "REVIEW_STATE_APPROVED" }, fixed: { fixedVersion: "1.2.3" } },
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
    assert.deepEqual([first.parts, second.partOf], [{ advisoryIds: [second.advisoryId] }, "GO-2030-0001"]);
    assert.equal(read(record).found[1].advisoryId, second.advisoryId);
  });

  it("of more packages than a request can list it is not said which parts there are", () => {
    const parts = (count: number) => {
      const affected = Array.from({ length: count }, (_, i) => go(`example.test/${i}`, "1"));
      return read(osv({ affected })).found[0].parts?.advisoryIds.length;
    };
    assert.deepEqual([parts(1001), parts(1002)], [1000, undefined]);
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

  it("a list is one of records also where the first of them is wrong", () => {
    const { found, problems } = read([{ id: 7 }, osv()]);
    assert.deepEqual([found.length, problems], [1, [": id must be a text"]]);
  });

  it("a record that names one library very often is read in time", () => {
    const affected = Array.from({ length: 20_000 }, (_, i) => ({
      package: { ecosystem: "npm", name: "same" },
      ranges: [{ type: "SEMVER", events: [{ introduced: `${i}` }, { fixed: `${i}.1` }] }],
    }));
    const start = performance.now();
    assert.equal(types(only(osv({ affected }))).length, 20_000);
    assert.ok(performance.now() - start < 5000);
  });

  it("the index of a feed is no advisory", () => {
    assert.deepEqual(read([{ id: "A-1", modified: "2030-02-01T00:00:00Z" }]), { found: [], problems: [] });
  });
});
