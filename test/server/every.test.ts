// Periodic tasks, on timers that a test moves.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { setImmediate as tick } from "node:timers/promises";
import { every } from "../../src/server/every.ts";

const logFailure = (error: unknown) => assert.fail(String(error));

describe("a periodic task", () => {
  let pass: (intervals: number) => Promise<void>;
  beforeEach((t) => {
    if (!("mock" in t)) return;
    t.mock.timers.enable({ apis: ["setInterval"] });
    pass = async (intervals) => {
      for (let i = 0; i < intervals; i++) {
        t.mock.timers.tick(1000);
        await tick();
      }
    };
  });

  it("runs once per interval", async () => {
    let runs = 0;
    await using _ = every(1000, async () => void runs++, { logFailure });
    assert.equal(runs, 0);
    await pass(3);
    assert.equal(runs, 3);
  });

  it("is not started again while it runs", async () => {
    let runs = 0;
    const release = Promise.withResolvers<void>();
    const task = async () => {
      runs++;
      await release.promise;
    };
    await using _ = every(1000, task, { logFailure });
    await pass(3);
    assert.equal(runs, 1);
    release.resolve();
    await tick();
    await pass(1);
    assert.equal(runs, 2);
  });

  it("reports the first of several failures in a row, thrown or rejected, and runs on", async () => {
    const outcomes = ["a", "b", "", "c", "d"];
    const reported: string[] = [];
    const task = (): Promise<void> => {
      const outcome = outcomes.shift()!;
      if (outcome === "a" || outcome === "d") throw new Error(outcome);
      return outcome === "" ? Promise.resolve() : Promise.reject(new Error(outcome));
    };
    await using _ = every(1000, task, { logFailure: (error) => reported.push((error as Error).message) });
    await pass(5);
    assert.deepEqual([reported, outcomes], [["a", "c"], []]);
  });

  it("runs at once when asked, after the run in progress", async () => {
    const runs: string[] = [];
    const release = Promise.withResolvers<void>();
    const task = async () => {
      runs.push("begin");
      await release.promise;
      runs.push("end");
    };
    await using repeated = every(1000, task, { logFailure });
    await pass(1);
    const ran = repeated.runNow();
    await tick();
    assert.deepEqual(runs, ["begin"]);
    release.resolve();
    await ran;
    assert.deepEqual(runs, ["begin", "end", "begin", "end"]);
  });

  it("ends with its signal", async () => {
    let runs = 0;
    const stop = new AbortController();
    await using _ = every(1000, async () => void runs++, { logFailure, signal: stop.signal });
    await pass(1);
    stop.abort();
    await pass(3);
    assert.equal(runs, 1);
  });

  it("has ended when it is disposed of", async () => {
    let runs = 0;
    let isDone = false;
    const release = Promise.withResolvers<void>();
    const task = async () => {
      runs++;
      await release.promise;
      isDone = true;
    };
    const loop = every(1000, task, { logFailure });
    await pass(1);
    const disposed = loop[Symbol.asyncDispose]();
    await pass(3);
    release.resolve();
    await disposed;
    assert.deepEqual([runs, isDone], [1, true]);
  });
});
