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

  it("pass, also those that begin when one passes", async () => {
    await expiry(1);
    await expiry(1);
  });

  it("do not pass once the response is there", async () => {
    let passed = false;
    new Deadline(1, () => {
      passed = true;
    }).meet();
    // The one after it is looked at later.
    await expiry(1);
    assert.equal(passed, false);
  });

  it("are not taken for one another, although they take each other's places", async () => {
    const deadline = new Deadline(60_000, () => {});
    deadline.meet();
    const next = expiry(1);
    deadline.meet();
    await next;
  });
});
