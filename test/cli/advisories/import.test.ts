// `gatehouse advisories import`, as a person runs it.
import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { readChanges } from "../../../src/storage/changes.ts";
import { addCaller, viewerRole } from "../../security/tree.ts";
import { type Desk, type Json, openDesk } from "./desk.ts";
import { csaf, record, secdb, vex, yaml } from "./samples.ts";
import { zip } from "./zip.ts";

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(async () => {
  await desk[Symbol.asyncDispose]();
});

/** How far the change log has come. */
async function changes(): Promise<number> {
  const latest = await readChanges(desk.caller.server.server.database.session, 0, 1_000_000);
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
      const group = await desk.newGroup();
      const file = path.join(desk.folder({ [name]: content }), name);
      const dry = await desk.importInto(group, file, "--dry-run");
      assert.deepEqual([dry.code, dry.stdout], [0, `would be: ${count} created, 0 updated, 0 unchanged, 0 left out\n`]);
      assert.equal(await desk.countOf(group), 0);
      const first = await desk.importInto(group, file);
      assert.deepEqual(
        [first.code, first.stdout, first.stderr],
        [0, `${count} created, 0 updated, 0 unchanged, 0 left out\n`, ""],
      );
      assert.equal(await desk.countOf(group), count);
      const before = await changes();
      const second = await desk.importInto(group, file);
      assert.deepEqual([second.code, second.stdout], [0, `0 created, 0 updated, ${count} unchanged, 0 left out\n`]);
      assert.equal(await changes(), before);
    });
  }

  it("a package that was affected in one version and fixed in the next is fixed, each time", async () => {
    const group = await desk.newGroup();
    const names = Array.from({ length: 12 }, (_, i) => `tool${i}`);
    const document = (name: string) => ({
      document: { ...csaf.document, tracking: { current_release_date: "2030-01-01T00:00:00Z" } },
      product_tree: {
        full_product_names: ["1", "2"].map((version) => ({
          ...{ product_id: `v${version}`, name: `${name} ${version}` },
          product_identification_helper: { purl: `pkg:apk/wolfi/${name}@${version}` },
        })),
      },
      vulnerabilities: [{ cve: "CVE-2030-1", product_status: { fixed: ["v2"], known_affected: ["v1"] } }],
    });
    const files = desk.folder(Object.fromEntries(names.map((name) => [`${name}.json`, document(name)])));
    assert.equal((await desk.importInto(group, files)).code, 0);
    const { items } = await desk.caller.json("advisories", "list", "--parent", group);
    const states = items.map(({ events }: Json) => events.at(-1).fixed?.fixedVersion);
    assert.deepEqual(states, Array(12).fill("2"));
  });

  it("one broken advisory among a thousand is named, and 999 go in", async () => {
    const group = await desk.newGroup();
    const files = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i % 9}/${i}.json`, record(i)]));
    files["4/500.json"] = record(500, { aliases: ["CVE-2030-500", "not an id"] });
    delete files["5/500.json"];
    const { code, stdout, stderr } = await desk.importInto(group, desk.folder(files));
    assert.equal(code, 1);
    assert.match(stderr, /^[^\n]+4\/500\.json: GO-2030-1500: aliases\[1\]: alias must match "[^\n]+"\n$/);
    assert.equal(stdout, "999 created, 0 updated, 0 unchanged, 1 left out\n");
    assert.equal(await desk.countOf(group), 999);
  });

  it("bad files are named with their reasons, and the others go in", async () => {
    const group = await desk.newGroup();
    const directory = desk.folder({
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
    const { code, stdout, stderr } = await desk.importInto(group, directory, path.join(directory, "missing.json"));
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
      "\\u{1b}[31mf.json: it is no JSON",
      "a.json: it is no JSON",
      "b.json: it is in none of the formats osv, secdb, openvex, csaf, yaml",
      "missing.json: there is no such file",
    ]);
  });

  it("what an export writes of no advisories is imported as none, which is said", async () => {
    const [group, directory] = [await desk.newGroup(), desk.folder({ "of.txt": "nothing" })];
    for (const format of ["osv", "openvex", "csaf", "secdb"]) {
      const file = path.join(directory, `${format}.json`);
      const args = ["--group", group, "--format", format];
      const exported = await desk.caller.run("advisories", "export", ...args);
      assert.equal(exported.code, 0);
      writeFileSync(file, exported.stdout);
      for (const more of [[], ["--format", format]]) {
        const { code, stdout, stderr } = await desk.importInto(group, file, ...more);
        const nothing = "0 created, 0 updated, 0 unchanged, 0 left out\n";
        assert.deepEqual([code, stdout, stderr], [0, nothing, "No advisories.\n"], format);
      }
    }
  });

  it("a file whose name says nothing is named with the formats that there are", async () => {
    const [group, directory] = [await desk.newGroup(), desk.folder({ "README.md": "# Advisories\n" })];
    const { code, stderr } = await desk.importInto(group, path.join(directory, "README.md"));
    assert.equal(code, 1);
    const said = /README\.md: it is no JSON \(osv, secdb, openvex, csaf\), and by its name no YAML \(\.yaml, \.yml\): /;
    assert.match(stderr, said);
    const named = await desk.importInto(group, path.join(directory, "README.md"), "--format", "osv");
    assert.match(named.stderr, /README\.md: it is no JSON: /);
  });

  it("an archive is read like a directory", async () => {
    const group = await desk.newGroup();
    const archive = zip([
      { name: "feed/", content: Buffer.from("") },
      {
        name: "feed/all.json",
        content: Buffer.from(JSON.stringify([{ id: "GO-2030-1001", modified: "2030-02-01T00:00:00Z" }])),
      },
      ...[1, 2, 3].map((i) => ({ name: `feed/${i}.json`, content: Buffer.from(JSON.stringify(record(i))) })),
      { name: "feed/4.json", content: Buffer.from("{") },
    ]);
    const { code, stdout, stderr } = await desk.importInto(
      group,
      path.join(desk.folder({ "feed.zip": archive }), "feed.zip"),
    );
    assert.deepEqual([code, stdout], [1, "3 created, 0 updated, 0 unchanged, 1 left out\n"]);
    assert.match(stderr, /feed\.zip: feed\/4\.json: it is no JSON/);
  });

  it("an archive that unpacks to too much, or to more than it says, or is none, does no harm", async () => {
    const group = await desk.newGroup();
    const zeros = Buffer.alloc(65 * 1024 * 1024, 0x20);
    const directory = desk.folder({
      "bomb.zip": zip([
        { name: "1.json", content: zeros },
        { name: "2.json", content: Buffer.from(JSON.stringify(record(1))) },
      ]),
      "liar.zip": zip([{ name: "1.json", content: zeros, claimed: 100 }]),
      "none.zip": "PK, but no archive",
      "escape.zip": zip([{ name: "../../1.json", content: Buffer.from(JSON.stringify(record(2))) }]),
    });
    const { code, stdout, stderr } = await desk.importInto(group, directory);
    assert.equal(code, 1);
    assert.equal(stdout, "1 created, 0 updated, 0 unchanged, 4 left out\n");
    assert.match(stderr, /bomb\.zip: 1\.json: it is larger than 67108864 bytes\n/);
    assert.match(stderr, /liar\.zip: 1\.json: too many bytes in the stream/);
    assert.match(stderr, /none\.zip: [^\n]*(end of central directory|End of central directory)/i);
    assert.match(stderr, /escape\.zip: invalid relative path/);
  });

  it("--author and --format win over what the files say", async () => {
    const group = await desk.newGroup();
    const file = path.join(desk.folder({ "a.json": vex }), "a.json");
    assert.match((await desk.importInto(group, file, "--format", "osv")).stderr, /a\.json: it is not osv\n/);
    assert.equal((await desk.importInto(group, file, "--author", "somebody")).code, 0);
    const { items } = await desk.caller.json("advisories", "list", "--parent", group);
    assert.deepEqual(new Set(items.map(({ author }: Json) => author)), new Set(["somebody"]));
  });

  it("I8: who may not write imports nothing, and is told what is missing", async () => {
    const group = await desk.newGroup();
    const { token } = await addCaller(desk.caller.server, group, viewerRole.uid);
    const file = path.join(desk.folder({ "a.json": record(1) }), "a.json");
    const args = ["advisories", "import", "--group", group, file];
    const { code, stderr } = await desk.caller.runWith({ GATEHOUSE_TOKEN: token }, ...args);
    assert.equal(code, 1);
    assert.match(stderr, /Permission denied: .*advisories\.create, advisories\.update at/);
    assert.equal(await desk.countOf(group), 0);
  });

  it("wrong usage", async () => {
    const file = path.join(desk.folder({ "a.json": record(1) }), "a.json");
    assert.equal((await desk.caller.run("advisories", "import", file)).code, 2);
    assert.equal((await desk.caller.run("advisories", "import", "--group", "example.org")).code, 2);
    for (const paths of [[""], [file, ""]]) {
      const { code, stdout, stderr } = await desk.importInto("example.org", ...paths);
      assert.deepEqual([code, stdout, stderr], [2, "", "gatehouse: the path of what to import is empty\n"]);
    }
    assert.equal((await desk.importInto("example.org", file, "--format", "xml")).code, 2);
    assert.equal((await desk.caller.run("advisories", "export", "--group", "example.org")).code, 2);
  });
});
