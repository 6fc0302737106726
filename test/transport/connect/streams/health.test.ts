// Tests of the cost and the end of health watches. Their behaviour for clients is in test/clients.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { HealthCheckResponse_ServingStatus as Status } from "../../../../gen/health/v1/health_pb.ts";
import { health, maxWatches } from "../../../../src/transport/connect/streams/health.ts";

/** Health of a program with one service; `looks` counts how often its state was asked for. */
function openHealth() {
  const stopping = new AbortController();
  const leaving = new AbortController();
  const program = { serves: true, looks: 0 };
  const implementation = health({
    services: () => new Set(["a.Service"]),
    async check() {
      program.looks++;
      if (!program.serves) throw new Error("the database is gone");
    },
    draining: stopping.signal,
  });
  const call = <T>(method: unknown, request: object, signal = leaving.signal) =>
    (method as (request: object, context: object) => T)(request, { signal });
  return {
    program,
    stop: () => stopping.abort(),
    leave: () => leaving.abort(),
    list: () => call<Promise<{ statuses: Record<string, { status: Status }> }>>(implementation.list, {}),
    watch: (service = "", signal?: AbortSignal) =>
      call<AsyncGenerator<{ status: Status }>>(implementation.watch, { service }, signal),
  };
}

describe("health", () => {
  it("List: checks once for all services", async () => {
    const { list, program } = openHealth();
    const { statuses } = await list();
    assert.deepEqual(statuses, { "": { status: Status.SERVING }, "a.Service": { status: Status.SERVING } });
    assert.equal(program.looks, 1);
  });

  it("D8: Watch: polls once for all watches, and limits their number", async () => {
    const { watch, leave, program } = openHealth();
    const watches = Array.from({ length: maxWatches }, () => watch());
    for (const each of await Promise.all(watches.map((one) => one.next()))) {
      assert.deepEqual(each, { done: false, value: { status: Status.SERVING } });
    }
    assert.equal(program.looks, 1);
    await assert.rejects(watch().next(), (refused) => {
      assert.ok(refused instanceof ConnectError);
      assert.deepEqual([refused.code, refused.details.length], [Code.ResourceExhausted, 1]);
      return /RetryInfo/.test((refused.details[0] as { desc?: { typeName: string } }).desc?.typeName ?? "");
    });
    const ends = watches.map((one) => one.next());
    leave();
    for (const end of await Promise.allSettled(ends)) assert.equal(end.status, "rejected");
    const again = watch("", new AbortController().signal);
    assert.equal((await again.next()).done, false);
    await again.return(undefined);
  });

  it("Watch: reports a change once", async () => {
    const { watch, leave, program } = openHealth();
    const watching = watch("a.Service");
    assert.deepEqual((await watching.next()).value, { status: Status.SERVING });
    program.serves = false;
    assert.deepEqual((await watching.next()).value, { status: Status.NOT_SERVING });
    const end = watching.next();
    leave();
    await assert.rejects(end, { name: "AbortError" });
  });

  it("Watch: ends when the program stops, with NOT_SERVING for what it serves", async () => {
    const { watch, stop } = openHealth();
    const [known, unknown] = [watch(), watch("nonsense.Service")];
    assert.deepEqual((await known.next()).value, { status: Status.SERVING });
    assert.deepEqual((await unknown.next()).value, { status: Status.SERVICE_UNKNOWN });
    const [last, end] = [known.next(), unknown.next()];
    stop();
    assert.deepEqual((await last).value, { status: Status.NOT_SERVING });
    assert.deepEqual([(await known.next()).done, (await end).done], [true, true]);
    const late = watch();
    assert.deepEqual((await late.next()).value, { status: Status.NOT_SERVING });
    assert.equal((await late.next()).done, true);
  });
});
