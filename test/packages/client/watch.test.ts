// Following streams of changes: what is continued, from where, and what is not.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type WatchChangesResponse, WatchChangesResponseSchema } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { watchChanges } from "../../../packages/client/src/watch.ts";

/** The steps of one stream: positions, and an error or nothing. */
type Script = readonly (string | ConnectError | "silence")[];

/** Opens one script after the other, and records where each began. */
function opener(scripts: readonly Script[]) {
  const begun: string[] = [];
  const open = async function* (after: string, signal: AbortSignal): AsyncGenerator<WatchChangesResponse> {
    const script = scripts[begun.length] ?? [];
    begun.push(after);
    for (const step of script) {
      if (step instanceof ConnectError) throw step;
      if (step === "silence") {
        await sleep(600_000, undefined, { signal }).catch(() => {});
        throw signal.reason;
      }
      yield create(WatchChangesResponseSchema, { resumeAfter: step });
    }
  };
  return { open, begun };
}

async function positions(stream: AsyncIterable<WatchChangesResponse>, count: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { resumeAfter } of stream) {
    found.push(resumeAfter);
    if (found.length === count) break;
  }
  return found;
}

describe("watchChanges", () => {
  it("continues behind the last response when a stream breaks, ends or says nothing", async () => {
    const unavailable = new ConnectError("the server stops", Code.Unavailable);
    const { open, begun } = opener([["a", "b", unavailable], ["c"], ["d", "silence"], ["e"]]);
    const stream = watchChanges(open, { after: "start", maxSilenceMs: 200 });
    assert.deepEqual(await positions(stream, 5), ["a", "b", "c", "d", "e"]);
    assert.deepEqual(begun, ["start", "b", "c", "d"]);
  });

  it("throws what another stream would meet again", async () => {
    const denied = new ConnectError("no", Code.PermissionDenied);
    const { open, begun } = opener([["a", denied]]);
    await assert.rejects(positions(watchChanges(open), 2), denied);
    assert.deepEqual(begun, [""]);
  });

  it("gives up after as many failures in a row as it was told", async () => {
    const unavailable = new ConnectError("gone", Code.Unavailable);
    const { open, begun } = opener([["a", unavailable], [unavailable], [unavailable]]);
    const delays: number[] = [];
    const stream = watchChanges(open, { retries: 1, onDelay: (_, delayMs) => delays.push(delayMs) });
    await assert.rejects(positions(stream, 2), unavailable);
    assert.deepEqual([begun, delays.length], [["", "a"], 1]);
  });

  it("ends without an error when its signal is aborted", async () => {
    const stop = new AbortController();
    const { open } = opener([["a", "silence"]]);
    const stream = watchChanges(open, { signal: stop.signal });
    assert.equal((await stream.next()).value?.resumeAfter, "a");
    const end = stream.next();
    stop.abort();
    assert.deepEqual(await end, { done: true, value: undefined });
  });
});
