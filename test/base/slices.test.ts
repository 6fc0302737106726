import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { countOther, countThread, mapSliced, measureWork, nextSlice, withoutCounting } from "../../src/base/slices.ts";

describe("slices of long computations", () => {
  it("a computation of 200 steps of a millisecond has a slice for every few of them", async () => {
    let slices = 0;
    await measureWork(undefined, async () => {
      for (let step = 0; step < 200; step++) {
        burn(1);
        const pause = nextSlice();
        if (pause) slices++;
        await pause;
      }
    });
    assert.ok(slices >= 30, `${slices} slices`);
  });

  it("eight computations share the event loop: one of them has a slice in each tick", async () => {
    let turn = 0;
    const slicesOfTurn = new Map<number, number>();
    const count = () => slicesOfTurn.set(turn, (slicesOfTurn.get(turn) ?? 0) + 1);
    let isDone = false;
    const turning = (async () => {
      for (; !isDone; turn++) await nextTick();
    })();
    await nextTick();
    const computing = async () => {
      for (let slice = 0; slice < 5; slice++) {
        burn(6);
        await nextSlice();
        count();
      }
    };
    await Promise.all(Array.from({ length: 8 }, () => measureWork(undefined, computing)));
    isDone = true;
    await turning;
    assert.equal(Math.max(...slicesOfTurn.values()), 1);
    assert.equal(slicesOfTurn.size, 40);
  });

  it("a short computation does not wait", async (t) => {
    // A computation that takes no time, however busy the machine is.
    const now = performance.now();
    t.mock.method(performance, "now", () => now);
    await measureWork(undefined, async () => assert.equal(nextSlice(), undefined));
  });

  it("the time of a computation is that of its slices, without waiting for others and for writes", async () => {
    await measureWork(undefined, async (work) => {
      burn(10);
      const before = work.usedMs();
      assert.ok(before >= 10);
      await withoutCounting(async () => burn(500));
      assert.ok(work.usedMs() - before < 400, "the wait counts");
      assert.equal(work.usedMs() > before, true);
    });
  });

  it("the wait for a thread counts with the time that the thread reports", async () => {
    await measureWork(undefined, async (work) => {
      const before = work.usedMs();
      await countThread(async () => {
        burn(500);
        return { usedMs: 30 };
      });
      const used = work.usedMs() - before;
      assert.ok(used >= 30 && used < 400, `${used} ms`);
    });
  });

  it("a slice while another request is served counts with the rest behind it, which is eight times as long as a slice", async () => {
    await measureWork(undefined, async (work) => {
      countOther();
      burn(10);
      await nextSlice();
      assert.ok(work.usedMs() >= 10 + 8 * 3, `${work.usedMs()} ms`);
    });
  });

  it("a slice without other requests counts with its own duration", async () => {
    const startedAt = performance.now();
    await measureWork(undefined, async (work) => {
      for (let slice = 0; slice < 3; slice++) {
        burn(10);
        await nextSlice();
      }
      assert.ok(work.usedMs() <= performance.now() - startedAt, `${work.usedMs()} ms`);
    });
  });

  it("a computation that nobody waits for any more ends with its slice", async () => {
    const abort = new AbortController();
    let mapped = 0;
    const computing = measureWork(abort.signal, () =>
      mapSliced(Array.from({ length: 1000 }), () => {
        if (++mapped === 5) abort.abort(new Error("the client is gone"));
        burn(2);
      }),
    );
    await assert.rejects(computing, { message: "the client is gone" });
    assert.ok(mapped < 20, `${mapped} items`);
  });
});

/** Computes for a while. */
function burn(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
