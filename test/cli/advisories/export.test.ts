// `gatehouse advisories export`, as a person runs it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { osvSchema } from "../../advisories/osv/schema.ts";
import { type Desk, type Json, openDesk } from "./desk.ts";
import { csaf, record, secdb, vex, yaml } from "./samples.ts";

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(async () => {
  await desk[Symbol.asyncDispose]();
});

describe("advisories export", () => {
  let group: string;
  before(async () => {
    group = await desk.newGroup();
    const files = {
      "osv.json": [record(1), record(2)],
      "secdb.json": secdb,
      "vex.json": vex,
      "csaf.json": csaf,
      "a.yaml": yaml,
    };
    assert.equal((await desk.importInto(group, desk.folder(files))).code, 0);
  });

  const exported = async (format: string, ...args: string[]) => {
    const run = await desk.caller.run("advisories", "export", "--group", group, "--format", format, ...args);
    assert.equal(run.code, 0, run.stderr);
    return run;
  };

  it("osv: records that the schema allows, of what is fixed and of false positives", async () => {
    const { stdout, stderr } = await exported("osv", "--ecosystem", "Wolfi");
    const records: Json[] = JSON.parse(stdout);
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(osvSchema);
    for (const each of records) assert.ok(validate(each), JSON.stringify([each, validate.errors]));
    assert.equal(records.length, 2 + 4 + 2 + 1);
    assert.equal(stderr, "9 advisories exported; 4 are in a state that osv has no word for\n");
    const tool = records.find(({ id }) => id === "CGA-2345-6789-cfgh");
    assert.deepEqual(tool.affected, [
      {
        package: { ecosystem: "Wolfi", name: "tool", purl: "pkg:apk/wolfi/tool" },
        ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.10" }] }],
      },
    ]);
    assert.deepEqual(tool.related, ["CGA-2345-6789-cfgh", "CVE-2030-1000001"]);
    const never = records.filter(({ affected }) => affected[0].ranges[0].database_specific?.false_positive === true);
    assert.deepEqual(
      never.map(({ affected }) => affected[0].ranges[0].events),
      Array(2).fill([{ introduced: "0" }, { fixed: "0" }]),
    );
  });

  it("osv: an ecosystem that OSV does not have is refused, and the rule is named", async () => {
    const refusals: readonly (readonly [ecosystem: string, message: string])[] = [
      ["wolfi", 'OSV has no ecosystem "wolfi", but "Wolfi"'],
      ["Home", 'OSV has no ecosystem "Home"'],
      ["", 'OSV has no ecosystem ""'],
      ["Alpine:", "behind the colon of Alpine: there is no version"],
    ];
    for (const [ecosystem, message] of refusals) {
      const args = ["advisories", "export", "--group", group, "--format", "osv", "--ecosystem", ecosystem];
      const { code, stdout, stderr } = await desk.caller.run(...args);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.ok(stderr.startsWith(`gatehouse: --ecosystem: ${message}\n  Its ecosystems are AlmaLinux, `), stderr);
    }
  });

  it("osv: an id of a database that OSV has not registered is marked as one", async () => {
    const own = await desk.newGroup();
    const files = desk.folder({ "a.json": [record(1, { id: "ACME-1" }), record(2, { id: "x_ACME-2" }), record(3)] });
    assert.equal((await desk.importInto(own, files)).code, 0);
    const { stdout } = await desk.caller.run("advisories", "export", "--group", own, "--format", "osv");
    const records: Json[] = JSON.parse(stdout);
    assert.deepEqual(records.map(({ id }) => id).sort(), ["GO-2030-1003", "x_ACME-1", "x_ACME-2"]);
    assert.ok(records.some(({ related }) => related.includes("ACME-1")));
  });

  it("osv: what comes in goes out, and means the same wherever it comes in again", async () => {
    const [own, other] = [await desk.newGroup(), await desk.newGroup()];
    const names = [
      ...["Go", "npm", "PyPI", "crates.io", "RubyGems", "Maven", "NuGet", "Packagist", "Hex", "Pub", "CRAN"],
    ];
    names.push("Hackage", "SwiftURL", "ConanCenter", "GitHub Actions", "Julia", "Linux");
    const records = names.map((ecosystem, i) => {
      const ranges = [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.0" }] }];
      const times = { modified: "2030-01-02T00:00:00Z", published: "2030-01-01T00:00:00Z" };
      return {
        id: `ACME-${i}`,
        ...times,
        upstream: [`CVE-2030-${i}`],
        affected: [{ package: { ecosystem, name: "a:b" }, ranges }],
      };
    });
    assert.equal((await desk.importInto(own, desk.folder({ "a.json": records }))).code, 0);
    const output = path.join(desk.caller.home, "again.json");
    const flags = ["--group", own, "--format", "osv", "--ecosystem", "Wolfi", "--output", output];
    assert.equal((await desk.caller.run("advisories", "export", ...flags)).code, 0);
    const packages = JSON.parse(readFileSync(output, "utf8")).map(({ affected: [{ package: each }] }: Json) => each);
    assert.deepEqual(packages.map(({ ecosystem }: Json) => ecosystem).sort(), names.toSorted());
    const purls: string[] = packages.map(({ purl }: Json) => purl);
    for (const type of ["golang", "npm", "cargo", "maven", "nuget", "composer", "swift", "conan"])
      assert.ok(
        purls.some((purl) => purl.startsWith(`pkg:${type}/`)),
        type,
      );
    assert.match((await desk.importInto(own, output)).stdout, /^0 created, 0 updated, 17 unchanged/);
    assert.match((await desk.importInto(other, output)).stdout, /^17 created/);
    const [before, after] = [await advisoriesOf(own), await advisoriesOf(other)];
    assert.deepEqual(after, before);
  });

  it("openvex and csaf: a library goes out as what it came in as", async () => {
    const purls = ["pkg:npm/left-pad@1.3.0", "pkg:composer/a/b@2", "pkg:golang/example.org/x@v1"];
    const own = await desk.newGroup();
    const products = purls.map((id) => ({ "@id": id }));
    const statements = [{ vulnerability: "CVE-2030-1", products, status: "fixed", timestamp: "2030-01-01T00:00:00Z" }];
    const files = desk.folder({ "vex.json": { ...vex, statements } });
    assert.equal((await desk.importInto(own, files)).code, 0);
    for (const format of ["openvex", "csaf"]) {
      const { stdout } = await desk.caller.run("advisories", "export", "--group", own, "--format", format);
      for (const purl of purls) assert.ok(stdout.includes(`"${purl}"`), `${format}: ${purl}`);
    }
  });

  it("osv into a directory: a feed with its index", async () => {
    const output = path.join(desk.caller.home, "feed");
    await exported("osv", "--output", output);
    const index: Json[] = JSON.parse(readFileSync(path.join(output, "all.json"), "utf8"));
    assert.equal(index.length, 9);
    assert.deepEqual(readdirSync(output).sort(), ["all.json", ...index.map(({ id }) => `${id}.json`)].sort());
  });

  it("secdb: the versions that fix, and 0 for what was never affected", async () => {
    const { packages } = JSON.parse((await exported("secdb")).stdout);
    const shown = Object.fromEntries(packages.map(({ pkg }: Json) => [pkg.name, pkg.secfixes]));
    assert.deepEqual(shown.a, { "0": ["CVE-2030-3"], "1-r0": ["CVE-2030-1", "CVE-2030-2"] });
    assert.deepEqual(shown.b, { "2-r0": ["CVE-2030-1", "GHSA-1"] });
    assert.deepEqual(shown.tool, { "1.10": ["CVE-2030-1000001"] });
  });

  it("openvex and csaf: a status for every advisory, which means the same when it is read again", async () => {
    for (const format of ["openvex", "csaf"]) {
      const output = path.join(desk.caller.home, `${format}.json`);
      const { stderr } = await exported(format, "--output", output, "--author", "Example", "--ecosystem", "wolfi");
      assert.equal(stderr, "13 advisories exported\n");
      const other = await desk.newGroup();
      const again = await desk.importInto(other, output);
      assert.deepEqual([again.code, again.stderr], [0, ""]);
      const states = async (of: string) => {
        const { items } = await desk.caller.json("advisories", "list", "--parent", of);
        const words = items.map((item: Json) => {
          const { createTime: _t, author: _a, uid: _u, reviewState: _r, ...type } = item.events.at(-1);
          // Notes that were empty say what they mean in a document that must say something.
          return `${item.artifactName} ${item.aliases.find((id: string) => id.startsWith("CVE"))} ${Object.keys(type)[0]}`;
        });
        return words.sort();
      };
      assert.deepEqual(await states(other), await states(group));
    }
  });

  it("the version of an ecosystem is no part of the distribution, in any format", async () => {
    const json = async (format: string) => JSON.parse((await exported(format, "--ecosystem", "Alpine:v3.22")).stdout);
    const records: Json[] = await json("osv");
    const tool = records.find(({ id }) => id === "CGA-2345-6789-cfgh").affected[0].package;
    assert.deepEqual([tool.ecosystem, tool.purl], ["Alpine:v3.22", "pkg:apk/alpine/tool"]);
    for (const format of ["openvex", "csaf"]) {
      const text = JSON.stringify(await json(format));
      assert.ok(text.includes("pkg:apk/alpine/tool"), format);
      assert.ok(!text.includes("v3.22"), format);
    }
    assert.equal((await json("secdb")).urlprefix, "https://packages.alpine.dev");
  });

  it("csaf: what the profile demands of a document", async () => {
    const { document, product_tree: tree, vulnerabilities } = JSON.parse((await exported("csaf")).stdout);
    assert.deepEqual(
      [document.category, document.csaf_version, document.tracking.status],
      ["csaf_vex", "2.0", "final"],
    );
    const known = new Set(tree.full_product_names.map((product: Json) => product.product_id));
    assert.equal(new Set(vulnerabilities.map(({ cve, ids }: Json) => cve ?? ids[0].text)).size, vulnerabilities.length);
    for (const each of vulnerabilities) {
      assert.ok(each.notes.length > 0);
      const products = Object.values(each.product_status).flat();
      assert.equal(new Set(products).size, products.length, "no product has two states");
      for (const product of products) assert.ok(known.has(product));
      const said = (list: Json[] = []) => new Set(list.flatMap(({ product_ids: ids }) => ids));
      for (const product of each.product_status.known_affected ?? []) assert.ok(said(each.remediations).has(product));
      for (const product of each.product_status.known_not_affected ?? []) assert.ok(said(each.flags).has(product));
    }
  });

  it("a directory in the place of the file is left as it was", async () => {
    const output = path.join(desk.caller.home, "directory");
    mkdirSync(output);
    const args = ["advisories", "export", "--group", group, "--format", "csaf", "--output", output];
    const { code, stderr } = await desk.caller.run(...args);
    assert.match(stderr, /directory cannot be written: /);
    assert.deepEqual([code, existsSync(`${output}.new`)], [1, false]);
  });

  it("a directory that cannot be made is named", {
    skip: process.platform !== "linux" && "only Linux has /proc",
  }, async () => {
    const args = ["advisories", "export", "--group", group, "--format", "osv", "--output", "/proc/none/at/all"];
    const { code, stderr } = await desk.caller.run(...args);
    assert.match(stderr, /^gatehouse: \/proc\/none\/at\/all cannot be written: ENOENT/);
    assert.equal(code, 1);
  });

  it("a place that cannot be written to is named", async () => {
    const args = ["advisories", "export", "--group", group, "--format", "secdb", "--output", "/proc/no/such.json"];
    const { code, stderr } = await desk.caller.run(...args);
    assert.equal(code, 1);
    assert.match(stderr, /^gatehouse: \/proc\/no\/such\.json cannot be written/);
  });
});

/** What is known of each advisory of a group, but for what differs with every import. */
async function advisoriesOf(group: string): Promise<Json[]> {
  const { items } = await desk.caller.json("advisories", "list", "--parent", group);
  const known = items.map(({ uid: _, createTime: _c, updateTime: _u, ...item }: Json) => ({
    ...item,
    events: item.events.map(({ uid: _e, ...event }: Json) => event),
  }));
  return known.sort((a: Json, b: Json) => (a.advisoryId < b.advisoryId ? -1 : 1));
}
