import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { StorageUnavailable } from "../../../src/storage/engine/errors.ts";
import { newSemaphore } from "../../../src/storage/engine/semaphore.ts";

/** Longer than any test takes. */
const patient = { maxWaiting: 10, maxWaitMs: 60_000 };

describe("a semaphore", () => {
  it("runs no more bodies at the same time than it has permits, first come, first served", async () => {
    const semaphore = newSemaphore({ permits: 2, ...patient });
    const ends: (() => void)[] = [];
    const began: number[] = [];
    const all = Array.from({ length: 4 }, (_, i) =>
      semaphore.run(() => {
        began.push(i);
        return new Promise<void>((end) => ends.push(end));
      }),
    );
    await nextTurn();
    assert.deepEqual(began, [0, 1]);
    ends[1]!();
    await all[1];
    await nextTurn();
    assert.deepEqual(began, [0, 1, 2]);
    ends[0]!();
    ends[2]!();
    await Promise.all([all[0], all[2]]);
    await nextTurn();
    assert.deepEqual(began, [0, 1, 2, 3]);
    ends[3]!();
    await all[3];
  });

  it("releases the permit of a body that fails", async () => {
    const semaphore = newSemaphore({ permits: 1, ...patient });
    await assert.rejects(
      semaphore.run(() => Promise.reject(new RangeError())),
      RangeError,
    );
    assert.equal(await semaphore.run(async () => "next"), "next");
  });

  it("rejects a caller beyond the maximum that may wait, and one that has waited too long", async () => {
    const semaphore = newSemaphore({ permits: 1, maxWaiting: 1, maxWaitMs: 1 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = semaphore.run(() => promise);
    const second = semaphore.run(async () => {});
    await assert.rejects(
      semaphore.run(async () => {}),
      StorageUnavailable,
    );
    await assert.rejects(second, StorageUnavailable);
    resolve();
    await first;
    assert.equal(await semaphore.run(async () => "later"), "later");
  });
});
