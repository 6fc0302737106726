// Writes tar archives that the program tar reads, and ends early with its reader.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, it } from "node:test";
import { gzipParts, type TarEntry, tarParts } from "../../src/base/tar-writer.ts";

async function* entriesOf(...entries: readonly TarEntry[]) {
  yield* entries;
}

const entryOf = (name: string, ...content: readonly Buffer[]): TarEntry => ({
  name,
  size: content.reduce((sum, { length }) => sum + length, 0),
  content,
});

describe("a tar archive", () => {
  it("has files of any size, with their names and time", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-tar-"));
    try {
      const sizes = [0, 1, 511, 512, 513, 100_000];
      const long = `${"d".repeat(50)}/${"n".repeat(49)}`;
      const entries = sizes.map((size) => entryOf(`a/${size}`, Buffer.alloc(size, "x"), Buffer.alloc(size, "ä")));
      const parts = gzipParts(tarParts(entriesOf(...entries, entryOf(long, Buffer.from("long"))), 1_767_225_600));
      writeFileSync(path.join(folder, "all.tar.gz"), await buffer(parts));
      execFileSync("tar", ["-xzf", "all.tar.gz"], { cwd: folder });
      for (const [i, size] of sizes.entries())
        assert.deepEqual(readFileSync(path.join(folder, `a/${size}`)), Buffer.concat([...entries[i]!.content]));
      assert.equal(readFileSync(path.join(folder, long), "utf8"), "long");
      assert.equal(statSync(path.join(folder, "a/512")).mtimeMs, 1_767_225_600_000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("fails for a name of more than 100 bytes, and for content of another size", async () => {
    const long = tarParts(entriesOf(entryOf("ä".repeat(51))), 0);
    await assert.rejects(buffer(long), /too long for a tar archive/);
    const other = tarParts(entriesOf({ ...entryOf("a", Buffer.from("a")), size: 2 }), 0);
    await assert.rejects(buffer(other), /a has 1 bytes, not 2/);
  });
});

describe("a compressed stream", () => {
  it("passes on the error of its parts", async () => {
    async function* parts() {
      yield Buffer.from("a");
      throw new Error("the source failed");
    }
    await assert.rejects(buffer(gzipParts(parts())), /the source failed/);
  });

  it("ends its parts when its reader stops", async () => {
    let isEnded = false;
    async function* parts() {
      try {
        for (;;) yield Buffer.from(Array.from({ length: 10_000 }, () => Math.floor(Math.random() * 256)));
      } finally {
        isEnded = true;
      }
    }
    for await (const part of gzipParts(parts())) {
      assert.ok(part.length > 0);
      break;
    }
    while (!isEnded) await new Promise(setImmediate);
  });
});
