// The directory of an OSV feed: what is written, what is left alone, and what is removed.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { writeFeed } from "../../../src/cli/advisories/feed-directory.ts";

const home = mkdtempSync(path.join(tmpdir(), "gatehouse-feed-"));

async function* records(...ids: readonly string[]) {
  for (const id of ids) yield { id, modified: "2026-01-01T00:00:00Z", summary: `about ${id}` };
}

function newDirectory(name: string) {
  const directory = path.join(home, name);
  return {
    directory,
    files: () => readdirSync(directory).sort(),
    read: (file: string) => JSON.parse(readFileSync(path.join(directory, file), "utf8")),
    put: (file: string, text: string) => writeFileSync(path.join(directory, file), text),
  };
}

describe("the directory of a feed", () => {
  after(() => rmSync(home, { recursive: true, force: true }));

  it("has a file for each record, and an index of them", async () => {
    const { directory, files, read } = newDirectory("a/new one");
    await writeFeed(directory, "g", records("GO-1", "GO-2"));
    assert.deepEqual(files(), [".gatehouse-feed.json", "GO-1.json", "GO-2.json", "all.json"]);
    assert.equal(read("GO-1.json").summary, "about GO-1");
    const modified = "2026-01-01T00:00:00Z";
    assert.deepEqual(read("all.json"), [
      { id: "GO-1", modified },
      { id: "GO-2", modified },
    ]);
    await writeFeed(directory, "g", records());
    assert.deepEqual([files(), read("all.json")], [[".gatehouse-feed.json", "all.json"], []]);
  });

  it("an export into the directory of a feed does not rewrite files whose content is the same", async () => {
    const { directory } = newDirectory("same");
    const inode = () => statSync(path.join(directory, "GO-1.json")).ino;
    await writeFeed(directory, "g", records("GO-1"));
    const before = inode();
    await writeFeed(directory, "g", records("GO-1", "GO-2"));
    assert.equal(inode(), before);
  });

  it("loses records that are not exported any more, and keeps what no export has written", async () => {
    const { directory, files, put } = newDirectory("ours");
    await writeFeed(directory, "g", records("GO-1", "GO-2", "GO-3"));
    put("notes.json", "{}");
    put("README", "a feed");
    assert.deepEqual(await writeFeed(directory, "g", records("GO-2")), { removed: 2 });
    assert.deepEqual(files(), [".gatehouse-feed.json", "GO-2.json", "README", "all.json", "notes.json"]);
  });

  it("keeps all records of a directory that is not known to be the feed of the group", async () => {
    const foreign = newDirectory("foreign");
    await writeFeed(foreign.directory, "other", records("GO-1", "GO-2"));
    assert.deepEqual(await writeFeed(foreign.directory, "g", records("GO-2")), { removed: 0 });
    assert.ok(foreign.files().includes("GO-1.json"), "that of another group");
    const mirror = newDirectory("mirror");
    await writeFeed(mirror.directory, "g", records("GO-1"));
    rmSync(path.join(mirror.directory, ".gatehouse-feed.json"));
    assert.deepEqual(await writeFeed(mirror.directory, "g", records("GO-2")), { removed: 0 });
    assert.ok(mirror.files().includes("GO-1.json"), "that of nobody known");
    mirror.put(".gatehouse-feed.json", "{");
    assert.deepEqual(await writeFeed(mirror.directory, "g", records()), { removed: 0 });
  });

  it("keeps every file within the directory, for any id", async () => {
    const { directory, files, read } = newDirectory("ids");
    const ids = ["../escape", "..", ".hidden", "all", "a/b", "x:y", "CON\u0000", ".gatehouse-feed", "ü".repeat(100)];
    await writeFeed(directory, "g", records(...ids));
    assert.equal(files().length, ids.length + 2);
    assert.equal(read("all.json").length, ids.length);
    assert.deepEqual(readdirSync(home).includes("escape.json"), false);
    assert.deepEqual(await writeFeed(directory, "g", records()), { removed: ids.length });
    assert.deepEqual(files(), [".gatehouse-feed.json", "all.json"]);
  });

  it("stays whole when an export fails: the next one completes it", async () => {
    const { directory, files, read } = newDirectory("failing");
    await writeFeed(directory, "g", records("GO-1", "GO-2"));
    async function* failing() {
      yield* records("GO-2", "GO-3");
      throw new Error("the server is gone");
    }
    await assert.rejects(writeFeed(directory, "g", failing()), /the server is gone/);
    assert.equal(read("all.json").length, 2);
    assert.deepEqual(
      files().filter((name) => name.endsWith(".new")),
      [],
    );
    assert.deepEqual(await writeFeed(directory, "g", records("GO-3")), { removed: 2 });
    assert.deepEqual(files(), [".gatehouse-feed.json", "GO-3.json", "all.json"]);
  });
});
