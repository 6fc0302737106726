import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { LimitName } from "../../../src/transport/listener/limit-counters.ts";
import type { ListenerLimits } from "../../../src/transport/listener/limits.ts";
import { frame, frameClient, frameType, request } from "../frames.ts";
import { echo, exchange, listen, rawClient } from "../harness.ts";

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

// Requests of an HTTP/1 client that exceed each limit once.
const overHttp1: [limit: LimitName, sent: string, limits: Partial<ListenerLimits>][] = [
  ["headers", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(400)}\r\n\r\n`, { maxHeaderBytes: 300 }],
  ["pieces", `${post}${"1\r\na\r\n".repeat(100)}0\r\n\r\n`, { freeChunks: 8, meanChunkBytes: 16 }],
  ["pipelined requests", get.repeat(4), { maxPipelinedRequests: 2 }],
  ["time of a request", post, { headersTimeoutMs: 40, requestTimeoutMs: 40 }],
];
for (const [limit, sent, limits] of overHttp1) {
  test(`D9 limits: a client that meets the limit of ${limit} is counted`, async (t) => {
    const listener = await listen(t, { limits, handler: echo });
    await exchange(t, listener, sent);
    assert.deepEqual(met(listener.limitCounts), [[limit, 1]]);
  });
}

test("D9 limits: an HTTP/2 client that meets the limit of headers is counted", async (t) => {
  const listener = await listen(t, { limits: { maxHeaderBytes: 300 } });
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  // A client that has not acknowledged the limit, which node would hold it to.
  client.send(request(1, true, "/", [["x", "x".repeat(400)]]));
  await client.next((reply) => reply.stream === 1);
  assert.deepEqual(met(listener.limitCounts), [["headers", 1]]);
});

test("D9 limits: a connection beyond the last is counted", async (t) => {
  const listener = await listen(t, { limits: { maxConnections: 1 } });
  const first = rawClient(t, listener);
  first.socket.write(get);
  await first.until(/200 OK/);
  await exchange(t, listener, "GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  assert.deepEqual(met(listener.limitCounts), [["connections", 1]]);
});

test("D9 limits: a connection beyond the share of its client is counted", async (t) => {
  const listener = await listen(t, { limits: { maxConnectionsPerClient: 1 } });
  const first = rawClient(t, listener);
  first.socket.write(get);
  await first.until(/200 OK/);
  await exchange(t, listener, "GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  assert.deepEqual(met(listener.limitCounts), [["connections of a client", 1]]);
});

test("D9 limits: a session that ends for its control frames is counted once", async (t) => {
  const listener = await listen(t, { limits: { controlFrameBurst: 3, controlFrameRate: 0 } });
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  await once(client.socket, "connect");
  client.send(...Array.from({ length: 10 }, () => frame(frameType.ping, 0, 0, Buffer.alloc(8))));
  await client.closed;
  assert.deepEqual(met(listener.limitCounts), [["control frames", 1]]);
});

function met(totals: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(totals).filter(([, times]) => times > 0);
}
