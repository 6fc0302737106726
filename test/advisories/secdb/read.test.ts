// Security databases of distributions, as they are published. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AdvisoryRecord } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { BadDocument } from "../../../src/advisories/document.ts";
import { parseText } from "../../../src/advisories/document-text.ts";
import { isSecdb } from "../../../src/advisories/secdb/database.ts";
import { parseEntry } from "../../../src/advisories/secdb/entry.ts";
import { readSecdb } from "../../../src/advisories/secdb/read.ts";

const header = {
  apkurl: "{{urlprefix}}/{{distroversion}}/{{reponame}}/{{arch}}/{{pkg.name}}-{{pkg.ver}}.apk",
  archs: ["x86_64", "aarch64"],
  distroversion: "v3.20",
  reponame: "main",
  urlprefix: "https://dl-cdn.alpinelinux.org/alpine",
};

function read(document: unknown, source = "") {
  const items = [...readSecdb(document, { source }).items];
  const records = items.flatMap(({ record }) => record ?? []);
  const problems = items.flatMap((item) =>
    item.problems.map(({ path, rule }) => `${item.record ? "" : "left out "}${item.name}: ${path} ${rule}`),
  );
  return { records, problems };
}

const secfixes = (value: unknown, name = "tool") => read({ ...header, packages: [{ pkg: { name, secfixes: value } }] });

/** Each statement in short: its status and the versions with the fix. */
function said({ statements }: AdvisoryRecord): string[] {
  return statements.map(({ status, ranges }) => {
    const versions = ranges.map(({ events }) => events.map(({ version }) => version).join("-"));
    return `${status === 2 ? "not affected" : "affected"} ${versions.join(" ")}`.trim();
  });
}

describe("a security database", () => {
  it("a database becomes a record for each package and vulnerability, with all fixed versions", () => {
    const { records, problems } = read({
      ...header,
      packages: [
        {
          pkg: {
            name: "a",
            secfixes: { "1-r0": ["CVE-2030-1", "CVE-2030-2 GHSA-2222-3333-4444"], "2-r0": ["CVE-2030-1"] },
          },
        },
        { pkg: { name: "b", secfixes: { "0": ["CVE-2030-1"] } } },
        { pkg: { name: "c", secfixes: { "0": ["CVE-2030-1"], "3": ["CVE-2030-1"] } } },
      ],
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      records.map((record) => [record.document, record.vulnerability, record.aliases, said(record)]),
      [
        ["alpine/v3.20/main/a", "CVE-2030-1", [], ["affected 0-1-r0 0-2-r0"]],
        ["alpine/v3.20/main/a", "CVE-2030-2", ["GHSA-2222-3333-4444"], ["affected 0-1-r0"]],
        ["alpine/v3.20/main/b", "CVE-2030-1", [], ["not affected"]],
        ["alpine/v3.20/main/c", "CVE-2030-1", [], ["not affected", "affected 0-3"]],
      ],
    );
    const [{ source, modifyTime, advisoryId, extra, statements }] = records as [AdvisoryRecord];
    assert.deepEqual([source, modifyTime, advisoryId], ["secdb", undefined, ""]);
    assert.deepEqual(JSON.parse(extra), header);
    assert.deepEqual([statements[0]!.product!.purl, statements[0]!.release], ["pkg:apk/alpine/a", "v3.20"]);
    assert.equal(
      read({ ...header, packages: [{ pkg: { name: "a", secfixes: { 1: ["CVE-2030-1"] } } }] }, "me").records[0]!.source,
      "me",
    );
  });

  it("entries of one package or vulnerability in several places and spellings are joined", () => {
    const { records } = read({
      ...header,
      packages: [
        { pkg: { name: "a", secfixes: { "1": ["cve-2030-1"] } } },
        { pkg: { name: "a", secfixes: { "2": ["CVE_2030-1 XSA-7"] } } },
      ],
    });
    assert.deepEqual(
      records.map((record) => [record.vulnerability, record.aliases, said(record)]),
      [["CVE-2030-1", ["XSA-7"], ["affected 0-1 0-2"]]],
    );
  });

  const distributions: readonly (readonly [what: string, header: object, document: string, purl: string])[] = [
    ["Alpine", header, "alpine/v3.20/main/a", "pkg:apk/alpine/a"],
    ["another release", { ...header, distroversion: "v3.19" }, "alpine/v3.19/main/a", "pkg:apk/alpine/a"],
    ["another repository", { ...header, reponame: "community" }, "alpine/v3.20/community/a", "pkg:apk/alpine/a"],
    [
      "a mirror of Alpine",
      { ...header, urlprefix: "http://mirror.example/pub/alpine" },
      "alpine/v3.20/main/a",
      "pkg:apk/alpine/a",
    ],
    ["Alpine of old", { distroversion: "v3.3", reponame: "main" }, "alpine/v3.3/main/a", "pkg:apk/alpine/a"],
    ["Wolfi", { reponame: "os", urlprefix: "https://packages.wolfi.dev" }, "wolfi//os/a", "pkg:apk/wolfi/a"],
    [
      "Chainguard",
      { reponame: "chainguard", urlprefix: "https://packages.wolfi.dev" },
      "chainguard//chainguard/a",
      "pkg:apk/chainguard/a",
    ],
    [
      "Chainguard by its host",
      { reponame: "extra/x", urlprefix: "https://packages.cgr.dev" },
      "chainguard//extra%2Fx/a",
      "pkg:apk/chainguard/a",
    ],
    [
      "a host that only ends like one",
      { reponame: "os", urlprefix: "https://notwolfi.dev" },
      "notwolfi.dev//os/a",
      "pkg:apk/notwolfi.dev/a",
    ],
    ["MinimOS", { reponame: "os", urlprefix: "https://packages.mini.dev" }, "minimos//os/a", "pkg:apk/minimos/a"],
    [
      "an unknown host",
      { reponame: "os", urlprefix: "https://apk.Example.org:8443/x" },
      "apk.example.org//os/a",
      "pkg:apk/apk.example.org/a",
    ],
    ["an address in apkurl", { apkurl: "https://packages.wolfi.dev/os/{{pkg.name}}" }, "wolfi///a", "pkg:apk/wolfi/a"],
    ["no address", { reponame: "house" }, "house//house/a", "pkg:apk/house/a"],
    ["nothing at all", {}, "///a", "pkg:apk/a"],
  ];
  for (const [what, members, document, purl] of distributions) {
    it(`is of the distribution that it names: ${what}`, () => {
      const value = { ...members, packages: [{ pkg: { name: "a", secfixes: { "1": ["CVE-2030-1"] } } }] };
      assert.ok(isSecdb(value));
      const [record] = read(value).records;
      assert.deepEqual([record!.document, record!.statements[0]!.product!.purl], [document, purl]);
    });
  }

  const entries: readonly (readonly [text: string, ids: string, remarks?: string])[] = [
    ["CVE-2030-1", "CVE-2030-1"],
    ["CVE-2030-1 XSA-214", "CVE-2030-1=XSA-214"],
    ["CVE-2030-1  TALOS-2030-0499,", "CVE-2030-1=TALOS-2030-0499"],
    ["CVE-2030-1 CVE-2030-2 XSA-1", "CVE-2030-1=XSA-1 CVE-2030-2=XSA-1"],
    ["CVE-2030-1, CVE-2030-2.", "CVE-2030-1 CVE-2030-2"],
    ["CVE-2030-1/CVE-2030-2 & CVE-2030-3", "CVE-2030-1 CVE-2030-2 CVE-2030-3"],
    ["cve-2030-1", "CVE-2030-1"],
    ["CVE_2030-1", "CVE-2030-1"],
    ["CVE 2030-1 XSA-1", "CVE-2030-1=XSA-1"],
    ["CVE-2017-17434-1", "CVE-2017-17434", "CVE-2017-17434-1"],
    ["CVE-2017-8073.patch", "CVE-2017-8073", "CVE-2017-8073.patch"],
    ["GHSA-ABCD-efgh-jmpq", "GHSA-abcd-efgh-jmpq"],
    ["ghsa-2222-3333-4444 cve-2030-1", "CVE-2030-1=GHSA-2222-3333-4444"],
    ["VSV00004", "VSV00004"],
    ["XSA-1 XSA-2", "XSA-1=XSA-2"],
    ["CVE-2030-1 (partial)", "CVE-2030-1", "(partial)"],
    ["CVE-2030-1 (+ regression fix)", "CVE-2030-1", "(+ regression fix)"],
    ["CVE-2030-1 (see CVE-2030-2", "CVE-2030-1", "(see CVE-2030-2"],
    ["CVE-2030-1 # in CVE-2030-2", "CVE-2030-1", "# in CVE-2030-2"],
    ["CVE-????-????? XSA-295", "XSA-295", "CVE-????-?????"],
    ["CVE-2030-1 follow-up fix", "CVE-2030-1", "follow-up fix"],
    ["(+)", "", "(+)"],
    ["", ""],
  ];
  for (const [text, ids, remarks = ""] of entries) {
    it(`has ids and other words in an entry: ${JSON.stringify(text)}`, () => {
      const entry = parseEntry(text);
      const shown = entry.vulnerabilities.map(({ id, aliases }) => [id, ...aliases].join("="));
      assert.deepEqual([shown.join(" "), entry.remarks.join(" ")], [ids, remarks]);
    });
  }

  it("keeps an entry as it is written, and reports the words that are not ids", () => {
    const { records, problems } = secfixes({ "1": ["CVE-2030-1", "CVE-2030-1 (again)"], "0": ["CVE-2030-1 XSA-1"] });
    assert.deepEqual(problems, ['tool CVE-2030-1: secfixes.1[1] has words that are not ids: "(again)"']);
    const [none, affected] = records[0]!.statements;
    assert.deepEqual(JSON.parse(none!.extra), { entries: ["CVE-2030-1 XSA-1"] });
    assert.deepEqual(JSON.parse(affected!.ranges[0]!.extra), { entries: ["CVE-2030-1", "CVE-2030-1 (again)"] });
  });

  it("relates the vulnerabilities of one entry, and does not take them for one", () => {
    const { records } = secfixes({ "1": ["CVE-2030-1 CVE-2030-2 XSA-1"] });
    assert.deepEqual(
      records.map(({ vulnerability, aliases, related }) => [vulnerability, aliases, related]),
      [
        ["CVE-2030-1", ["XSA-1"], ["CVE-2030-2"]],
        ["CVE-2030-2", ["XSA-1"], ["CVE-2030-1"]],
      ],
    );
  });

  const good = { "9": ["CVE-2030-9"] };
  const lenient: readonly (readonly [what: string, secfixes: unknown, problems: readonly string[]])[] = [
    ["an empty version", { "": ["CVE-2030-1"], ...good }, ["left out tool: secfixes. must have a version"]],
    ["a text in place of a list", { "9": "CVE-2030-9" }, []],
    ["a version without entries", { "1": null, "2": [], "3": "", ...good }, []],
    ["a number among the entries", { "9": [7, "CVE-2030-9"] }, ["left out tool: secfixes.9[0] must be a text"]],
    ["an object in place of a list", { "1": {}, ...good }, ["left out tool: secfixes.1 must be a list"]],
    [
      "an entry of words",
      { "9": ["(+)", "CVE-2030-9"] },
      ['tool CVE-2030-9: secfixes.9[0] has words that are not ids: "(+)"'],
    ],
    ["an empty entry", { "9": ["", "CVE-2030-9"] }, ["tool CVE-2030-9: secfixes.9[0] is empty"]],
    [
      "too many ids",
      { "1": [Array.from({ length: 101 }, (_, i) => `CVE-2030-${i + 100}`).join(" ")], ...good },
      ["left out tool: secfixes.1 must not name more than 100 vulnerabilities"],
    ],
  ];
  for (const [what, value, expected] of lenient) {
    it(`leaves out no more than what is wrong: ${what}`, () => {
      const { records, problems } = secfixes(value);
      assert.deepEqual(
        [records.map(({ vulnerability }) => vulnerability), problems.map((text) => text.replace("1[0]", "1"))],
        [["CVE-2030-9"], expected],
      );
    });
  }

  for (const nothing of [undefined, null, [], {}, "", "null"]) {
    it(`may say nothing of a package: ${JSON.stringify(nothing)}`, () => {
      assert.deepEqual(secfixes(nothing), { records: [], problems: [] });
    });
  }

  it("a version that a package has twice has the fixes of both lists; another member twice loses the package alone", () => {
    const text = [
      "{urlprefix: https://dl-cdn.alpinelinux.org/alpine, reponame: main, distroversion: v3.3, packages: [",
      "{pkg: {name: a, secfixes: {1-r0: [CVE-2030-1], 2-r0: [CVE-2030-2], 1-r0: [CVE-2030-3]}}},",
      "{pkg: {name: b, name: c, secfixes: {1-r0: [CVE-2030-1]}}}]}",
    ].join("\n");
    const items = [...readSecdb(parseText(text, "yaml"), { source: "" }).items];
    assert.deepEqual(
      items.map(({ name, problems: [problem] }) => [name, ...(problem ? [problem.path, problem.rule] : [])]),
      [["", "packages[1].pkg", "has a member twice: name"], ["a CVE-2030-1"], ["a CVE-2030-2"], ["a CVE-2030-3"]],
    );
  });

  it("leaves out a package of which nothing can be read, and reads the others", () => {
    const { records, problems } = read({
      ...header,
      archs: "x86_64",
      packages: [
        {},
        7,
        { pkg: { secfixes: {} } },
        { pkg: { name: "a", secfixes: "x" } },
        { pkg: { name: "b", secfixes: good } },
      ],
    });
    assert.equal(records.length, 1);
    assert.deepEqual(problems, [
      "left out : packages[0].pkg must be an object",
      "left out : packages[1] must be an object",
      "left out : packages[2].pkg.name must be a text",
      "left out a: secfixes must be an object",
      "b CVE-2030-9: archs must be a list",
    ]);
  });

  it("is read from YAML, whose scalars are texts, and from the file of one package", () => {
    const yaml =
      "---\ndistroversion: v3.3\nreponame: main\narchs: [x86]\npackages:\n  - pkg:\n      name: a\n      secfixes:\n        1.10:\n          - CVE-2030-1\n        0:\n          - CVE-2030-2\n        2.0:\n";
    const { records } = read(parseText(yaml, "yaml"));
    assert.deepEqual(records.map((record) => [record.vulnerability, said(record)]).sort(), [
      ["CVE-2030-1", ["affected 0-1.10"]],
      ["CVE-2030-2", ["not affected"]],
    ]);
    const single = { ...header, name: "a", secfixes: good };
    assert.deepEqual(
      read(single).records,
      read({ ...header, packages: [{ pkg: { name: "a", secfixes: good } }] }).records,
    );
  });

  const documents: readonly (readonly [what: string, document: unknown, is: boolean])[] = [
    ["no packages", { ...header, packages: [] }, true],
    ["no packages in YAML", { ...header, packages: "" }, true],
    ["packages alone", { packages: [{ pkg: { name: "a", secfixes: {} } }] }, true],
    ["packages of something else", { packages: [{ SPDXID: "x" }] }, false],
    ["an object of packages", { reponame: "x", packages: { a: 1 } }, false],
    ["a header alone", header, false],
    ["a list", [], false],
    ["nothing", null, false],
  ];
  for (const [what, document, is] of documents) {
    it(`is recognized: ${what}`, () => {
      assert.equal(isSecdb(document), is);
      if (is) assert.deepEqual(read(document), { records: [], problems: [] });
    });
  }

  it("is rejected when it is not an object with packages, or when its header is a document of its own", () => {
    assert.throws(() => read([]), BadDocument);
    assert.throws(() => read({ ...header, packages: {} }), /^BadDocument: packages must be a list/);
    assert.throws(
      () => read({ ...header, notes: "x".repeat(10_001), packages: [] }),
      /^BadDocument: has more than 10000/,
    );
  });
});
