import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Deadline } from "../../../src/transport/http/deadline.ts";

/** Resolves when a deadline of so many milliseconds passes. */
function expiry(ms: number): Promise<void> {
  return new Promise((resolve) => new Deadline(ms, resolve));
}

describe("deadlines", () => {
  // Deadlines keep no process alive.
  const alive = setInterval(() => {}, 1000);
  after(() => clearInterval(alive));

  it("deadlines expire, also those that start while one expires", async () => {
    await expiry(1);
    await expiry(1);
  });

  it("deadlines do not expire after the response", async () => {
    let passed = false;
    new Deadline(1, () => {
      passed = true;
    }).meet();
    // The one after it is looked at later.
    await expiry(1);
    assert.equal(passed, false);
  });

  it("deadlines that reuse each other's slots are not confused", async () => {
    const deadline = new Deadline(60_000, () => {});
    deadline.meet();
    const next = expiry(1);
    deadline.meet();
    await next;
  });
});
