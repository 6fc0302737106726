// Tests how an import divides its records into requests, and handles a failed one.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AdvisoryRecordSchema } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import {
  type Item,
  maxBatch,
  nextItems,
  openSender,
  type Sender,
} from "../../../../src/cli/advisories/import/sender.ts";

const item = (key: string, size = 1, values = 1): Item => ({
  key,
  size,
  values,
  record: create(AdvisoryRecordSchema, { document: key }),
});
const items = (count: number, from = 0) => Array.from({ length: count }, (_, i) => item(`GO-${from + i}`));
const turn = () => new Promise(setImmediate);

/** Returns a sender whose requests are under way for two turns, and what it has sent. */
function open(
  write: (batch: readonly Item[], i: number) => void = () => {},
  workMs = 0,
  first: number = maxBatch.items,
) {
  const begun: (readonly Item[])[] = [];
  const state = { atOnce: 0, most: 0, answered: 0 };
  const sender = openSender(async (batch) => {
    const i = begun.push(batch) - 1;
    state.most = Math.max(state.most, ++state.atOnce);
    await turn();
    await turn();
    state.atOnce--;
    write(batch, i);
    state.answered += batch.length;
    return workMs;
  }, first);
  return { sender, begun, state, sizes: () => begun.map(({ length }) => length) };
}

async function addAll(sender: Sender<Item>, all: readonly Item[]): Promise<void> {
  for (const each of all) {
    await sender.add(each);
    await turn();
  }
}

describe("the requests of an import", () => {
  it("hold as many records, bytes and values as the server takes; four are under way at a time", async () => {
    const { sender, sizes, state } = open();
    for (const each of items(6500)) await sender.add(each);
    await sender.finish();
    assert.equal(
      sizes().reduce((sum, size) => sum + size, 0),
      6500,
    );
    assert.equal(Math.max(...sizes()), maxBatch.items);
    assert.equal(state.most, 4);
    const large = open();
    await addAll(
      large.sender,
      [1, 2, 3].map((i) => item(`GO-${i}`, maxBatch.bytes / 2)),
    );
    await large.sender.finish();
    assert.deepEqual(large.sizes(), [2, 1]);
    const detailed = open();
    await addAll(
      detailed.sender,
      [1, 2, 3].map((i) => item(`GO-${i}`, 1, maxBatch.values / 2)),
    );
    await detailed.sender.finish();
    assert.deepEqual(detailed.sizes(), [2, 1]);
  });

  it("requests grow while the server is fast, and shrink to five seconds of its work", async () => {
    const slow = open(() => {}, 50_000, 100);
    await addAll(slow.sender, items(1000));
    await slow.sender.finish();
    assert.equal(slow.sizes()[0], 100);
    assert.equal(slow.sizes().at(-2), 1);
    for (const [count, workMs, next] of [
      [100, 100, 200],
      [800, 100, 1000],
      [1000, 20_000, 250],
      [100, 5000, 100],
      [1, 60_000, 1],
    ] as const)
      assert.equal(nextItems(count, workMs), next);
  });

  for (const broken of [0, 1, 2]) {
    it(`a failed request ends the import: request ${broken}`, async () => {
      const { sender, begun } = open((_batch, i) => {
        if (i === broken) throw new Error("the server is away");
      });
      const finished = addAll(sender, items(7000)).then(() => sender.finish());
      await assert.rejects(finished, { message: "the server is away" });
      assert.ok(begun.length <= broken + 4, "no more is sent than was under way");
    });
  }

  it("after a failure, requests in flight complete and no others are sent", async () => {
    const { sender, state, sizes } = open((_batch, i) => {
      if (i === 0) throw new Error("the server is away");
    });
    const sent = (async () => {
      for (const each of items(6500)) await sender.add(each);
      await sender.finish();
    })();
    await assert.rejects(sent, { message: "the server is away" });
    assert.deepEqual([sizes(), state.answered, state.atOnce], [[1000, 1000, 1000, 1000], 3000, 0]);
  });

  it("settling a key waits for its item to be answered, and for no other", async () => {
    const { sender, begun, state } = open();
    await addAll(sender, items(10));
    await sender.settle("GO-99");
    assert.equal(begun.length, 0, "another key sends nothing");
    await sender.settle("GO-5");
    assert.equal(state.answered, 10);
  });

  it("work that follows items begins once they are answered, also those of earlier requests", async () => {
    const { sender, state } = open();
    const answered: number[] = [];
    for (const each of items(1500)) await sender.add(each);
    sender.afterwards(async () => void answered.push(state.answered));
    for (const each of items(400, 5000)) await sender.add(each);
    await sender.finish();
    sender.afterwards(async () => void answered.push(state.answered));
    await sender.finish();
    assert.deepEqual(answered, [1900, 1900]);
  });

  it("work that fails ends the import, and none follows a request that failed", async () => {
    const { sender } = open();
    sender.afterwards(() => Promise.reject(new Error("not completed")));
    await assert.rejects(sender.finish(), { message: "not completed" });
    const failing = open(() => {
      throw new Error("the server is away");
    });
    await failing.sender.add(item("GO-1"));
    failing.sender.afterwards(async () => assert.fail("its items were not written"));
    await assert.rejects(failing.sender.finish(), { message: "the server is away" });
  });

  it("an import that is abandoned waits for what is under way and sends nothing more", async () => {
    const { sender, sizes, state } = open();
    for (const each of items(1500)) await sender.add(each);
    await sender.abandon();
    assert.deepEqual([sizes(), state.answered], [[1000], 1000]);
  });
});
