// Files that are there as a whole or not at all, also when the program is interrupted.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { writeWhole } from "../../../src/cli/advisories/whole-file.ts";

const home = mkdtempSync(path.join(tmpdir(), "gatehouse-whole-"));
const source = new URL("../../../src/cli/advisories/whole-file.ts", import.meta.url);

/** Writes for ever, and says when it has begun. */
const program = `
import { setTimeout as sleep } from "node:timers/promises";
import { writeWhole } from ${JSON.stringify(source.href)};
async function* endless() {
  for (;;) {
    yield "part\\n";
    process.stdout.write("begun\\n");
    await sleep(5);
  }
}
await writeWhole(process.env.FILE, endless());
`;

describe("a whole file", () => {
  after(() => rmSync(home, { recursive: true, force: true }));

  it("a new file replaces the old one once it is complete", async () => {
    const file = path.join(home, "whole");
    writeFileSync(file, "old");
    await writeWhole(
      file,
      (async function* () {
        yield "new ";
        assert.equal(readFileSync(file, "utf8"), "old");
        yield "one";
      })(),
    );
    assert.deepEqual([readFileSync(file, "utf8"), existsSync(`${file}.new`)], ["new one", false]);
  });

  it("is written through a link, and to a target that is not a regular file", async () => {
    const parts = async function* () {
      yield "new";
    };
    const [file, link] = [path.join(home, "target"), path.join(home, "link")];
    writeFileSync(file, "old");
    symlinkSync(file, link);
    await writeWhole(link, parts());
    assert.deepEqual([readFileSync(file, "utf8"), lstatSync(link).isSymbolicLink()], ["new", true]);
    const pipe = path.join(home, "pipe");
    execFileSync("mkfifo", [pipe]);
    const read = readFile(pipe, "utf8");
    await writeWhole(pipe, parts());
    assert.deepEqual([await read, lstatSync(pipe).isFIFO()], ["new", true]);
  });

  it("a failed write leaves the old file, and no listeners", async () => {
    const file = path.join(home, "failing");
    writeFileSync(file, "old");
    const listeners = process.listenerCount("SIGINT");
    const failing = (async function* () {
      yield "part";
      throw new Error("the server is gone");
    })();
    await assert.rejects(writeWhole(file, failing), /the server is gone/);
    assert.deepEqual([readFileSync(file, "utf8"), existsSync(`${file}.new`)], ["old", false]);
    assert.equal(process.listenerCount("SIGINT"), listeners);
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`leaves the old one and no temporary file after ${signal}, which ends the program`, async (test) => {
      const file = path.join(home, signal);
      writeFileSync(file, "old");
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
        env: { ...process.env, FILE: file },
      });
      test.after(() => child.kill("SIGKILL"));
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      assert.ok(existsSync(`${file}.new`));
      child.kill(signal);
      assert.deepEqual(await ended, [null, signal]);
      assert.deepEqual([readFileSync(file, "utf8"), existsSync(`${file}.new`)], ["old", false]);
    });
  }
});
