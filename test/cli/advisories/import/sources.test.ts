// The files of an import: what is read of directories, archives and compressed files, and what is too large.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { createGzip, gzipSync } from "node:zlib";
import { filesOf, problemOf } from "../../../../src/cli/advisories/import/sources.ts";
import { textsOf } from "../../../../src/cli/advisories/import/texts.ts";
import { packedZeros, zip } from "../zip.ts";

let home: string;

/** Each text with its name, and what could not be read, as lines. */
async function read(...paths: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const source of filesOf(paths)) {
    const name = source.name.replace(`${home}/`, "");
    if ("reason" in source) lines.push(`${name}! ${source.reason}`);
    else if ("what" in source) lines.push(`${name}? ${source.what}`);
    else if ("extension" in source) lines.push(`${name} skipped`);
    else {
      try {
        for await (const { place, text } of source.texts()) lines.push(`${name} ${place}: ${text}`);
      } catch (error) {
        lines.push(`${name}! ${problemOf(error, source.name)}`);
      }
    }
  }
  return lines.sort();
}

function write(files: Readonly<Record<string, string | Buffer>>): string {
  const directory = mkdtempSync(path.join(home, "d"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), content);
  }
  return directory;
}

describe("the files of an import", () => {
  before(() => {
    home = mkdtempSync(path.join(tmpdir(), "gatehouse-sources-"));
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  it("are those of directories by their names; links to files are followed, links to directories and pipes are named", async () => {
    const directory = write({
      "a.json": "1",
      "b/c.YAML": "2",
      "d.txt": "3",
      ".e.json": "4",
      ".git/f.json": "5",
      "g.json.gz": gzipSync("6"),
      "h.tar.gz": "7",
      "i.tgz": "8",
    });
    symlinkSync(path.join(directory, "a.json"), path.join(directory, "linked.json"));
    symlinkSync(directory, path.join(directory, "loop"));
    symlinkSync("nowhere", path.join(directory, "broken.json"));
    symlinkSync("nowhere", path.join(directory, "lock"));
    execFileSync("mkfifo", [path.join(directory, "pipe.json")]);
    const lines = (await read(directory)).map((line) => line.replace(/^[^/]+\//, ""));
    assert.deepEqual(lines, [
      "a.json : 1",
      "b/c.YAML : 2",
      "broken.json! there is no such file",
      "d.txt skipped",
      "g.json.gz : 6",
      "h.tar.gz! is an archive but not a zip file: unpack it first",
      "i.tgz! is an archive but not a zip file: unpack it first",
      "linked.json : 1",
      "lock skipped",
      "loop? a link to a directory, which is not followed",
      "pipe.json? a pipe, a socket or a device, which is not read",
    ]);
  });

  it("files of a directory are read in the order of the numbers in their names", async () => {
    const directory = write({ "A-2030-10.json": "", "A-2030-9.json": "", "A-2029-11.json": "", "a-1.json": "" });
    const names: string[] = [];
    for await (const { name } of filesOf([directory])) names.push(path.basename(name, ".json"));
    assert.deepEqual(names, ["A-2029-11", "A-2030-9", "A-2030-10", "a-1"]);
  });

  it("are one for each line of NDJSON, also compressed", async () => {
    const lines = ["1", "", "2\r", "3"].join("\n");
    const directory = write({ "a.ndjson": `${lines}\n`, "b.jsonl.gz": gzipSync(lines), "c.ndjson": "" });
    const texts = (await read(directory)).map((line) => line.replace(/^[^/]+\//, ""));
    assert.deepEqual(texts, [
      "a.ndjson line 1: 1",
      "a.ndjson line 3: 2\r",
      "a.ndjson line 4: 3",
      "b.jsonl.gz line 1: 1",
      "b.jsonl.gz line 3: 2\r",
      "b.jsonl.gz line 4: 3",
    ]);
  });

  it("must be UTF-8, since other bytes would become other characters", async () => {
    const directory = write({ "a.json": Buffer.from([0x22, 0xe4, 0x22]), "b.json": Buffer.from("\ufeff1", "utf16le") });
    const problems = (await read(directory)).map((line) => line.replace(/^.*!/, "!"));
    assert.deepEqual(problems, [
      "! the byte 0xe4 at offset 1 is not UTF-8",
      "! the byte 0xff at offset 0 is not UTF-8, but looks like UTF-16",
    ]);
  });

  it("in archives: archives in them are named, and one bad entry does not hide the others", async () => {
    const zeros = Buffer.alloc(1024 * 1024);
    const archive = zip([
      { name: "a.json", content: Buffer.from("1") },
      { name: "b.zip", content: zip([{ name: "x.json", content: Buffer.from("2") }]) },
      { name: "c.json", content: zeros, claimed: 100 },
      { name: "d.json", content: Buffer.from("3"), claimed: 100 },
      { name: "e.ndjson.gz", content: gzipSync("4\n5") },
      { name: "f.json.gz", content: Buffer.from("no gzip") },
      { name: "readme.txt", content: Buffer.from("6") },
    ]);
    const lines = (await read(path.join(write({ "z.zip": archive }), "z.zip"))).map((line) =>
      line.replace(/^.*z\.zip: /, ""),
    );
    assert.deepEqual(lines, [
      "a.json : 1",
      "b.zip! is an archive in an archive: unpack it first",
      "c.json! too many bytes in the stream. expected 100. got at least 16384",
      "d.json! not enough bytes in the stream. expected 100. got only 1",
      "e.ndjson.gz line 1: 4",
      "e.ndjson.gz line 2: 5",
      "f.json.gz! incorrect header check",
      "readme.txt skipped",
    ]);
  });

  it("files that only have the name of an archive are reported", async () => {
    const directory = write({
      "a.zip": "PK, but no archive",
      "b.zip": "",
      "c.zip": zip([{ name: "../../x.json", content: Buffer.from("1") }]),
    });
    const lines = (await read(directory)).map((line) => line.replace(/^[^/]+\//, ""));
    assert.match(lines[0]!, /^a\.zip! .*end of central directory/i);
    assert.match(lines[1]!, /^b\.zip! .*end of central directory/i);
    assert.equal(lines[2], "c.zip! invalid relative path: ../../x.json");
  });
});

describe("what is too large", () => {
  /** Zeros in chunks: the tests hold no more than the program does. */
  const chunk = Buffer.alloc(1024 * 1024);
  async function* zeros(mebibytes: number, last = "") {
    for (let i = 0; i < mebibytes; i++) yield chunk;
    yield Buffer.from(last);
  }
  const consume = async (name: string, content: AsyncIterable<Buffer>) => {
    for await (const _ of textsOf(name, Readable.from(content))) assert.fail("nothing is read");
  };

  it("reading stops as soon as a file or a line is too large", async () => {
    let read = 0;
    async function* counted() {
      for await (const each of zeros(1024)) {
        read++;
        yield each;
      }
    }
    for (const name of ["a.json", "a.ndjson"]) {
      read = 0;
      await assert.rejects(consume(name, counted()), { message: "is larger than the limit of 64 MiB" });
      assert.ok(read < 100, `${read} MiB were read`);
    }
  });

  it("an archive of 2 MB with 2 GiB of zeros is rejected, whether it declares the size or not", async () => {
    home = mkdtempSync(path.join(tmpdir(), "gatehouse-zeros-"));
    try {
      const packed = packedZeros(2048);
      const size = 2048 * 1024 * 1024;
      for (const claimed of [size, 1000, 60 * 1024 * 1024]) {
        const archive = path.join(home, "zeros.zip");
        writeFileSync(archive, zip([{ name: "a.json", packed, claimed }]));
        const [line = ""] = await read(archive);
        const reason =
          claimed === size ? "is larger than the limit of 64 MiB" : `too many bytes in the stream. expected ${claimed}`;
        assert.ok(line.startsWith(`zeros.zip: a.json! ${reason}`), line);
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it("a compressed file that unpacks without end is rejected", async () => {
    const gzip = Readable.from(zeros(100)).pipe(createGzip({ level: 1 })) as AsyncIterable<Buffer>;
    await assert.rejects(consume("a.json.gz", gzip), {
      message: "is larger than the limit of 64 MiB",
    });
  });
});
