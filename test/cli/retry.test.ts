// Calls that are tried again while a server is away or busy.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConnectError, createClient } from "@connectrpc/connect";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { staticToken } from "../../packages/client/src/tokens.ts";
import { newRetries } from "../../src/cli/client/retry.ts";
import { openTransport } from "../../src/cli/client/transport.ts";
import { CommandFailure } from "../../src/cli/failure.ts";
import { startFailingServer } from "../packages/client/failing-server.ts";

const failure = (status: string) => new CommandFailure(`it is ${status || "away"}`, { status });

/** Retries without pauses, and the failures that were followed by one. */
function open(signal = new AbortController().signal, pausesMs = [0, 0, 0]) {
  const pauses: string[] = [];
  const retry = newRetries({ signal, pausesMs, onPause: ({ message }) => pauses.push(message) });
  /** Returns a call that fails in these ways before it succeeds. */
  const call = (...failures: readonly Error[]) => {
    const left = [...failures];
    return retry(async () => {
      const next = left.shift();
      if (next) throw next;
      return "done";
    });
  };
  return { call, pauses };
}

describe("a call that fails", () => {
  it("a failed call is repeated while the server is busy or does not respond", async () => {
    const { call, pauses } = open();
    assert.equal(await call(failure("Unavailable"), failure("ResourceExhausted"), failure("Aborted")), "done");
    assert.equal(await call(failure("")), "done");
    assert.deepEqual(pauses, ["it is Unavailable", "it is ResourceExhausted", "it is Aborted", "it is away"]);
  });

  it("a failed call is repeated three times at most", async () => {
    const { call, pauses } = open();
    await assert.rejects(call(...Array(4).fill(failure("Unavailable"))), { message: "it is Unavailable" });
    assert.equal(pauses.length, 3);
  });

  it("a call is not repeated after an error that a repetition cannot change", async () => {
    const { call, pauses } = open();
    await call();
    for (const error of [failure("PermissionDenied"), failure("InvalidArgument"), new Error("a mistake")])
      await assert.rejects(call(error), error);
    assert.deepEqual(pauses, []);
  });

  it("a call is not repeated if the server has never responded", async () => {
    await assert.rejects(open().call(failure("")), { message: "it is away" });
  });

  it("an interruption ends the pause before a repetition, and the call is not repeated", async () => {
    const stop = new AbortController();
    const { call, pauses } = open(stop.signal, [600_000, 600_000]);
    const called = call(failure("Unavailable"), failure("Unavailable"));
    setImmediate(() => stop.abort());
    await assert.rejects(called, { message: "it is Unavailable" });
    assert.equal(pauses.length, 1);
  });
});

describe("a write of a command that fails without a response", () => {
  for (const [rule, document, attempts] of [
    ["is repeated with its key if the server says that it takes keys", { idempotency_keys_supported: true }, 2],
    ["is not repeated if the server does not say so: one before 0.7 would execute it again", {}, 1],
  ] as const)
    it(rule, async () => {
      await using server = await startFailingServer(["broken connection"], [document]);
      const { transport, close } = await openTransport(server.url, staticToken("token"));
      const created = createClient(GroupsService, transport).createGroup({});
      if (attempts === 1) await assert.rejects(created, ConnectError);
      else await created;
      close();
      assert.equal(server.calls.length, attempts);
    });
});
