// `gatehouse advisories import` and `export`, as a person runs them. All advisories are made up.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { readChanges } from "../../../src/storage/changes.ts";
import { readCounter } from "../../../src/storage/counters.ts";
import { addCaller, addGroup, viewerRole } from "../../security/tree.ts";
import { type Caller, startCaller } from "../caller.ts";
import { osvSchema } from "./osv-schema.ts";
import { zip } from "./zip.ts";

// biome-ignore lint/suspicious/noExplicitAny: what they hold is what the tests are about
type Json = any;

let caller: Caller;
let groups = 0;
before(async () => {
  caller = await startCaller();
});
after(async () => {
  await caller[Symbol.asyncDispose]();
});

/** A group of its own, by its uid. */
function newGroup(): Promise<string> {
  return addGroup(caller.server, caller.server.groupUid, `group ${++groups}`);
}

const record = (i: number, changes: object = {}) => ({
  ...{ id: `GO-2030-${1000 + i}`, modified: "2030-02-01T00:00:00Z", published: "2030-01-01T00:00:00Z" },
  aliases: [`CVE-2030-${100_000 + i}`],
  severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H" }],
  affected: [
    {
      package: { ecosystem: "Go", name: `example.test/m${i % 7}` },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: `1.${i}` }] }],
    },
  ],
  ...changes,
});

const secdb = {
  ...{ apkurl: "x", archs: ["x86_64", "aarch64"], reponame: "os", urlprefix: "https://p.example" },
  packages: [
    { pkg: { name: "a", secfixes: { "1-r0": ["CVE-2030-1", "CVE-2030-2"], "0": ["CVE-2030-3"] } } },
    { pkg: { name: "b", secfixes: { "2-r0": ["CVE-2030-1 GHSA-1"] } } },
  ],
};

const vex = {
  ...{ "@context": "https://openvex.dev/ns/v0.2.0", author: "Team", timestamp: "2030-01-01T00:00:00Z" },
  statements: ["affected", "not_affected", "fixed"].map((status, i) => ({
    ...{ vulnerability: { name: `CVE-2030-${i}` }, status, products: [{ "@id": "pkg:apk/wolfi/v@1-r0" }] },
  })),
};

const csaf = {
  document: {
    csaf_version: "2.0",
    publisher: { name: "Vendor" },
    tracking: { current_release_date: "2030-01-01T00:00:00Z" },
  },
  product_tree: { full_product_names: [{ product_id: "p", name: "Box" }] },
  vulnerabilities: [
    {
      cve: "CVE-2030-1001",
      product_status: { known_affected: ["p"] },
      remediations: [{ category: "no_fix_planned", details: "d", product_ids: ["p"] }],
    },
    { cve: "CVE-2030-1002", product_status: { under_investigation: ["p"] } },
  ],
};

const yaml = `schema-version: 2.0.2
package: {name: tool}
advisories:
  - id: CGA-2345-6789-cfgh
    aliases: [CVE-2030-1000001]
    events: [{timestamp: 2030-01-09T00:00:00Z, type: fixed, data: {fixed-version: 1.10}}]
  - id: CGA-2345-6789-cfgj
    aliases: [CVE-2030-1000002]
    events: [{timestamp: 2030-01-09T00:00:00Z, type: pending-upstream-fix, data: {note: later}}]
`;

/** Puts files into a directory of their own, and answers where it is. */
function folder(files: Readonly<Record<string, unknown>>): string {
  const directory = path.join(caller.home, `files ${++groups}`);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    const isText = typeof content === "string" || Buffer.isBuffer(content);
    writeFileSync(file, isText ? content : JSON.stringify(content));
  }
  return directory;
}

const importInto = (group: string, ...args: string[]) => caller.run("advisories", "import", "--group", group, ...args);

/** How many advisories a group has. */
function countOf(group: string): Promise<number> {
  return readCounter(caller.server.server.database.session, group, "advisories");
}

/** How far the change log has come. */
async function changes(): Promise<number> {
  const latest = await readChanges(caller.server.server.database.session, 0, 1_000_000);
  return latest.at(-1)?.sequence ?? 0;
}

describe("advisories import", () => {
  const sources: Readonly<Record<string, readonly [name: string, content: unknown, count: number]>> = {
    OSV: ["one.json", record(1), 1],
    "OSV, several in a list": ["list.json", [record(1), record(2), record(3)], 3],
    secdb: ["secdb.json", secdb, 4],
    OpenVEX: ["vex.json", vex, 3],
    CSAF: ["csaf.json", csaf, 2],
    YAML: ["tool.advisories.yaml", yaml, 2],
  };
  for (const [format, [name, content, count]] of Object.entries(sources)) {
    it(`${format}: there are as many as in the source, and twice is as once`, async () => {
      const group = await newGroup();
      const file = path.join(folder({ [name]: content }), name);
      const dry = await importInto(group, file, "--dry-run");
      assert.deepEqual([dry.code, dry.stdout], [0, `would be: ${count} created, 0 updated, 0 unchanged, 0 left out\n`]);
      assert.equal(await countOf(group), 0);
      const first = await importInto(group, file);
      assert.deepEqual(
        [first.code, first.stdout, first.stderr],
        [0, `${count} created, 0 updated, 0 unchanged, 0 left out\n`, ""],
      );
      assert.equal(await countOf(group), count);
      const before = await changes();
      const second = await importInto(group, file);
      assert.deepEqual([second.code, second.stdout], [0, `0 created, 0 updated, ${count} unchanged, 0 left out\n`]);
      assert.equal(await changes(), before);
    });
  }

  it("one broken advisory among a thousand is named, and 999 go in", async () => {
    const group = await newGroup();
    const files = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i % 9}/${i}.json`, record(i)]));
    files["4/500.json"] = record(500, { aliases: ["CVE-2030-500", "not an id"] });
    delete files["5/500.json"];
    const { code, stdout, stderr } = await importInto(group, folder(files));
    assert.equal(code, 1);
    assert.match(stderr, /^[^\n]+4\/500\.json: GO-2030-1500: aliases\[1\]: alias must match "[^\n]+"\n$/);
    assert.equal(stdout, "999 created, 0 updated, 0 unchanged, 1 left out\n");
    assert.equal(await countOf(group), 999);
  });

  it("bad files are named with their reasons, and the others go in", async () => {
    const group = await newGroup();
    const directory = folder({
      ...{
        "a.json": "{",
        "b.json": { what: 1 },
        "c.yaml": yaml,
        "d.txt": "nothing",
        ".hidden.json": "{",
        "e.json": record(1),
        "\u001b[31mf.json": "{",
      },
    });
    symlinkSync(directory, path.join(directory, "loop"));
    const { code, stdout, stderr } = await importInto(group, directory, path.join(directory, "missing.json"));
    assert.equal(code, 1);
    assert.equal(stdout, "3 created, 0 updated, 0 unchanged, 4 left out\n");
    // Names of others cannot give orders to the terminal.
    assert.ok(!stderr.includes("\u001b"));
    const reasons = stderr
      .trim()
      .split("\n")
      .sort()
      .map((line) => line.replace(`${directory}/`, "").replace(/JSON: .*/, "JSON"));
    assert.deepEqual(reasons, [
      "a.json: it is no JSON",
      "b.json: it is in none of the formats that are known",
      "f.json: it is no JSON",
      "missing.json: there is no such file",
    ]);
  });

  it("an archive is read like a directory", async () => {
    const group = await newGroup();
    const archive = zip([
      { name: "feed/", content: Buffer.from("") },
      {
        name: "feed/all.json",
        content: Buffer.from(JSON.stringify([{ id: "GO-2030-1001", modified: "2030-02-01T00:00:00Z" }])),
      },
      ...[1, 2, 3].map((i) => ({ name: `feed/${i}.json`, content: Buffer.from(JSON.stringify(record(i))) })),
      { name: "feed/4.json", content: Buffer.from("{") },
    ]);
    const { code, stdout, stderr } = await importInto(group, path.join(folder({ "feed.zip": archive }), "feed.zip"));
    assert.deepEqual([code, stdout], [1, "3 created, 0 updated, 0 unchanged, 1 left out\n"]);
    assert.match(stderr, /feed\.zip: feed\/4\.json: it is no JSON/);
  });

  it("an archive that unpacks to too much, or to more than it says, or is none, does no harm", async () => {
    const group = await newGroup();
    const zeros = Buffer.alloc(65 * 1024 * 1024, 0x20);
    const directory = folder({
      "bomb.zip": zip([
        { name: "1.json", content: zeros },
        { name: "2.json", content: Buffer.from(JSON.stringify(record(1))) },
      ]),
      "liar.zip": zip([{ name: "1.json", content: zeros, claimed: 100 }]),
      "none.zip": "PK, but no archive",
      "escape.zip": zip([{ name: "../../1.json", content: Buffer.from(JSON.stringify(record(2))) }]),
    });
    const { code, stdout, stderr } = await importInto(group, directory);
    assert.equal(code, 1);
    assert.equal(stdout, "1 created, 0 updated, 0 unchanged, 4 left out\n");
    assert.match(stderr, /bomb\.zip: 1\.json: it is larger than 67108864 bytes\n/);
    assert.match(stderr, /liar\.zip: 1\.json: too many bytes in the stream/);
    assert.match(stderr, /none\.zip: [^\n]*(end of central directory|End of central directory)/i);
    assert.match(stderr, /escape\.zip: invalid relative path/);
  });

  it("--author and --format win over what the files say", async () => {
    const group = await newGroup();
    const file = path.join(folder({ "a.json": vex }), "a.json");
    assert.match((await importInto(group, file, "--format", "osv")).stderr, /a\.json: it is not osv\n/);
    assert.equal((await importInto(group, file, "--author", "somebody")).code, 0);
    const { items } = await caller.json("advisories", "list", "--parent", group);
    assert.deepEqual(new Set(items.map(({ author }: Json) => author)), new Set(["somebody"]));
  });

  it("I8: who may not write imports nothing, and is told what is missing", async () => {
    const group = await newGroup();
    const { token } = await addCaller(caller.server, group, viewerRole.uid);
    const file = path.join(folder({ "a.json": record(1) }), "a.json");
    const args = ["advisories", "import", "--group", group, file];
    const { code, stderr } = await caller.runWith({ GATEHOUSE_TOKEN: token }, ...args);
    assert.equal(code, 1);
    assert.match(stderr, /Permission denied: .*advisories\.create, advisories\.update at/);
    assert.equal(await countOf(group), 0);
  });

  it("wrong usage", async () => {
    const file = path.join(folder({ "a.json": record(1) }), "a.json");
    assert.equal((await caller.run("advisories", "import", file)).code, 2);
    assert.equal((await caller.run("advisories", "import", "--group", "example.org")).code, 2);
    assert.equal((await importInto("example.org", file, "--format", "xml")).code, 2);
    assert.equal((await caller.run("advisories", "export", "--group", "example.org")).code, 2);
  });
});

describe("advisories export", () => {
  let group: string;
  before(async () => {
    group = await newGroup();
    const files = {
      "osv.json": [record(1), record(2)],
      "secdb.json": secdb,
      "vex.json": vex,
      "csaf.json": csaf,
      "a.yaml": yaml,
    };
    assert.equal((await importInto(group, folder(files))).code, 0);
  });

  const exported = async (format: string, ...args: string[]) => {
    const run = await caller.run("advisories", "export", "--group", group, "--format", format, ...args);
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

  it("osv into a directory: a feed with its index", async () => {
    const output = path.join(caller.home, "feed");
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
      const output = path.join(caller.home, `${format}.json`);
      const { stderr } = await exported(format, "--output", output, "--author", "Example", "--ecosystem", "wolfi");
      assert.equal(stderr, "13 advisories exported\n");
      const other = await newGroup();
      const again = await importInto(other, output);
      assert.deepEqual([again.code, again.stderr], [0, ""]);
      const states = async (of: string) => {
        const { items } = await caller.json("advisories", "list", "--parent", of);
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

  it("a place that cannot be written to is named", async () => {
    const args = ["advisories", "export", "--group", group, "--format", "secdb", "--output", "/proc/no/such.json"];
    const { code, stderr } = await caller.run(...args);
    assert.equal(code, 1);
    assert.match(stderr, /^gatehouse: \/proc\/no\/such\.json cannot be written/);
  });
});
