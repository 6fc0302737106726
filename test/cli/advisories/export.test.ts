// `gatehouse advisories export`, as a person runs it. What the formats say is tested with their writers (test/advisories).
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { exportFormats } from "../../../src/advisories/exported.ts";
import { osvSchema } from "../../advisories/osv/schema.ts";
import { type Desk, type Json, openDesk } from "./desk.ts";
import { csaf, record, secdb, vex, yaml } from "./samples.ts";

describe("advisories export", () => {
  let desk: Desk;
  let group: string;
  before(async () => {
    desk = await openDesk();
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
  after(() => desk[Symbol.asyncDispose]());

  const run = (...args: string[]) => desk.caller.run("advisories", "export", "--group", group, "--format", ...args);
  const exported = async (format: string, ...args: string[]) => {
    const finished = await run(format, ...args);
    assert.equal(finished.code, 0, finished.stderr);
    return finished;
  };

  for (const format of exportFormats) {
    it(`${format}: writes the same document to standard output and to a file, and as the server sends it`, async () => {
      const { stdout } = await exported(format, "--ecosystem", "Wolfi", "--author", "Team");
      JSON.parse(stdout);
      const output = path.join(desk.caller.home, `out.${format}.json`);
      writeFileSync(output, "old");
      await exported(format, "--ecosystem", "Wolfi", "--author", "Team", "--output", output);
      assert.equal(readFileSync(output, "utf8"), stdout);
      const { url, ownerToken } = desk.caller.server;
      const headers = { authorization: `Bearer ${ownerToken}` };
      const target = `${url}/gatehouse/vulnerabilities/v1/exports/${group}/${format}.json?ecosystem=Wolfi&author=Team`;
      assert.equal(await (await fetch(target, { headers })).text(), stdout);
    });
  }

  it("osv: imported records are exported unchanged, and all are valid", async () => {
    const records: Json[] = JSON.parse((await exported("osv", "--ecosystem", "Wolfi")).stdout);
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(osvSchema);
    for (const each of records) assert.ok(validate(each), JSON.stringify([each, validate.errors]));
    const own = records.filter(({ id }) => id.startsWith("GO-2030-10"));
    assert.deepEqual(own, [record(1), record(2)]);
  });

  it("names what the format cannot say, by kind, with a count and an example", async () => {
    const { stderr } = await exported("openvex");
    const [first, ...lines] = stderr.trimEnd().split("\n");
    assert.equal(first, "13 advisories exported");
    for (const line of lines)
      assert.match(line, /^left out, because openvex cannot express it: [^()]+ \(\d+, such as in \S+\)$/);
    const counts = lines.map((line) => Number(/\((\d+),/.exec(line)![1]));
    assert.ok(counts.length > 0);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => b - a),
    );
  });

  it("an export escapes control characters on a terminal, but not in files", async () => {
    const own = await desk.newGroup();
    const details = "a\u202eb\u009b31m";
    await desk.importInto(own, path.join(desk.folder({ "osv.json": record(3, { details }) }), "osv.json"));
    const args = ["advisories", "export", "--group", own, "--format", "osv"];
    const { stdout } = await desk.caller.run(...args);
    assert.match(stdout, /"a\\u202eb\\u009b31m"/);
    assert.equal(JSON.parse(stdout)[0].details, details);
    const output = path.join(desk.caller.home, "raw.json");
    await desk.caller.run(...args, "--output", output);
    assert.ok(readFileSync(output, "utf8").includes(details));
  });

  it("osv: an export into a directory is a feed, and removes withdrawn parts and pruned records", async () => {
    const own = await desk.newGroup();
    const source = desk.folder({ "1.json": record(1), "2.json": record(2) });
    await desk.importInto(own, source);
    const feed = path.join(desk.caller.home, "feed");
    const args = ["advisories", "export", "--group", own, "--format", "osv", "--output", feed];
    assert.equal((await desk.caller.run(...args)).code, 0);
    assert.deepEqual(readdirSync(feed).sort(), [
      ".gatehouse-feed.json",
      "GO-2030-1001.json",
      "GO-2030-1002.json",
      "all.json",
    ]);
    assert.deepEqual(JSON.parse(readFileSync(path.join(feed, "GO-2030-1001.json"), "utf8")), record(1));
    const withdrawn = record(1, { modified: "2030-02-02T00:00:00Z", withdrawn: "2030-02-02T00:00:00Z" });
    writeFileSync(path.join(source, "1.json"), JSON.stringify(withdrawn));
    await desk.importInto(own, source);
    await desk.caller.run(...args);
    assert.deepEqual(JSON.parse(readFileSync(path.join(feed, "GO-2030-1001.json"), "utf8")), withdrawn);
    const pruned = await desk.importInto(own, path.join(source, "1.json"), "--prune", "--max-prune", "100%");
    assert.equal(pruned.code, 0, pruned.stderr);
    const { stderr } = await desk.caller.run(...args);
    assert.match(stderr, /^1 record removed from the feed$/m);
    assert.equal(existsSync(path.join(feed, "GO-2030-1002.json")), false);
  });

  it("an empty group has an empty document in every format", async () => {
    const own = await desk.newGroup();
    for (const format of exportFormats) {
      const { code, stdout, stderr } = await desk.caller.run(
        "advisories",
        "export",
        "--group",
        own,
        "--format",
        format,
      );
      assert.deepEqual([code, stderr], [0, "0 advisories exported\n"]);
      JSON.parse(stdout);
    }
  });

  it("osv: rejects an ecosystem that OSV does not have, and names the rule", async () => {
    const refusals: readonly (readonly [ecosystem: string, message: string])[] = [
      ["wolfi", 'OSV has no ecosystem "wolfi", but "Wolfi"'],
      ["Home", 'OSV has no ecosystem "Home"'],
      ["", 'OSV has no ecosystem ""'],
      ["Alpine:", "behind the colon of Alpine: there is no version"],
    ];
    for (const [ecosystem, message] of refusals) {
      const { code, stdout, stderr } = await run("osv", "--ecosystem", ecosystem);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.ok(stderr.startsWith(`gatehouse: --ecosystem: ${message}\n  Its ecosystems are AlmaLinux, `), stderr);
    }
  });

  it("leaves an old file unchanged if the server fails, and no temporary file", async () => {
    const output = path.join(desk.caller.home, "kept.json");
    writeFileSync(output, "old");
    const args = ["advisories", "export", "--group", "a".repeat(40), "--format", "csaf", "--output", output];
    const { code, stderr } = await desk.caller.run(...args);
    assert.match(stderr, /^gatehouse: /);
    assert.deepEqual([code, readFileSync(output, "utf8"), existsSync(`${output}.new`)], [1, "old", false]);
  });

  it("names a place that cannot be written to", async () => {
    const directory = path.join(desk.caller.home, "directory");
    mkdirSync(directory);
    const places: readonly (readonly [format: string, output: string, code: number, said: RegExp])[] = [
      ["csaf", directory, 1, /directory cannot be written: /],
      ["secdb", "/proc/no/such.json", 1, /^gatehouse: \/proc\/no\/such\.json cannot be written/],
      ["osv", "/proc/none/at/all", 1, /^gatehouse: \/proc\/none\/at\/all cannot be written: ENOENT/],
      ["osv", "", 2, /--output: the path is empty/],
    ];
    for (const [format, output, exitCode, said] of process.platform === "linux" ? places : places.slice(0, 1)) {
      const { code, stderr } = await run(format, "--output", output);
      assert.match(stderr, said);
      assert.equal(code, exitCode);
    }
    assert.equal(existsSync(`${directory}.new`), false);
  });
});
