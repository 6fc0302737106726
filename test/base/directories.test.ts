import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { makeDirectory } from "../../src/base/directories.ts";

describe("makeDirectory", () => {
  let place: string;

  before(() => {
    place = mkdtempSync(path.join(tmpdir(), "gatehouse-directories-"));
  });

  after(() => rmSync(place, { recursive: true }));

  const modeOf = (directory: string) => statSync(directory).mode & 0o777;

  it("creates parent directories too, for their owner alone", () => {
    const directory = path.join(place, "a", "b", "c");
    makeDirectory(directory);
    assert.equal(modeOf(directory), 0o700);
    assert.equal(modeOf(path.join(place, "a")), 0o700);
  });

  it("creates them readable for others on request", () => {
    const directory = path.join(place, "open", "inner");
    makeDirectory(directory, 0o755);
    assert.deepEqual(
      [modeOf(directory), modeOf(path.dirname(directory))],
      [0o755 & ~process.umask(), 0o755 & ~process.umask()],
    );
  });

  it("leaves an existing directory unchanged", () => {
    const directory = path.join(place, "there");
    mkdirSync(directory);
    chmodSync(directory, 0o755);
    makeDirectory(directory);
    assert.equal(modeOf(directory), 0o755);
  });

  it("accepts relative paths", () => {
    makeDirectory(path.relative(process.cwd(), path.join(place, "relative", "one")));
    assert.ok(statSync(path.join(place, "relative", "one")).isDirectory());
  });

  it("says that a file is in the way", () => {
    const file = path.join(place, "file");
    writeFileSync(file, "");
    assert.throws(() => makeDirectory(file), { code: "EEXIST" });
    assert.throws(() => makeDirectory(path.join(file, "below")), { code: "ENOTDIR" });
  });

  it("fails if the parent accepts no directories", {
    skip: process.platform !== "linux" && "only Linux has /proc",
  }, () => {
    assert.throws(() => makeDirectory("/proc/none/at/all"), { code: "ENOENT" });
  });
});
