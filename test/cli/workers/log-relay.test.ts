// The log of a worker reaches the log of the server by whole lines.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type LineOutput, relayLines } from "../../../src/cli/workers/log-relay.ts";

/** Returns an output that keeps what it gets, and asks to wait after each write. */
function slowOutput() {
  const events = new EventEmitter();
  const written: string[] = [];
  const write = (lines: string) => {
    written.push(lines);
    return false;
  };
  return {
    written,
    drain: () => events.emit("drain"),
    output: Object.assign(events, { write }) as unknown as LineOutput,
  };
}

it("passes on whole lines, completes the last one, and waits for a slow output", async () => {
  const { written, drain, output } = slowOutput();
  const input = new PassThrough();
  const done = relayLines(input, output);
  const settle = async () => {
    for (let i = 0; i < 5; i++) await setImmediate();
  };
  input.write("one\ntw");
  await settle();
  assert.deepEqual(written, ["one\n"]);
  input.write("o\nthree\nfo");
  await settle();
  assert.deepEqual(written, ["one\n"]);
  drain();
  await settle();
  assert.deepEqual(written, ["one\n", "two\nthree\n"]);
  input.end(Buffer.from("ür").subarray(0, 2));
  drain();
  await done;
  assert.deepEqual(written.at(-1), "foü\n");
});

it("breaks a line that is longer than a mebibyte", async () => {
  const { written, drain, output } = slowOutput();
  const input = new PassThrough();
  const done = relayLines(input, output);
  const timer = setInterval(drain, 1);
  for (let i = 0; i < 48; i++) {
    input.write("x".repeat(64 * 1024));
    await setImmediate();
  }
  input.end();
  await done;
  clearInterval(timer);
  assert.equal(written.join("").replaceAll("\n", "").length, 3 * 1024 * 1024);
  assert.ok(written.length > 1);
});
