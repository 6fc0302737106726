// `gatehouse advisories import`, as a person runs it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createWriteStream, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { readChanges } from "../../../src/storage/change-log/change-log.ts";
import { addCaller, viewerRole } from "../../security/tree.ts";
import { start } from "../process.ts";
import { type Desk, type Json, openDesk } from "./desk.ts";
import { csaf, record, secdb, vex, yaml } from "./samples.ts";
import { packedZeros, zip } from "./zip.ts";

describe("advisories import", () => {
  let desk: Desk;
  before(async () => {
    desk = await openDesk();
  });
  after(() => desk[Symbol.asyncDispose]());

  /** Returns the sequence number of the latest change. */
  async function changes(): Promise<number> {
    const latest = await readChanges(desk.caller.server.server.database.session, 0, 1_000_000);
    return latest.at(-1)?.sequence ?? 0;
  }

  const summary = (created: number, updated: number, unchanged: number, leftOut = 0) =>
    `${created + updated + unchanged + leftOut} record${created + updated + unchanged + leftOut === 1 ? "" : "s"}: ` +
    `${created} created, ${updated} updated, ${unchanged} unchanged, 0 withdrawn, ${leftOut} left out`;

  /** Splits output into lines, without the folder of the files. */
  const saidIn = (directory: string, text: string) => text.replaceAll(`${directory}/`, "").trimEnd().split("\n");

  const sources: Readonly<Record<string, readonly [name: string, content: unknown, count: number]>> = {
    OSV: ["one.json", record(1), 1],
    "OSV, several in a list": ["list.json", [record(1), record(2), record(3)], 3],
    "OSV, one in each line": ["lines.ndjson", [1, 2, 3].map((i) => JSON.stringify(record(i))).join("\n"), 3],
    secdb: ["secdb.json", secdb, 4],
    OpenVEX: ["vex.json", vex, 3],
    CSAF: ["csaf.json", csaf, 2],
    YAML: ["tool.advisories.yaml", yaml, 2],
  };
  for (const [format, [name, content, count]] of Object.entries(sources)) {
    it(`${format}: counts the records of the source; a second import writes nothing`, async () => {
      const group = await desk.newGroup();
      const file = path.join(desk.folder({ [name]: content }), name);
      const dry = await desk.importInto(group, file, "--dry-run");
      assert.deepEqual([dry.code, dry.stdout], [0, `would be: ${summary(count, 0, 0)}\n`]);
      assert.equal(await desk.countOf(group), 0);
      const first = await desk.importInto(group, file);
      assert.deepEqual([first.code, first.stdout, first.stderr], [0, `${summary(count, 0, 0)}\n`, ""]);
      assert.equal(await desk.countOf(group), count);
      const before = await changes();
      const second = await desk.importInto(group, file);
      assert.deepEqual([second.code, second.stdout], [0, `${summary(0, 0, count)}\n`]);
      assert.equal(await changes(), before);
    });
  }

  it("an invalid record among three hundred is reported, and 299 are imported; an invalid field is left out", async () => {
    const group = await desk.newGroup();
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i % 9}/${i}.json`, record(i)]));
    files["4/50.json"] = record(50, { modified: "yesterday" });
    files["6/60.json"] = record(60, { aliases: ["CVE-2030-60", 7] });
    delete files["5/50.json"];
    const directory = desk.folder(files);
    const { code, stdout, stderr } = await desk.importInto(group, directory);
    assert.equal(code, 1);
    assert.deepEqual(saidIn(directory, stderr), [
      "4/50.json: GO-2030-1050: modified: must be a time of RFC 3339 (record left out)",
      "6/60.json: GO-2030-1060: aliases[1]: must be a text",
    ]);
    assert.equal(stdout, `${summary(299, 0, 0, 1)}; 1 field left out\n`);
    assert.equal(await desk.countOf(group), 299);
    const fields = await desk.importInto(group, path.join(directory, "6/60.json"));
    assert.deepEqual([fields.code, fields.stdout], [0, `${summary(0, 0, 1)}; 1 field left out\n`]);
  });

  it("shows a thousand problems, the records that were left out first, and counts the others", async () => {
    const group = await desk.newGroup();
    const fields = Array.from({ length: 1100 }, (_, i) => record(i, { aliases: "none" }));
    const directory = desk.folder({ "a.json": [...fields, record(5000, { modified: "x" })] });
    const { code, stdout, stderr } = await desk.importInto(group, directory, "--dry-run");
    const lines = saidIn(directory, stderr);
    assert.deepEqual([code, lines.length, lines.at(-1)], [1, 1001, "… and 101 more"]);
    assert.match(lines[0]!, /GO-2030-6000: modified: .* \(record left out\)$/);
    assert.equal(stdout, `would be: ${summary(1100, 0, 0, 1)}; 1100 fields left out\n`);
  });

  it("invalid files are reported with their reasons, and the others are imported", async () => {
    const group = await desk.newGroup();
    const directory = desk.folder({
      "a.json": "{",
      "b.json": { what: 1 },
      "c.yaml": yaml,
      "d.txt": "nothing",
      ".hidden.json": "{",
      "e.json": record(1),
      "\u001b[31mf.json": "{",
      "g.json": '{"id": 1, "id": 2}',
      "h.json": "[".repeat(100_000),
      "i.ndjson": `${JSON.stringify(record(2))}\n{\n`,
    });
    const { code, stdout, stderr } = await desk.importInto(group, directory, path.join(directory, "missing.json"));
    assert.equal(code, 1);
    assert.equal(stdout, `${summary(4, 0, 0, 1)}; 6 files not read\n`);
    // Names of others cannot give orders to the terminal.
    assert.ok(!stderr.includes("\u001b"));
    const reasons = saidIn(directory, stderr).map((line) => line.replace(/JSON: .*?(?= \(record|$)/, "JSON"));
    assert.deepEqual(reasons.sort(), [
      "1 file skipped (1 .txt)",
      "\\u{1b}[31mf.json: is not valid JSON",
      "a.json: is not valid JSON",
      "b.json: is in none of the formats osv, secdb, openvex, csaf, yaml",
      'g.json: has a member twice: "id" in line 1',
      "h.json: is nested more than 100 deep",
      "i.ndjson: line 2: is not valid JSON (record left out)",
      "missing.json: there is no such file",
    ]);
  });

  it("names the kind of files without advisories, and does not fail", async () => {
    const group = await desk.newGroup();
    const directory = desk.folder({
      "all.json": [{ id: "GO-2030-1001", modified: "2030-02-01T00:00:00Z" }],
      "feed.json": { feed: { id: "x", entry: [] } },
      "pointer.json": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
      "next.json": { document: { csaf_version: "2.1" } },
    });
    symlinkSync(directory, path.join(directory, "loop"));
    const { code, stdout, stderr } = await desk.importInto(group, directory);
    assert.deepEqual([code, stdout], [0, `0 records: ${summary(0, 0, 0).slice("0 records: ".length)}\n`]);
    assert.deepEqual(saidIn(directory, stderr).sort(), [
      "all.json: is an index of OSV records: nothing to import",
      "feed.json: is a ROLIE feed: nothing to import",
      "loop: is a link to a directory, which is not followed: nothing to import",
      "next.json: is a document of CSAF 2.1, which is not read (only CSAF 2.0 is): nothing to import",
      "pointer.json: is a Git LFS pointer to a file: nothing to import",
    ]);
  });

  it("counts the files that it skips by their extension, and fails if it skips all of them", async () => {
    const group = await desk.newGroup();
    const skipped = { "a/x.md": "# x", "a/y.MD": "# y", "b.txt": "", LICENSE: "", ".git/z": "" };
    const all = await desk.importInto(group, desk.folder(skipped));
    assert.equal(all.code, 1);
    assert.deepEqual(all.stderr.trimEnd().split("\n"), [
      "4 files skipped (2 .md, 1 .txt, 1 without an extension)",
      "No file was read: advisories are in files named .json, .ndjson, .jsonl, .yaml or .yml, also with .gz behind, and in .zip.",
    ]);
    const archive = zip([
      { name: "a/", content: Buffer.from("") },
      { name: "a/x.md", content: Buffer.from("# x") },
      { name: "a/.y.md", content: Buffer.from("# y") },
    ]);
    const zipped = await desk.importInto(group, desk.folder({ "a.zip": archive }));
    assert.deepEqual([zipped.code, zipped.stderr.split("\n")[0]], [1, "1 file skipped (1 .md)"]);
    const some = await desk.importInto(group, desk.folder({ ...skipped, "a.json": record(1) }));
    assert.deepEqual([some.code, some.stdout], [0, `${summary(1, 0, 0)}\n`]);
    assert.equal(some.stderr, "4 files skipped (2 .md, 1 .txt, 1 without an extension)\n");
    const json = await desk.importInto(group, desk.folder({ "a.md": "" }), "-o", "json");
    assert.deepEqual([json.code, JSON.parse(json.stdout).filesSkipped], [1, { ".md": 1 }]);
    const empty = await desk.importInto(group, desk.folder({ "a.json": "[]", "a.md": "" }));
    assert.deepEqual([empty.code, empty.stderr], [0, "1 file skipped (1 .md)\nNo advisories.\n"]);
  });

  it("an export without advisories is imported as empty, with a message", async () => {
    const [group, directory] = [await desk.newGroup(), desk.folder({ "of.txt": "nothing" })];
    for (const format of ["osv", "openvex", "csaf", "secdb"]) {
      const file = path.join(directory, `${format}.json`);
      const args = ["--group", group, "--format", format];
      const exported = await desk.caller.run("advisories", "export", ...args);
      assert.equal(exported.code, 0);
      writeFileSync(file, exported.stdout);
      const { code, stdout, stderr } = await desk.importInto(group, file, "--format", format);
      assert.deepEqual([code, stdout, stderr], [0, `${summary(0, 0, 0)}\n`, "No advisories.\n"], format);
    }
  });

  it("reads a document from standard input, named -", async () => {
    const group = await desk.newGroup();
    const { child, finished } = start(["advisories", "import", "--group", group, "-"], desk.caller.environment);
    child.stdin?.end(JSON.stringify([record(1), { ...record(2), modified: "x" }]));
    const { code, stdout, stderr } = await finished;
    assert.deepEqual([code, stdout], [1, `${summary(1, 0, 0, 1)}\n`]);
    assert.match(stderr, /^standard input: GO-2030-1002: modified: must be a time of RFC 3339 \(record left out\)\n$/);
  });

  it("a file with an unknown extension is read as JSON, or reported with the possible formats", async () => {
    const [group, directory] = [await desk.newGroup(), desk.folder({ README: "# Advisories\n" })];
    const { code, stderr } = await desk.importInto(group, path.join(directory, "README"));
    assert.equal(code, 1);
    assert.match(stderr, /README: is not valid JSON: [^\n]+; files of YAML are named \.yaml or \.yml\n$/);
  });

  it("an archive is read like a directory, and one that unpacks to too much does no harm", async () => {
    const group = await desk.newGroup();
    const zeros = 65 * 2 ** 20;
    const archive = zip([
      { name: "feed/", content: Buffer.from("") },
      ...[1, 2, 3].map((i) => ({ name: `feed/${i}.json`, content: Buffer.from(JSON.stringify(record(i))) })),
      { name: "feed/4.json", content: Buffer.from("{") },
      { name: "feed/5.json", packed: packedZeros(65), claimed: zeros },
      { name: "feed/6.json", packed: packedZeros(65), claimed: 100 },
    ]);
    const directory = desk.folder({ "feed.zip": archive });
    const { code, stdout, stderr } = await desk.importInto(group, path.join(directory, "feed.zip"));
    assert.deepEqual([code, stdout], [1, `${summary(3, 0, 0)}; 3 files not read\n`]);
    assert.deepEqual(
      saidIn(directory, stderr).map((line) => line.slice(0, 60)),
      [
        "feed.zip: feed/4.json: is not valid JSON: Expected property name",
        "feed.zip: feed/5.json: is larger than the limit of 64 MiB",
        "feed.zip: feed/6.json: too many bytes in the stream. expected 100",
      ].map((line) => line.slice(0, 60)),
    );
  });

  it("a record of a hundred thousand events is left out or cut down with a reason, not half written", async () => {
    const group = await desk.newGroup();
    const events = Array.from({ length: 100_000 }, (_, i) =>
      i % 2 === 0 ? { introduced: `${i}` } : { fixed: `${i}` },
    );
    const affected = [{ package: { ecosystem: "Go", name: "example.test/a" }, ranges: [{ type: "SEMVER", events }] }];
    const directory = desk.folder({ "a.json": [record(1, { affected }), record(2)] });
    const { stdout, stderr } = await desk.importInto(group, directory);
    assert.match(
      stderr,
      /a\.json: GO-2030-1001: affected\[0\]\.ranges\[0\]\.events: has 100000 items, more than the limit/,
    );
    assert.match(stdout, /^2 records: /);
  });

  describe("a document of several records", () => {
    /** The CSAF document as of a day, with these of its vulnerabilities. */
    const document = (day: number, ...vulnerabilities: unknown[]) => {
      const tracking = { ...csaf.document.tracking, current_release_date: `2020-01-0${day}T00:00:00Z` };
      return { ...csaf, document: { ...csaf.document, tracking }, vulnerabilities };
    };
    const [first, second] = csaf.vulnerabilities as [object, object];
    const deleted = "; 1 record of an earlier version deleted";

    it("deletes those that only an earlier version had, in any order of versions", async () => {
      const group = await desk.newGroup();
      const [old, later] = [document(1, first, second), document(2, first)];
      await desk.importInto(group, desk.folder({ "a.json": old }));
      const folder = desk.folder({ "a.json": later });
      const dry = await desk.importInto(group, folder, "--dry-run");
      assert.equal(dry.stdout, `would be: ${summary(0, 1, 0)}${deleted}\n`);
      assert.equal((await desk.importInto(group, folder)).stdout, `${summary(0, 1, 0)}${deleted}\n`);
      assert.equal((await desk.importInto(group, folder)).stdout, `${summary(0, 0, 1)}\n`);
      const older = await desk.importInto(group, desk.folder({ "a.json": old }));
      assert.equal(older.stdout, `${summary(0, 0, 2)}\n`);
      assert.equal(await desk.countOf(group), 1);
    });

    it("keeps them while a record of the later version cannot be read", async () => {
      const group = await desk.newGroup();
      await desk.importInto(group, desk.folder({ "a.json": document(1, first, second) }));
      const broken = await desk.importInto(group, desk.folder({ "a.json": document(2, first, 7) }));
      assert.equal(broken.code, 1);
      assert.ok(!broken.stdout.includes("earlier version"), broken.stdout);
      assert.equal(await desk.countOf(group), 2);
    });
  });

  it("two files of one document id are both kept, or the records of the older one are named and the import fails", async () => {
    /** Returns a document as of a day, about these vulnerabilities. */
    const document = (day: number, ...names: string[]) => ({
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": "https://vex.example/1",
      author: "Team",
      timestamp: `2020-01-0${day}T00:00:00Z`,
      statements: names.map((name) => ({
        vulnerability: { name },
        status: "affected",
        action_statement: "update",
        products: [{ "@id": "pkg:npm/left@1.0.0" }],
      })),
    });
    const [older, later] = [document(1, "CVE-2020-1", "CVE-2020-2"), document(2, "CVE-2020-2", "CVE-2020-3")];
    for (const [files, old, winner] of [
      [{ "a.json": older, "b.json": later }, "a", "b"],
      [{ "a.json": later, "b.json": older }, "b", "a"],
    ] as const) {
      const [group, folder] = [await desk.newGroup(), desk.folder(files)];
      const counts = [];
      for (const flags of [["--dry-run"], [], []]) {
        const { code, stdout, stderr } = await desk.importInto(group, folder, ...flags);
        counts.push(stdout.replace("would be: ", ""));
        assert.equal(code, 1);
        const line = `${old}.json: CVE-2020-1: is not in ${winner}.json, a later version of the same document; import one of them with another --author to keep both (record left out)`;
        assert.deepEqual(
          saidIn(folder, stderr).filter((text) => text.includes("CVE-2020-1")),
          [line],
        );
      }
      const [dry, first, second] = counts;
      assert.equal(dry, first);
      assert.equal(second, `${summary(0, 0, 3, 1)}\n`);
      assert.equal(await desk.countOf(group), 2);
    }
    const apart = [document(1, "CVE-2020-1"), document(1, "CVE-2020-3")];
    const group = await desk.newGroup();
    const same = await desk.importInto(group, desk.folder({ "a.json": apart[0], "b.json": apart[1] }));
    assert.deepEqual([same.code, same.stdout], [0, `${summary(2, 0, 0)}\n`]);
  });

  it("--author and --format win over what the files say", async () => {
    const group = await desk.newGroup();
    const file = path.join(desk.folder({ "a.json": vex }), "a.json");
    assert.match((await desk.importInto(group, file, "--format", "osv")).stderr, /a\.json: is not osv\n/);
    assert.equal((await desk.importInto(group, file, "--author", "someone")).code, 0);
    const { items } = await desk.caller.json("advisories", "list", "--parent", group);
    assert.deepEqual(new Set(items.map(({ author }: Json) => author)), new Set(["someone"]));
  });

  it("prints its counts and problems for programs", async () => {
    const group = await desk.newGroup();
    const directory = desk.folder({ "a.json": [record(1, { aliases: 7 }), { id: "GO-1" }], "b.json": "{" });
    const { code, stdout, stderr } = await desk.importInto(group, directory, "-o", "json");
    const { problems, ...counts } = JSON.parse(stdout);
    assert.deepEqual([code, stderr], [1, ""]);
    assert.deepEqual(counts, {
      dryRun: false,
      complete: true,
      records: 2,
      created: 1,
      updated: 0,
      unchanged: 0,
      withdrawn: 0,
      leftOut: 1,
      fieldsLeftOut: 1,
      fieldsRepaired: 0,
      filesNotRead: 1,
      filesWithoutAdvisories: [],
      filesSkipped: {},
      recordsWithoutResponse: 0,
      recordsOfEarlierVersionsDeleted: 0,
      problemsNotShown: 0,
    });
    assert.deepEqual(
      problems.map(({ file, record: id, path: at, leftOut }: Json) => [path.basename(file), id, at, leftOut]),
      [
        ["b.json", "", "", "file"],
        ["a.json", "GO-1", "modified", "record"],
        ["a.json", "GO-2030-1001", "aliases", "field"],
      ],
    );
  });

  it("an ecosystem in the wrong case is repaired and reported, and queries find its packages", async () => {
    const group = await desk.newGroup();
    const affected = [{ package: { ecosystem: "pypi", name: "Left" }, versions: ["1.0"] }];
    const { code, stdout, stderr } = await desk.importInto(group, desk.folder({ "a.json": record(1, { affected }) }));
    assert.deepEqual([code, stdout], [0, `${summary(1, 0, 0)}; 1 field repaired\n`]);
    assert.match(stderr, /GO-2030-1001: affected\[0\]\.package\.ecosystem: is read as "PyPI"\n/);
    const found = await desk.caller.run("advisories", "affected", "pkg:pypi/left@1.0", "--group", group);
    assert.match(found.stdout, /GO-2030-1001/);
  });

  it("an OSV id with a blank is repaired and reported, next to a record that has the repaired id", async () => {
    const group = await desk.newGroup();
    const affected = [{ package: { ecosystem: "npm", name: "left" }, versions: ["1.0.0"] }];
    const files = { "a.json": record(1, { id: "ACME 1", affected }), "b.json": record(2, { id: "ACME-1" }) };
    const { code, stdout, stderr } = await desk.importInto(group, desk.folder(files));
    assert.deepEqual([code, stdout], [0, `${summary(2, 0, 0)}; 1 field repaired\n`]);
    assert.match(stderr, /a\.json: ACME 1: id: is read as "ACME-1", since ids have no blanks\n/);
    const found = await desk.caller.run("advisories", "affected", "pkg:npm/left@1.0.0", "--group", group);
    assert.match(found.stdout, /ACME-1/);
  });

  it("a record that would lose one of its packages is left out, and the import fails", async () => {
    const group = await desk.newGroup();
    const named = (name: string) => ({ package: { ecosystem: "npm", name }, versions: ["1.0.0"] });
    const directory = desk.folder({ "a.json": record(1, { affected: [named("a\0"), named("b")] }) });
    const { code, stdout, stderr } = await desk.importInto(group, directory);
    assert.deepEqual([code, stdout], [1, "1 record: 0 created, 0 updated, 0 unchanged, 0 withdrawn, 1 left out\n"]);
    assert.match(stderr, /affected\[0\]\.package\.name: must be well-formed Unicode .* \(record left out\)\n/);
  });

  it("an interrupted import reports its progress, and a repeated one completes it", async () => {
    const group = await desk.newGroup();
    const directory = desk.folder({ "a.txt": "" });
    const pipe = path.join(directory, "a.ndjson");
    execFileSync("mkfifo", [pipe]);
    const args = ["advisories", "import", "--group", group, pipe];
    const running = start(args, desk.caller.environment);
    const writing = createWriteStream(pipe);
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `${JSON.stringify(record(from + i))}\n`).join("");
    writing.write(lines(0, 1001));
    while ((await desk.countOf(group)) < 1000) await new Promise((resolve) => setTimeout(resolve, 20));
    running.child.kill("SIGINT");
    writing.end(lines(1001, 1002));
    const { code, stdout, stderr } = await running.finished;
    assert.deepEqual([code, stdout], [130, `interrupted: ${summary(1000, 0, 0)}\n`]);
    assert.match(stderr, /^Run the same command again to continue/);
    const whole = path.join(desk.folder({ "a.ndjson": lines(0, 1010) }), "a.ndjson");
    const again = await desk.importInto(group, whole);
    assert.deepEqual([again.code, again.stdout], [0, `${summary(10, 0, 1000)}\n`]);
  });

  it("a caller without the capabilities imports nothing, and the error names them", async () => {
    const group = await desk.newGroup();
    const { token } = await addCaller(desk.caller.server, group, viewerRole.uid);
    const file = path.join(desk.folder({ "a.json": record(1) }), "a.json");
    const args = ["advisories", "import", "--group", group, file];
    const { code, stdout, stderr } = await desk.caller.runWith({ GATEHOUSE_TOKEN: token }, ...args);
    assert.deepEqual([code, stdout], [1, `interrupted: ${summary(0, 0, 0)}\n`]);
    assert.match(stderr, /Permission denied: .*advisories\.create, advisories\.update at/);
    assert.equal(await desk.countOf(group), 0);
  });

  it("rejects wrong usage with exit code 2", async () => {
    const file = path.join(desk.folder({ "a.json": record(1) }), "a.json");
    assert.equal((await desk.caller.run("advisories", "import", file)).code, 2);
    assert.equal((await desk.caller.run("advisories", "import", "--group", "example.org")).code, 2);
    for (const paths of [[""], [file, ""]]) {
      const { code, stdout, stderr } = await desk.importInto("example.org", ...paths);
      assert.deepEqual([code, stdout, stderr], [2, "", "gatehouse: the path of the files to import is empty\n"]);
    }
    assert.equal((await desk.importInto("example.org", file, "--format", "xml")).code, 2);
    assert.equal((await desk.importInto("example.org", file, "--max-prune", "5")).code, 2);
    for (const bound of ["101%", "some", "-1", "1e3"])
      assert.equal((await desk.importInto("example.org", file, "--prune", "--max-prune", bound)).code, 2, bound);
    assert.equal((await desk.caller.run("advisories", "export", "--group", "example.org")).code, 2);
  });
});

describe("advisories import --prune", () => {
  let desk: Desk;
  before(async () => {
    desk = await openDesk();
  });
  after(() => desk[Symbol.asyncDispose]());

  const records = (count: number, changes: object = {}) => Array.from({ length: count }, (_, i) => record(i, changes));
  /** Imports the documents from a file each. */
  const run = (group: string, files: Readonly<Record<string, unknown>>, ...args: readonly string[]) =>
    desk.importInto(group, desk.folder(files), ...args);
  const pruned = (stdout: string) => /; (\d+) pruned\n$/.exec(stdout)?.[1];

  it("deletes what the source no longer has, of that source alone; with --dry-run it names it", async () => {
    const group = await desk.newGroup();
    await run(group, { "a.json": records(20) });
    await run(group, { "b.json": records(20) }, "--author", "other");
    const left = { "a.json": records(18) };
    const dry = await run(group, left, "--prune", "--dry-run");
    assert.deepEqual([dry.code, pruned(dry.stdout)], [0, "2"]);
    assert.equal(dry.stderr, "would be pruned: osv: GO-2030-1018\nwould be pruned: osv: GO-2030-1019\n");
    const done = await run(group, left, "--prune");
    assert.deepEqual([done.code, pruned(done.stdout), done.stderr], [0, "2", ""]);
    assert.equal(pruned((await run(group, left, "--prune")).stdout), "0");
    // The other source still speaks of all of them.
    assert.equal(await desk.countOf(group), 20);
    assert.equal(pruned((await run(group, left, "--prune", "--author", "other")).stdout), "2");
    assert.equal(await desk.countOf(group), 18);
  });

  it("deletes nothing where the source may have more than was read", async () => {
    const group = await desk.newGroup();
    await run(group, { "a.json": records(5) });
    const cases: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      "a file could not be read": { "a.json": records(1), "b.json": "{" },
      "a record was left out": { "a.json": [...records(1), { id: "GO-1" }] },
      "nothing was imported": { "a.json": [] },
    };
    for (const [reason, files] of Object.entries(cases)) {
      const { code, stderr } = await run(group, files, "--prune", "--author", "osv");
      assert.equal(code, 1, reason);
      assert.ok(stderr.endsWith(`gatehouse: nothing was pruned: ${reason}\n`), stderr);
    }
    const pointer = { "a.json": records(1), "b.json": "version https://git-lfs.github.com/spec/v1\noid x\n" };
    assert.match((await run(group, pointer, "--prune")).stderr, /nothing was pruned: .+b\.json is a Git LFS pointer/);
    assert.equal(await desk.countOf(group), 5);
  });

  it("deletes more than 100 records and a tenth of a source only with a limit that allows it", async () => {
    const group = await desk.newGroup();
    await run(group, { "a.json": records(150) });
    const refused = async (files: Readonly<Record<string, unknown>>, ...args: string[]) => {
      const { code, stderr } = await run(group, files, "--prune", ...args);
      assert.equal(code, 1);
      return stderr.split("\n")[0];
    };
    const words =
      'gatehouse: nothing was pruned: 101 of the 150 records of "osv" are not in what was imported, which is more than';
    assert.equal(await refused({ "a.json": records(49) }), `${words} 100 records and more than 10 %`);
    assert.equal(await refused({ "a.json": records(49) }, "--max-prune", "100"), `${words} 100`);
    assert.equal(await refused({ "a.json": records(49) }, "--max-prune", "50%"), `${words} 50%`);
    assert.equal(await desk.countOf(group), 150);
    assert.equal(pruned((await run(group, { "a.json": records(49) }, "--prune", "--max-prune", "101")).stdout), "101");
    assert.equal(await desk.countOf(group), 49);
  });
});
