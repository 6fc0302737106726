// Exports as a security database: what came from one is as it was, and other formats are not made to say more.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import {
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { advisoryIdOf, identityOf } from "../../../src/advisories/product.ts";
import { readSecdb } from "../../../src/advisories/secdb/read.ts";
import { writeSecdb } from "../../../src/advisories/secdb/write.ts";
import { type Json, newDraws } from "../osv/generated.ts";

async function exported(advisories: readonly AdvisoryStatements[], ecosystem = "Chainguard") {
  const lost: string[] = [];
  const all = (async function* () {
    yield* advisories;
  })();
  const parts = writeSecdb(all, { id: "g", author: "a", ecosystem, time: 0 }, { add: (what) => lost.push(what) });
  let text = "";
  for await (const part of parts) text += part;
  return { document: JSON.parse(text) as Json, lost: lost.sort() };
}

/** Returns the advisories of databases: one for each product and vulnerability, in the order of their ids. */
function imported(...databases: Json[]): AdvisoryStatements[] {
  const found = new Map<string, AdvisoryStatements>();
  for (const { record } of databases.flatMap((database) => [...readSecdb(database, { source: "" }).items])) {
    const product = record!.statements[0]!.product!;
    const key = `${identityOf(product)} ${record!.vulnerability}`;
    const advisory = { advisoryId: advisoryIdOf(product, record!.vulnerability), aliases: [record!.vulnerability] };
    const known = found.get(key) ?? fromJson(AdvisoryStatementsSchema, { advisory });
    known.records.push(record!);
    found.set(key, known);
  }
  return [...found.values()].sort((a, b) => (a.advisory!.advisoryId < b.advisory!.advisoryId ? -1 : 1));
}

const alpine = (release: string, reponame: string, packages: Json) => ({
  apkurl: "{{urlprefix}}/{{distroversion}}/{{reponame}}/{{arch}}/{{pkg.name}}-{{pkg.ver}}.apk",
  archs: ["x86_64", "aarch64"],
  distroversion: release,
  reponame,
  urlprefix: "https://dl-cdn.alpinelinux.org/alpine",
  packages: Object.entries(packages).map(([name, secfixes]) => ({ pkg: { name, secfixes } })),
});

/** Returns a database whose packages say something, in the order that the writer has. */
function generated(seed: number): Json {
  const draws = newDraws(seed);
  const words = ["", "", "", " XSA-7", " (partial)", " # again", ", GHSA-2222-3333-4444", " CVE-2030-3"];
  const entry = () => `${draws.pick(["CVE-2030-1", "CVE-2030-2", "cve-2030-3", "XSA-9"])}${draws.pick(words)}`;
  const packages = ["gtk+3.0", "libstdc++", "tool", "py3-x"].slice(0, 1 + draws.below(4)).sort();
  const secfixes = () => {
    const versions = ["0", "1.10-r0", "1.9-r1", "2_rc1", "57"].filter(() => draws.oneIn(2));
    const lists = (versions.length > 0 ? versions : ["1"]).map((version) => {
      const entries = Array.from({ length: 1 + draws.below(3) }, entry);
      return [version, [...new Set(entries)].sort()] as const;
    });
    return Object.fromEntries(lists);
  };
  const database = alpine("v3.20", "main", Object.fromEntries(packages.map((name) => [name, secfixes()])));
  if (!draws.oneIn(3)) return database;
  const { distroversion: _, ...wolfi } = { ...database, urlprefix: "https://packages.wolfi.dev", note: { a: 1 } };
  return wolfi;
}

const purl = "pkg:apk/wolfi/tool";
/** Returns an advisory with one record of another format. */
const other = (statements: Json[], more: Json = {}, aliases = ["CVE-2030-1", "GHSA-2222-3333-4444"]) =>
  fromJson(AdvisoryStatementsSchema, {
    advisory: { advisoryId: "CGA-2345-6789-cfgh", aliases },
    records: [
      {
        source: "s",
        document: "d",
        vulnerability: "CVE-2030-1",
        format: "RECORD_FORMAT_OPENVEX",
        ...more,
        statements: statements.map((each) => ({ product: { purl }, ...each })),
      },
    ],
  });
const range = (...events: Json[]) => ({
  status: "PRODUCT_STATUS_AFFECTED",
  ranges: [
    { type: "ECOSYSTEM", events: events.map(([type, version]) => ({ type: `RANGE_EVENT_TYPE_${type}`, version })) },
  ],
});
const fix = (version: string) => range(["INTRODUCED", "0"], ["FIXED", version]);
const none = { status: "PRODUCT_STATUS_NOT_AFFECTED" };
const fixed = (...versions: string[]) => ({ status: "PRODUCT_STATUS_FIXED", versions });

describe("an export as a security database", () => {
  it("equals the imported database", async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const database = generated(seed);
      const { document, lost } = await exported(imported(database));
      assert.deepEqual([document, lost], [database, []], `seed ${seed}`);
    }
  });

  it("an export without advisories is a database without packages", async () => {
    const { document } = await exported([], "Wolfi");
    assert.deepEqual(document.packages, []);
    assert.deepEqual([...readSecdb(document, { source: "" }).items], []);
  });

  describe("of several databases", () => {
    const main = alpine("v3.20", "main", { a: { "1": ["CVE-2030-1"] }, b: { "2": ["CVE-2030-1"] } });
    const community = alpine("v3.20", "community", { c: { "3": ["CVE-2030-1"] } });
    const old = alpine("v3.19", "main", { a: { "0": ["CVE-2030-1"] } });
    const wolfi = { ...old, distroversion: undefined, reponame: "os", urlprefix: "https://packages.wolfi.dev" };
    const both = imported(main, community, old, wolfi);
    const selections: readonly (readonly [ecosystem: string, database: Json, lost: readonly string[]])[] = [
      [
        "Alpine:v3.20/community",
        community,
        [
          "the release v3.19, not of v3.20",
          "the repository main, not of community",
          "the repository main, not of community",
        ],
      ],
      ["Alpine:v3.20", main, ["the release v3.19, not of v3.20", "the repository community, not of main"]],
      ["Alpine:v3.19", old, Array(3).fill("the release v3.20, not of v3.19")],
      ["Alpine", main, ["the release v3.19, not of v3.20", "the repository community, not of main"]],
    ];
    for (const [ecosystem, database, lost] of selections) {
      it(`has the one that --ecosystem names, and counts the others: ${ecosystem}`, async () => {
        const found = await exported(both, ecosystem);
        assert.deepEqual(found.document, database);
        const others = ["the distribution wolfi, not of alpine", ...lost].map((text) => `a package of ${text}`);
        assert.deepEqual(found.lost, others.sort());
      });
    }

    it("has the one with most packages unless --ecosystem names one of them", async () => {
      assert.deepEqual((await exported(both)).document, main);
      assert.equal((await exported(both, "Wolfi")).document.urlprefix, "https://packages.wolfi.dev");
    });

    it("has packages of an unknown distribution only if --ecosystem names the distribution", async () => {
      const unknown = other([{ ...fix("1"), product: { purl: "pkg:apk/tool" } }]);
      const named = await exported([...imported(main), unknown], "Alpine");
      assert.deepEqual(
        named.document.packages.map(({ pkg }: Json) => pkg.name),
        ["a", "b", "tool"],
      );
      const { document, lost } = await exported([...imported(main), unknown]);
      assert.deepEqual([document, lost], [main, ["a package of an unknown distribution, not of alpine"]]);
      assert.equal((await exported([unknown], "Wolfi")).document.urlprefix, "https://packages.wolfi.dev");
    });

    it("an export is empty if --ecosystem names a release without advisories", async () => {
      const { document, lost } = await exported(both, "Alpine:v3.22");
      assert.deepEqual([document.packages, document.distroversion, lost.length], [[], "v3.22", 5]);
    });
  });

  it("an export of other formats has the ids of the vulnerability, and is imported for the same distribution", async () => {
    const { document } = await exported([other([fix("1.2-r0")])]);
    assert.deepEqual(document, {
      apkurl: "{{urlprefix}}/{{reponame}}/{{arch}}/{{pkg.name}}-{{pkg.ver}}.apk",
      reponame: "os",
      urlprefix: "https://packages.wolfi.dev",
      archs: [],
      packages: [{ pkg: { name: "tool", secfixes: { "1.2-r0": ["CVE-2030-1", "GHSA-2222-3333-4444"] } } }],
    });
    const [first] = imported(document);
    assert.equal(first!.records[0]!.statements[0]!.product!.purl, purl);
    const odd = other([{ ...fix("1"), product: { purl: "pkg:apk/apk.example.org/tool" }, release: "r1" }]);
    const [again] = imported((await exported([odd])).document);
    assert.equal(again!.records[0]!.document, "apk.example.org/r1/os/tool");
  });

  const cases: readonly (readonly [
    what: string,
    advisory: AdvisoryStatements,
    secfixes: Json,
    lost: readonly string[],
  ])[] = [
    ["a fix", other([fix("1")]), { "1": "ids" }, []],
    [
      "several branches",
      other([range(["INTRODUCED", "1"], ["FIXED", "1.2"], ["INTRODUCED", "2"], ["FIXED", "2.2"])]),
      { "1.2": "ids", "2.2": "ids" },
      ["the first affected version"],
    ],
    [
      "versions that have the fix",
      other([fixed("1.10-r0", "1.9-r0")]),
      { "1.9-r0": "ids" },
      ["a later version with the fix"],
    ],
    ["not affected", other([none]), { "0": "ids" }, []],
    [
      "not affected for a reason",
      other([{ ...none, justification: "component_not_present" }]),
      { "0": "ids" },
      ["the reason why a package is not affected"],
    ],
    ["not affected in a version", other([{ ...none, versions: ["1"] }]), undefined, ["versions that are not affected"]],
    [
      "not affected, next to a fix",
      other([none, fix("1")]),
      { "1": "ids" },
      ["a package that is not affected, next to another status"],
    ],
    [
      "not affected, next to an affected version",
      other([none, range(["INTRODUCED", "1"])]),
      undefined,
      [
        "a package that is not affected, next to another status",
        "an affected package without a fix",
        "the first affected version",
      ],
    ],
    [
      "a fix, and commits",
      other([{ ...fix("1.2"), ranges: [...fix("1.2").ranges, { type: "GIT", repo: "https://git.example/x" }] }]),
      { "1.2": "ids" },
      ["a range of commits"],
    ],
    [
      "affected again after a fix",
      other([range(["INTRODUCED", "0"], ["FIXED", "1.2"], ["INTRODUCED", "2"])]),
      undefined,
      ["an affected package without a fix", "the first affected version"],
    ],
    [
      "events in an order that hides a branch without a fix",
      other([range(["INTRODUCED", "2"], ["FIXED", "1.2"], ["INTRODUCED", "0"])]),
      undefined,
      ["an affected package without a fix", "the first affected version"],
    ],
    [
      "a fix, next to a branch that was last affected in a version",
      other([
        { ...fix("1.2"), ranges: [...fix("1.2").ranges, ...range(["INTRODUCED", "2"], ["LAST_AFFECTED", "3"]).ranges] },
      ]),
      undefined,
      ["an affected package without a fix", "the first affected version", "the last affected version"],
    ],
    [
      "an affected version behind the fix",
      other([{ ...fix("1.2"), versions: ["1.1", "2"] }]),
      undefined,
      ["an affected package without a fix", "an affected version"],
    ],
    ["affected", other([{ status: "PRODUCT_STATUS_AFFECTED" }]), undefined, ["an affected package without a fix"]],
    [
      "affected until a version",
      other([range(["INTRODUCED", "0"], ["LAST_AFFECTED", "1"])]),
      undefined,
      ["an affected package without a fix", "the last affected version"],
    ],
    [
      "under investigation",
      other([{ status: "PRODUCT_STATUS_UNDER_INVESTIGATION" }]),
      undefined,
      ["a status under investigation"],
    ],
    ["a commit", other([{ ...fix("1"), ranges: [{ type: "GIT", events: [] }] }]), undefined, ["a range of commits"]],
    [
      "a library",
      other([{ ...fix("1"), product: { purl: "pkg:npm/tool" } }]),
      undefined,
      ["a product that is not an apk package"],
    ],
    [
      "an image",
      other([{ ...fix("1"), product: { purl: "pkg:oci/tool?repository_url=x" } }]),
      undefined,
      ["a product that is not an apk package"],
    ],
    [
      "a Debian package",
      other([{ ...fix("1"), product: { purl: "pkg:deb/debian/tool" } }]),
      undefined,
      ["a product that is not an apk package"],
    ],
    [
      "a withdrawn record",
      other([fix("1")], { withdrawTime: "2030-01-01T00:00:00Z" }),
      undefined,
      ["a record that its source withdrew"],
    ],
    [
      "a severity and texts",
      other([fix("1")], { severities: [{ type: "x" }], references: [{ url: "x" }], summary: "x" }),
      { "1": "ids" },
      ["a description", "a reference", "a severity"],
    ],
    ["no alias", other([fix("1")], {}, []), { "1": ["CGA-2345-6789-cfgh"] }, []],
    [
      "an alias with a blank",
      other([fix("1")], {}, ["CVE-2030-1", "a b"]),
      { "1": ["CVE-2030-1"] },
      ["an id with blanks"],
    ],
    ["a version with a blank", other([fix("1 or 2")]), undefined, ["a version with blanks"]],
  ];
  for (const [what, advisory, secfixes, lost] of cases) {
    it(`says no more than other formats, and counts what it cannot say: ${what}`, async () => {
      const found = await exported([advisory]);
      const ids = ["CVE-2030-1", "GHSA-2222-3333-4444"];
      const expected =
        secfixes &&
        Object.fromEntries(Object.entries(secfixes).map(([version, said]) => [version, said === "ids" ? ids : said]));
      assert.deepEqual([found.document.packages[0]?.pkg.secfixes, found.lost], [expected, lost]);
    });
  }

  it("counts a package of one architecture among others", async () => {
    const of = (arch: string) => other([{ ...fix("1"), product: { purl: `${purl}?arch=${arch}` } }]);
    assert.deepEqual((await exported([of("x86_64")])).lost, []);
    const { document, lost } = await exported([of("x86_64"), of("aarch64")]);
    assert.deepEqual([document.archs, lost.length], [["aarch64", "x86_64"], 2]);
  });
});
