import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sendAtTickEnd } from "../../../src/transport/http/response-batch.ts";

describe("a batch of responses", () => {
  it("sends the responses of a tick together, in order, at its end", async (t) => {
    // A turn that takes no time, however busy the machine is.
    t.mock.method(performance, "now", () => 0);
    const sent: string[] = [];
    sendAtTickEnd(() => sent.push("first"));
    await Promise.resolve().then(() => sendAtTickEnd(() => sent.push("second")));
    assert.deepEqual(sent, []);
    await nextTurn();
    assert.deepEqual(sent, ["first", "second"]);
  });

  it("does not wait for the end of a long tick", () => {
    const sent: string[] = [];
    sendAtTickEnd(() => sent.push("first"));
    const since = performance.now();
    while (performance.now() - since < 1);
    sendAtTickEnd(() => sent.push("second"));
    assert.deepEqual(sent, ["first", "second"]);
  });

  it("sends responses that a sent one adds", async () => {
    const sent: string[] = [];
    sendAtTickEnd(() => sendAtTickEnd(() => sent.push("later")));
    await nextTurn();
    await nextTurn();
    assert.deepEqual(sent, ["later"]);
  });
});
