import assert from "node:assert/strict";
import { once } from "node:events";
import { constants } from "node:http2";
import { type TestContext, test } from "node:test";
import { connect } from "node:tls";
import type { HttpHandler } from "../../../src/transport/http/handlers.ts";
import type { Listener } from "../../../src/transport/listener/listener.ts";
import { certificate, certificateKey } from "../certificate.ts";
import { frame, frameClient, frameType } from "../frames.ts";
import {
  collect,
  echo,
  exchange,
  gate,
  get,
  get2,
  listen,
  rawClient,
  session,
  type TestOptions,
  write,
} from "../harness.ts";

// Never met, where a drain has to end by itself: twelve days.
const farOff = 2 ** 30;
/** No connection goes by itself. */
const patient = { prefaceTimeoutMs: farOff, keepAliveTimeoutMs: farOff, http2IdleTimeoutMs: farOff };
const tls = { cert: certificate, key: certificateKey };

test("drain: without connections it ends, and the port is closed", async (t) => {
  const listener = await listen(t);
  await listener.drain(farOff);
  await assert.rejects(get(listener, "/"), { code: "ECONNREFUSED" });
});

test("drain: an HTTP/1 request in flight gets a response with Connection: close", async (t) => {
  const { listener, arrived, answer } = await waiting(t);
  const client = rawClient(t, listener);
  client.socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  await arrived.promise;
  const drained = listener.drain(farOff);
  answer.resolve();
  assert.match(await client.ended, /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*done$/s);
  await drained;
});

test("drain: HTTP/1 requests in flight behind one another are all answered, the last with Connection: close", async (t) => {
  const { listener, arrived, answer } = await waiting(t, { requests: 3 });
  const client = rawClient(t, listener);
  client.socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3));
  await arrived.promise;
  const drained = listener.drain(farOff);
  answer.resolve();
  const replies = await client.ended;
  assert.equal(replies.match(/done/g)?.length, 3);
  assert.match(replies, /^(?:(?!Connection: close).)*done.*done.*Connection: close.*done$/s);
  await drained;
});

test("drain: an HTTP/1 response that has begun is finished, then its connection closed", async (t) => {
  const { listener, answer } = await waiting(t, { begin: true });
  const client = rawClient(t, listener);
  client.socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until(/begun/);
  const drained = listener.drain(farOff);
  answer.resolve();
  assert.match(await client.ended, /begun.*done/s);
  await drained;
});

test("drain: an HTTP/1 request of which a part has arrived gets a response", async (t) => {
  const listener = await listen(t);
  const client = rawClient(t, listener);
  client.socket.write("GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /sec");
  await client.until(/first/);
  const drained = listener.drain(farOff);
  client.socket.write("ond HTTP/1.1\r\nHost: a\r\n\r\n");
  assert.match(await client.ended, /first.*Connection: close.*second/s);
  await drained;
});

test("drain: an HTTP/1 request that was on its way to a connection between two requests gets a response", async (t) => {
  const listener = await listen(t);
  const client = rawClient(t, listener);
  client.socket.write("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until(/first/);
  const drained = listener.drain(farOff);
  client.socket.write("POST /second HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  assert.match(await client.ended, /first.*Connection: close.*second/s);
  await drained;
});

const breaking: [what: string, limits: TestOptions["limits"], rest: string, status: number][] = [
  ["breaks", patient, "x\r\n", 400],
  ["does not come in time", { headersTimeoutMs: 100, requestTimeoutMs: 100 }, "", 408],
];
for (const [what, limits, rest, status] of breaking) {
  test(`drain: an HTTP/1 request whose body ${what} ends with its connection`, async (t) => {
    const listener = await listen(t, { limits: { ...limits } });
    const client = rawClient(t, listener);
    client.socket.write("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
    await client.until(/100 Continue/);
    const drained = listener.drain(farOff);
    client.socket.write(rest);
    assert.match(await client.ended, new RegExp(`HTTP/1\\.1 ${status} `));
    await drained;
  });
}

test("drain: an HTTP/2 stream in flight ends well, after a GOAWAY", async (t) => {
  const { listener, arrived, answer } = await waiting(t);
  const client = session(t, listener);
  const reply = get2(client, "/wait");
  await arrived.promise;
  const goaway = once(client, "goaway");
  const drained = listener.drain(farOff);
  assert.equal((await goaway)[0], constants.NGHTTP2_NO_ERROR);
  answer.resolve();
  assert.equal((await reply).body, "done");
  await drained;
});

test("drain: requests in flight over TLS complete in both versions of HTTP", async (t) => {
  const { listener, arrived, answer } = await waiting(t, { tls, requests: 2 });
  const reply = get2(session(t, listener, { ca: certificate }), "/wait");
  const socket = connect({ host: "127.0.0.1", port: listener.address.port, ca: certificate });
  const client = collect(socket);
  await once(socket, "secureConnect");
  socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  await arrived.promise;
  const drained = listener.drain(farOff);
  answer.resolve();
  assert.equal((await reply).body, "done");
  assert.match(await client.ended, /Connection: close.*done/s);
  await drained;
});

const idlers: [name: string, connected: (t: TestContext, listener: Listener) => Promise<unknown>][] = [
  [
    "an HTTP/1 connection between two requests",
    async (t, listener) => {
      const client = rawClient(t, listener);
      client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await client.until(/\}$/);
    },
  ],
  [
    "a connection that has sent nothing",
    async (t, listener) => {
      await once(rawClient(t, listener).socket, "connect");
      // The answer shows that the connection before it has been accepted too.
      await exchange(t, listener, "GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    },
  ],
  [
    "a connection that has sent a part of the preface",
    async (t, listener) => {
      rawClient(t, listener).socket.write("PR");
      await exchange(t, listener, "GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    },
  ],
  [
    "an HTTP/2 session without streams",
    async (t, listener) => {
      await get2(session(t, listener), "/");
    },
  ],
];

for (const [name, connected] of idlers) {
  test(`drain: ${name} is closed at once`, async (t) => {
    const listener = await listen(t, { limits: patient });
    await connected(t, listener);
    await listener.drain(farOff);
  });
}

test("drain: a TLS connection that has sent no request is closed at once", async (t) => {
  const listener = await listen(t, { tls, limits: patient });
  const socket = connect({
    host: "127.0.0.1",
    port: listener.address.port,
    ca: certificate,
    ALPNProtocols: ["http/1.1"],
  });
  const client = collect(socket);
  await once(socket, "session");
  await listener.drain(farOff);
  await client.ended;
});

test("drain: a TLS handshake that ends while draining gets no further", async (t) => {
  const listener = await listen(t, { tls, limits: patient });
  const plain = rawClient(t, listener).socket;
  await once(plain, "connect");
  // Its handshake shows that the connection before it has been accepted too.
  const other = connect({ host: "127.0.0.1", port: listener.address.port, ca: certificate });
  await Promise.all([once(other, "secureConnect"), collect(other)]);
  const drained = listener.drain(farOff);
  const client = collect(connect({ socket: plain, host: "127.0.0.1", ca: certificate }));
  await drained;
  await client.ended;
});

test("drain: the signal aborts first, so a response without an end can end", async (t) => {
  const begun: AbortSignal[] = [];
  const holder: { listener?: Listener } = {};
  const listener = await listen(t, {
    handler: (_, response) => {
      const signal = holder.listener?.draining;
      assert.ok(signal);
      begun.push(signal);
      write(response, "begun");
      signal.addEventListener("abort", () => response.end("ended"));
    },
  });
  holder.listener = listener;
  const replies = Promise.all([get(listener, "/"), get2(session(t, listener), "/")]);
  while (begun.length < 2) await new Promise(setImmediate);
  assert.ok(!listener.draining.aborted);
  const drained = listener.drain(farOff);
  assert.ok(listener.draining.aborted);
  assert.deepEqual(
    (await replies).map(({ body }) => body),
    ["begunended", "begunended"],
  );
  await drained;
});

test("drain: requests that are left at the deadline are cut off", async (t) => {
  const { listener, arrived } = await waiting(t, { requests: 2 });
  const first = rawClient(t, listener);
  first.socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  const second = assert.rejects(get2(session(t, listener), "/wait"));
  await arrived.promise;
  await listener.drain(50);
  await second;
  assert.equal(await first.ended, "");
});

test("drain: a client that keeps its connection open is cut off at the deadline", async (t) => {
  const listener = await listen(t, { handler: () => {} });
  const client = frameClient(listener.address.port);
  client.send(Buffer.alloc(0), frame(frameType.headers, 0, 1, Buffer.alloc(0)));
  await client.next((f) => f.type === frameType.settings);
  await listener.drain(50);
  await client.closed;
});

test("drain: the earliest deadline of several calls counts, and all calls resolve", async (t) => {
  const { listener, arrived } = await waiting(t);
  const reply = assert.rejects(get(listener, "/wait"));
  await arrived.promise;
  const drained = listener.drain(farOff);
  await listener[Symbol.asyncDispose]();
  await Promise.all([drained, listener.drain(farOff), reply]);
});

test("listen: a port that is taken is rejected", async (t) => {
  const { port } = (await listen(t)).address;
  await assert.rejects(listen(t, { port }), { code: "EADDRINUSE" });
});

test("listen: the address is that of the open port, in a URL that clients take", async (t) => {
  const { address } = await listen(t, { host: "::1" });
  assert.equal(address.url, `http://[::1]:${address.port}`);
  assert.equal((await fetch(address.url)).status, 200);
});

interface WaitingOptions extends TestOptions {
  /** Begins the reply before it waits. */
  readonly begin?: boolean;
  readonly requests?: number;
}

// A listener whose handler holds /wait back: `arrived` resolves when all such requests are there.
async function waiting(t: TestContext, { begin = false, requests = 1, ...options }: WaitingOptions = {}) {
  const [arrived, answer] = [gate(), gate()];
  let missing = requests;
  const handler: HttpHandler = async (request, response) => {
    if (request.url !== "/wait") return echo(request, response);
    if (begin) write(response, "begun");
    missing -= 1;
    if (missing === 0) arrived.resolve();
    await answer.promise;
    response.end("done");
  };
  return { listener: await listen(t, { handler, ...options }), arrived, answer };
}
