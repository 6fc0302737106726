// Calls that write go from the workers of a server to the one that executes them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { create, type Message } from "@bufbuild/protobuf";
import {
  PingRequestSchema,
  PingResponseSchema,
  PingService,
} from "../../../gen/chainguard/platform/ping/v2beta1/ping_pb.ts";
import { type ApiError, Code, invalidField, retryAfterOf } from "../../../src/aip/errors.ts";
import { setTracing } from "../../../src/base/tracing.ts";
import { type Call, newCall } from "../../../src/pipeline/call.ts";
import type { Method } from "../../../src/pipeline/method.ts";
import { type Forwarder, newForwarder } from "../../../src/transport/forwarding/forwarder.ts";
import { openWriterPort } from "../../../src/transport/forwarding/writer-port.ts";
import { startTestServer } from "../../harness/server.ts";

const key = "k".repeat(64);
const descriptor = PingService.method.ping;
const rules = { text: () => undefined, bounds: () => ({}) };
const method = { path: "/ping", descriptor, errorDomain: "test", rules } satisfies Omit<Method, "call">;

/** Opens a writer whose only method responds as `respond` does. */
async function openWriter(respond: (call: Call) => Promise<Message>, socket = socketPath()) {
  const methods = new Map([[method.path, { ...method, call: (call: Call) => respond(call) }]]);
  return { socket, ...(await openWriterPort({ path: socket, key, methods, lendTurn: async () => () => {} })) };
}

function socketPath(): string {
  return path.join(tmpdir(), `gatehouse-${randomUUID().slice(0, 8)}-writer`);
}

/** Calls the method; again until it is forwarded. */
async function forwarded({
  forward,
}: Forwarder): Promise<{ readonly call: Call; readonly response: Promise<Message> }> {
  for (;;) {
    const call = newCall({ transport: "rest", requestId: "r1", clientAddress: "192.0.2.1", header: headerOf });
    const response = forward(method, create(PingRequestSchema), call);
    if (response) return { call, response };
    await setTimeout(10);
  }
}

const headerOf = (name: string) => (name === "authorization" ? "Bearer t" : "other");
const pong = () => create(PingResponseSchema, { response: "pong" });

describe("forwarded calls", () => {
  it("forwarded calls are executed as the client sent them, with response headers, and invalidate the caches of the forwarding worker", async () => {
    const seen: unknown[] = [];
    await using writer = await openWriter(async (call) => {
      const headers = [call.header("authorization"), call.header("user-agent")];
      seen.push([call.transport, call.requestId, call.clientAddress, ...headers, call.isForwarded]);
      assert.throws(() => call.header("cookie"), /the header cookie is not forwarded/);
      call.setResponseHeader("cache-control", "no-store");
      return pong();
    });
    let executed = 0;
    using forwarder = newForwarder({ path: writer.socket, key, onExecuted: () => executed++ });
    const { call, response } = await forwarded(forwarder);
    assert.deepEqual(await response, pong());
    assert.deepEqual(seen, [["rest", "r1", "192.0.2.1", "Bearer t", "other", true]]);
    assert.deepEqual([...call.responseHeaders], [["cache-control", "no-store"]]);
    assert.equal(executed, 1);
  });

  it("belong to the trace of the process that forwards them", async () => {
    const traceparent = `00-${"a".repeat(32)}-00f067aa0ba902b7-01`;
    const seen: unknown[] = [];
    await using writer = await openWriter(async (call) => {
      seen.push(call.header("traceparent"), call.header("tracestate"));
      return pong();
    });
    using forwarder = newForwarder({ path: writer.socket, key, onExecuted: () => {} });
    const asItIs = <T>(_about: unknown, run: () => T) => run();
    setTracing({
      isSampled: () => true,
      isRecording: () => true,
      call: asItIs,
      step: asItIs,
      traceparent: () => traceparent,
    });
    try {
      await (await forwarded(forwarder)).response;
    } finally {
      setTracing(undefined);
    }
    assert.deepEqual(seen, [traceparent, undefined]);
  });

  it("a forwarded call that fails has the same code, message, details and cause as one that is not forwarded", async () => {
    const failure = invalidField("name", "is reserved");
    await using writer = await openWriter(() => {
      throw Object.assign(failure, { cause: new TypeError("why") });
    });
    using forwarder = newForwarder({ path: writer.socket, key, onExecuted: () => {} });
    const { response } = await forwarded(forwarder);
    await assert.rejects(response, (error: ApiError) => {
      const { code, message, details, cause } = error;
      assert.deepEqual([code, message, details], [failure.code, failure.message, failure.details]);
      assert.match((cause as Error).stack ?? "", /^TypeError: why\n/);
      return true;
    });
  });

  it("forwarded calls are UNAVAILABLE if their writer ends, and go to the next writer", async () => {
    await using writer = await openWriter(() => new Promise(() => {}));
    using forwarder = newForwarder({ path: writer.socket, key, onExecuted: () => {} });
    const { response } = await forwarded(forwarder);
    const rejected = assert.rejects(response, (error: ApiError) => {
      assert.equal(error.code, Code.UNAVAILABLE);
      assert.equal(retryAfterOf(error), "1");
      return true;
    });
    await writer[Symbol.asyncDispose]();
    await rejected;
    // As if the process had been killed.
    writeFileSync(writer.socket, "");
    await using _next = await openWriter(async () => pong(), writer.socket);
    assert.deepEqual(await (await forwarded(forwarder)).response, pong());
    const { completed, lost, local } = forwarder.counts;
    assert.deepEqual({ completed, lost }, { completed: 1, lost: 1 });
    assert.ok(local > 0);
  });

  it("complete while the writer drains, which takes no more", async () => {
    const finished = Promise.withResolvers<Message>();
    await using writer = await openWriter(() => finished.promise);
    using forwarder = newForwarder({ path: writer.socket, key, onExecuted: () => {} });
    const { call, response } = await forwarded(forwarder);
    const drained = writer.drain(10_000);
    while (forwarder.forward(method, create(PingRequestSchema), call)) await setTimeout(1);
    finished.resolve(pong());
    assert.deepEqual(await response, pong());
    await drained;
  });

  it("need the key of the server, and the user of its process", async () => {
    await using writer = await openWriter(async () => pong());
    assert.equal(statSync(writer.socket).mode & 0o777, 0o600);
    for (const first of ['["wrong"]', "no frame at all, but long enough to have a length"]) {
      const socket = connect(writer.socket);
      const head = Buffer.alloc(8);
      head.writeUInt32BE(first.length, 0);
      head.writeUInt32BE(first.length, 4);
      socket.write(first.startsWith("[") ? Buffer.concat([head, Buffer.from(first)]) : first);
      socket.resume();
      await once(socket, "close");
    }
    await writer[Symbol.asyncDispose]();
    assert.equal(statSync(writer.socket, { throwIfNoEntry: false }), undefined);
  });
});

describe("a worker that forwards writes", () => {
  it("reads what was written, and logs and counts the call once", async () => {
    const log = new PassThrough();
    let text = "";
    log.on("data", (chunk) => {
      text += chunk;
    });
    await using server = await startTestServer({ forwardsWrites: true, log });
    const headers = { authorization: `Bearer ${server.ownerToken}`, "content-type": "application/json" };
    const groups = `${server.url}/iam/v2beta1/groups`;
    const list = async () => {
      const response = await fetch(`${groups}?uidp.children_of=${server.groupUid}&order_by=name desc`, { headers });
      return ((await response.json()) as { readonly groups: { readonly name: string }[] }).groups;
    };
    for (let names: string[] = [], i = 0; i < 3; i++) {
      const created = await fetch(`${groups}/${server.groupUid}`, {
        method: "POST",
        headers,
        body: `{"name":"g${i}"}`,
      });
      assert.equal(created.status, 200);
      names = [`g${i}`, ...names];
      assert.deepEqual(
        (await list()).map(({ name }) => name),
        names,
      );
      const id = created.headers.get("x-request-id")!;
      assert.equal(text.split(id).length - 1, 1);
    }
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^gatehouse_forwarded_calls_total\{result="completed"\} 3$/m);
    assert.match(metrics, /^gatehouse_call_duration_seconds_count\{.*CreateGroup.*\} 3$/m);
  });
});
