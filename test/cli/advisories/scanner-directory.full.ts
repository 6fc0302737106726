// `gatehouse advisories export --layout osv-scanner`: the archives that osv-scanner reads offline.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { openPromise } from "yauzl";
import { zipParts } from "../../../src/base/zip-writer.ts";
import { writeScannerDirectory } from "../../../src/cli/advisories/scanner-directory.ts";
import { writeWhole } from "../../../src/cli/advisories/whole-file.ts";
import { type Desk, type Json, openDesk } from "./desk.ts";
import { record, secdb } from "./samples.ts";

/** Returns the files of an archive, by another program's reader. */
async function unzip(file: string): Promise<Record<string, Json>> {
  const zip = await openPromise(file, { validateEntrySizes: true, autoClose: false });
  const found: Record<string, Json> = {};
  for await (const entry of zip.eachEntry())
    found[entry.fileName] = JSON.parse(await text(await zip.openReadStreamPromise(entry)));
  zip.close();
  return found;
}

const affected = (ecosystem: string, name: string) => ({ package: { ecosystem, name }, versions: ["1.0.0"] });

describe("the offline database of osv-scanner", () => {
  let desk: Desk;
  before(async () => {
    desk = await openDesk();
  });
  after(() => desk[Symbol.asyncDispose]());

  it("an export for osv-scanner has an archive for each ecosystem without its release, with the members of the published schema alone", async () => {
    const group = await desk.newGroup();
    const both = { affected: [affected("npm", "left"), affected("Debian:12", "left")], summary: "s", unknown: 1 };
    const wolfi = { ...secdb, urlprefix: "https://packages.wolfi.dev" };
    await desk.importInto(group, desk.folder({ "a.json": [record(1), record(2, both)], "secdb.json": wolfi }));
    const output = path.join(desk.caller.home, "db/osv-scalibr");
    const args = ["--group", group, "--format", "osv", "--layout", "osv-scanner"];
    const run = () => desk.caller.run("advisories", "export", ...args, "--output", output, "--ecosystem", "Wolfi");
    assert.equal((await run()).code, 0);
    assert.deepEqual(readdirSync(output).sort(), [".gatehouse-osv-scanner.json", "Debian", "Go", "Wolfi", "npm"]);
    assert.deepEqual(await unzip(path.join(output, "Go/all.zip")), { "GO-2030-1001.json": record(1) });
    const [npm, debian] = [
      await unzip(path.join(output, "npm/all.zip")),
      await unzip(path.join(output, "Debian/all.zip")),
    ];
    assert.deepEqual(Object.keys(npm), ["GO-2030-1002.json"]);
    assert.equal(npm["GO-2030-1002.json"].unknown, undefined);
    assert.deepEqual(npm, debian);
    assert.equal(Object.keys(await unzip(path.join(output, "Wolfi/all.zip"))).length, 4);

    const withdrawn = record(2, { modified: "2030-03-01T00:00:00Z", affected: [affected("npm", "left")] });
    await desk.importInto(group, desk.folder({ "a.json": withdrawn }));
    const again = await run();
    assert.match(again.stderr, /^1 archive removed from the feed$/m);
    assert.ok(!existsSync(path.join(output, "Debian/all.zip")));
  });

  it("needs OSV and a directory", async () => {
    for (const [args, expected] of [
      [["--format", "csaf", "--output", "x"], "--layout osv-scanner needs --format osv"],
      [["--format", "osv"], "--layout osv-scanner needs a directory as --output"],
    ] as const) {
      const { code, stderr } = await desk.caller.run("advisories", "export", "--layout", "osv-scanner", ...args);
      assert.deepEqual([code, stderr.includes(expected)], [2, true], stderr);
    }
    const taken = path.join(desk.folder({ file: "" }), "file");
    const args = ["--group", await desk.newGroup(), "--format", "osv", "--layout", "osv-scanner", "--output", taken];
    const { code, stderr } = await desk.caller.run("advisories", "export", ...args);
    assert.equal(code, 1);
    assert.match(stderr, /cannot be written/);
  });
});

describe("the archives of osv-scanner", () => {
  const home = mkdtempSync(path.join(tmpdir(), "gatehouse-scanner-"));
  after(() => rmSync(home, { recursive: true, force: true }));

  it("a failed export leaves the archives unchanged, and no other file", async () => {
    const directory = path.join(home, "fails");
    const one = (id: string) => ({ id, modified: "2030-01-01T00:00:00Z", affected: [affected("npm", "left")] });
    async function* records(...ids: string[]) {
      for (const id of ids) yield one(id);
      if (ids.length > 1) throw new Error("the server has gone");
    }
    const onUnknown = () => assert.fail("npm is known");
    await writeScannerDirectory(directory, "g", records("A-1"), onUnknown);
    await assert.rejects(
      writeScannerDirectory(directory, "g", records("A-2", "A-3"), onUnknown),
      /the server has gone/,
    );
    assert.deepEqual(readdirSync(path.join(directory, "npm")), ["all.zip"]);
    assert.deepEqual(Object.keys(await unzip(path.join(directory, "npm/all.zip"))), ["A-1.json"]);
    writeFileSync(path.join(directory, "Go"), "");
    const go = [{ ...one("A-4"), affected: [affected("Go", "m")] }];
    async function* inGo() {
      yield* go;
    }
    await assert.rejects(writeScannerDirectory(directory, "g", inGo(), onUnknown), /EEXIST|ENOTDIR/);
  });

  it("an export for osv-scanner has records without a package in GIT, and reports ecosystems that OSV does not have", async () => {
    const directory = path.join(home, "git");
    mkdirSync(directory);
    writeFileSync(path.join(directory, ".gatehouse-osv-scanner.json"), "{");
    const ranges = [{ type: "GIT", repo: "https://example.test/r", events: [{ introduced: "0" }] }];
    async function* records() {
      yield { id: "../A/1", modified: "2030-01-01T00:00:00Z", affected: [{ ranges }, affected("../x:1", "left")] };
    }
    const unknown: string[][] = [];
    await writeScannerDirectory(directory, "g", records(), (...each) => unknown.push(each));
    assert.deepEqual(unknown, [["../x", "../A/1"]]);
    assert.deepEqual(readdirSync(directory).sort(), [".gatehouse-osv-scanner.json", "GIT"]);
    assert.deepEqual(Object.keys(await unzip(path.join(directory, "GIT/all.zip"))), ["%2E.%2FA%2F1.json"]);
  });

  it("leave no listener on a stream for each record", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    async function* records() {
      for (let i = 0; i < 1000; i++)
        yield { id: `A-${i}`, modified: "2030-01-01T00:00:00Z", affected: [affected("npm", "left")] };
    }
    await writeScannerDirectory(path.join(home, "long"), "g", records(), () => {});
    await new Promise(setImmediate);
    process.off("warning", onWarning);
    assert.deepEqual(warnings, []);
    assert.equal(Object.keys(await unzip(path.join(home, "long/npm/all.zip"))).length, 1000);
  });

  it("an archive can hold more than 65,535 records", async () => {
    async function* entries() {
      for (let i = 0; i < 65_536; i++) yield { name: `${i}.json`, content: String(i) };
    }
    const file = path.join(home, "many.zip");
    await writeWhole(file, zipParts(entries()));
    const zip = await openPromise(file, { autoClose: true });
    let last = "";
    for await (const { fileName } of zip.eachEntry()) last = fileName;
    assert.deepEqual([zip.entryCount, last], [65_536, "65535.json"]);
  });
});
