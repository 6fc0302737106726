import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as immediate } from "node:timers/promises";
import { newGatherer } from "../../src/base/gather.ts";

/** Returns a gatherer whose runs end when the test says so. */
function newControlled(maxKeys = 100, patience: { patienceMs?: number } = {}) {
  const runs: { readonly keys: readonly string[]; readonly end: PromiseWithResolvers<string> }[] = [];
  const gather = newGatherer<string, string>(
    (keys) => {
      const end = Promise.withResolvers<string>();
      runs.push({ keys: [...keys], end });
      return end.promise;
    },
    { maxKeys, ...patience },
  );
  return { runs, gather, keys: () => runs.map((run) => run.keys) };
}

/** Waits for longer than a run needs to begin. */
async function pause(): Promise<void> {
  await immediate();
  await immediate();
}

describe("gatherer", () => {
  it("serves the calls of an event-loop tick with one run", async () => {
    const { runs, gather, keys } = newControlled();
    const calls = [gather(["a"]), gather(["b", "a"]), gather([])];
    await pause();
    assert.deepEqual(keys(), [["a", "b"]]);
    runs[0]!.end.resolve("done");
    assert.deepEqual(await Promise.all(calls), ["done", "done", "done"]);
  });

  it("serves a call with a run that begins after it, never with a running one", async () => {
    const { runs, gather, keys } = newControlled();
    const first = gather(["a"]);
    await pause();
    const [second, third] = [gather(["a"]), gather(["b"])];
    await pause();
    assert.deepEqual(keys(), [["a"]]);
    runs[0]!.end.resolve("1");
    assert.equal(await first, "1");
    await pause();
    assert.deepEqual(keys(), [["a"], ["a", "b"]]);
    runs[1]!.end.resolve("2");
    assert.deepEqual(await Promise.all([second, third]), ["2", "2"]);
  });

  it("rejects the calls of a run that rejects, and no others", async () => {
    const { runs, gather } = newControlled();
    const first = gather(["a"]);
    await pause();
    const second = gather(["b"]);
    runs[0]!.end.reject(new Error("no"));
    await assert.rejects(first, /no/);
    await pause();
    runs[1]!.end.resolve("yes");
    assert.equal(await second, "yes");
  });

  it("begins another run if the one before it takes longer than the patience", async () => {
    const { runs, gather, keys } = newControlled(100, { patienceMs: 20 });
    const first = gather(["a"]);
    await pause();
    const second = gather(["b"]);
    while (keys().length < 2) await immediate();
    runs[1]!.end.resolve("2");
    assert.equal(await second, "2");
    runs[0]!.end.resolve("1");
    assert.equal(await first, "1");
  });

  it("begins another run beyond the most keys", async () => {
    const { runs, gather, keys } = newControlled(2);
    const calls = ["a", "b", "c", "d", "e"].map((key) => gather([key]));
    for (let i = 0; i < 3; i++) {
      await pause();
      runs[i]!.end.resolve(`${i}`);
    }
    assert.deepEqual(keys(), [["a", "b"], ["c", "d"], ["e"]]);
    assert.deepEqual(await Promise.all(calls), ["0", "0", "1", "1", "2"]);
  });
});
