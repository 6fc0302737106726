// How an import divides what it sends, and what becomes of a request that fails.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ImportedAdvisorySchema } from "../../../gen/gatehouse/vulnerabilities/v1/advisory_import_pb.ts";
import { type Item, openSender } from "../../../src/cli/advisories/sender.ts";

const item = (advisoryId: string, file = "a.json", size = 1, partOf = ""): Item => ({
  ...{ file, size, record: create(ImportedAdvisorySchema, { advisoryId, partOf }) },
});
const items = (count: number, from = 0) => Array.from({ length: count }, (_, i) => item(`GO-${from + i}`));

/** Sends the items, each of them read in a turn of its own; a request is under way for two turns. */
async function send(all: readonly Item[], write: (batch: readonly Item[], i: number) => void = () => {}) {
  const begun: (readonly Item[])[] = [];
  const underWay = new Set<string>();
  const sender = openSender(async (batch) => {
    const i = begun.push(batch) - 1;
    for (const { record } of batch) {
      assert.ok(!underWay.has(record.advisoryId), `${record.advisoryId} is in two requests at once`);
      underWay.add(record.advisoryId);
    }
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    for (const { record } of batch) underWay.delete(record.advisoryId);
    write(batch, i);
  });
  const finished = (async () => {
    for (const each of all) {
      await sender.add(each);
      await new Promise(setImmediate);
    }
    await sender.finish();
  })();
  return { finished, begun, sizes: () => begun.map(({ length }) => length) };
}

describe("the requests of an import", () => {
  it("hold at most 100 advisories, and at most 1 MiB", async () => {
    const many = await send(items(250));
    await many.finished;
    assert.deepEqual(many.sizes(), [100, 100, 50]);
    const large = await send([1, 2, 3].map((i) => item(`GO-${i}`, "a.json", 400 * 1024)));
    await large.finished;
    assert.deepEqual(large.sizes(), [2, 1]);
  });

  for (const broken of [0, 1, 2]) {
    it(`one that fails ends the import, whichever it is: ${broken}`, async () => {
      const { finished } = await send(items(300), (_batch, i) => {
        if (i === broken) throw new Error("the server is away");
      });
      await assert.rejects(finished, { message: "the server is away" });
    });
  }

  it("one that fails is followed by no more than was under way, and that is waited for", async () => {
    const done: number[] = [];
    const { finished, begun } = await send(items(1000), (_batch, i) => {
      if (i === 0) throw new Error("the server is away");
      done.push(i);
    });
    await assert.rejects(finished, { message: "the server is away" });
    assert.equal(done.length, begun.length - 1);
    assert.ok(begun.length <= 2, `${begun.length} were sent`);
  });

  it("one that fails is not followed by what is left at the end", async () => {
    const { finished, sizes } = await send(items(102), () => {
      throw new Error("the server is away");
    });
    await assert.rejects(finished, { message: "the server is away" });
    assert.deepEqual(sizes(), [100]);
  });

  it("two of one id are never under way at once, and the later one is sent later", async () => {
    const { finished, begun } = await send([
      ...items(100),
      item("GO-5", "b.json"),
      item("GO-5", "c.json"),
      item("GO-6"),
    ]);
    await finished;
    const files = begun.flat().filter(({ record }) => record.advisoryId === "GO-5");
    assert.deepEqual(
      files.map(({ file }) => file),
      ["a.json", "b.json", "c.json"],
    );
  });

  it("a copy of a record waits for the parts of the copy before it, which is sent with its parts", async () => {
    const copy = (file: string) => [
      item("GO-1", file),
      ...["CGA-1", "CGA-2"].map((id) => item(id, file, 1, "GO-1")),
      ...items(98, 10),
    ];
    const { finished, begun } = await send([...items(98, 200), ...copy("a.json"), ...copy("b.json").slice(0, 3)]);
    await finished;
    const places = begun.map((batch) => batch.filter(({ record }) => /-[12]$/.test(record.advisoryId)));
    const shown = places.map((batch) => batch.map(({ record, file }) => `${record.advisoryId} ${file}`));
    assert.deepEqual(shown, [
      ["GO-1 a.json", "CGA-1 a.json"],
      ["CGA-2 a.json"],
      ["GO-1 b.json", "CGA-1 b.json", "CGA-2 b.json"],
    ]);
  });
});
