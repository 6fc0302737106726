import assert from "node:assert/strict";
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { test } from "node:test";
import { Client, connectivityState, credentials } from "@grpc/grpc-js";
import type { HttpHandler } from "../../src/transport/http/handlers.ts";
import type { Listener } from "../../src/transport/listener/listener.ts";
import { newTokenBucket } from "../../src/transport/listener/token-bucket.ts";
import { codeOf, errorCode, type Frame, frameClient, frameType, request } from "./frames.ts";
import { echo, gate, get, listen, rawClient, session, write } from "./harness.ts";

const isPing = ({ type, flags }: Frame) => type === frameType.ping && flags === 0;

/** Pings, and resolves when the answer is there; rejects when the session ends before. */
const ping = (client: ClientHttp2Session): Promise<void> =>
  new Promise((resolve, reject) => client.ping((error) => (error ? reject(error) : resolve())));

/** Resolves when a client that comes now, and is silent, has been disconnected. Clients that were silent for longer are then disconnected too. */
async function idleTime(listener: Listener): Promise<void> {
  const silent = frameClient(listener.address.port);
  await silent.next((f) => f.type === frameType.goaway);
  await silent.closed;
}

/** Connects until there is a place: the server counts a connection out when it hears of its end. */
async function place(listener: Listener): Promise<void> {
  while ((await get(listener, "/").catch(() => undefined)) === undefined);
}

test("D6 idle: an HTTP/2 session that has become silent is closed by a GOAWAY without error", async (t) => {
  const listener = await listen(t, { limits: { http2IdleTimeoutMs: 100 } });
  const client = frameClient(listener.address.port);
  client.send(request(1, true));
  assert.equal(codeOf(await client.next((f) => f.type === frameType.goaway)), errorCode.none);
  await client.closed;
});

test("D6 idle: an HTTP/2 client that never ends its first SETTINGS is sent away, however often it sends some of it", async (t) => {
  const listener = await listen(t, { limits: { prefaceTimeoutMs: 100 } });
  const { socket, closed } = frameClient(listener.address.port, false);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const settings = Buffer.alloc(9 + 6 * 20);
  settings.writeUIntBE(settings.length - 9, 0, 3);
  settings[3] = frameType.settings;
  let sent = 0;
  const trickle = setInterval(() => socket.write(settings.subarray(sent, ++sent)), 30);
  await closed;
  clearInterval(trickle);
  assert.ok(sent < settings.length, "it was sent whole");
});

test("D7 idle: an HTTP/2 client that pings with no stream open gets no GOAWAY, until it stops", async (t) => {
  const listener = await listen(t, { limits: { http2IdleTimeoutMs: 400, controlFrameBurst: 1e6 } });
  const client = session(t, listener);
  const left = once(client, "goaway");
  await once(client, "remoteSettings");
  let isOver = false;
  const over = idleTime(listener).finally(() => {
    isOver = true;
  });
  while (!isOver) await ping(client);
  await over;
  await ping(client);
  const [code] = await left;
  assert.equal(code, errorCode.none);
});

test("D7 idle: the keepalive of grpc-js without calls keeps its connection", async (t) => {
  const listener = await listen(t, { limits: { http2IdleTimeoutMs: 400 } });
  const client = new Client(new URL(listener.address.url).host, credentials.createInsecure(), {
    "grpc.keepalive_time_ms": 50,
    "grpc.keepalive_permit_without_calls": 1,
  });
  t.after(() => client.close());
  await new Promise<void>((resolve, reject) => {
    client.waitForReady(Date.now() + 5000, (error) => (error ? reject(error) : resolve()));
  });
  const channel = client.getChannel();
  let changes = 0;
  channel.watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, () => {
    changes += 1;
  });
  await idleTime(listener);
  assert.equal(channel.getConnectivityState(false), connectivityState.READY);
  assert.equal(changes, 0);
});

test("idle: a quiet stream keeps its session while the client responds pings", async (t) => {
  const answer = gate();
  const handler: HttpHandler = async (_, response) => {
    write(response, "begun");
    await answer.promise;
    response.end();
  };
  const listener = await listen(t, { handler, limits: { http2IdleTimeoutMs: 50, prefaceTimeoutMs: 5000 } });
  const client = session(t, listener);
  const stream = client.request({ ":path": "/" });
  for (let pings = 0; pings < 3; pings++) await once(client, "ping");
  answer.resolve();
  stream.resume();
  await once(stream, "end");
  assert.equal(stream.rstCode, errorCode.none);
});

test("idle: a session whose client no longer responds is dropped, open streams included", async (t) => {
  const listener = await listen(t, { handler: () => {}, limits: { http2IdleTimeoutMs: 100, prefaceTimeoutMs: 1_000 } });
  const client = frameClient(listener.address.port);
  client.send(request(1, true));
  await client.next(isPing);
  await client.closed;
});

test("D6 idle: connections are capped: for one more, the one that is silent longest is closed", async (t) => {
  const listener = await listen(t, { limits: { maxConnections: 2 } });
  const first = rawClient(t, listener);
  first.socket.write("G");
  await once(first.socket, "connect");
  const second = frameClient(listener.address.port);
  t.after(() => second.socket.destroy());
  await second.next((f) => f.type === frameType.settings);
  assert.equal((await get(listener, "/")).status, 200);
  assert.equal(await first.ended, "");
  assert.equal(second.socket.closed, false);
});

test("idle: a place is free again after any kind of connection", async (t) => {
  const listener = await listen(t, { handler: echo, limits: { maxConnections: 1, prefaceTimeoutMs: 50 } });
  for (const start of [
    "",
    "GET /broken\n\n",
    "PRI * HTTP/2.0\r\n\r\nbroken",
    "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
  ]) {
    const socket = connect(listener.address.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    await once(socket, "connect");
    socket.write(start);
    await once(socket, "close");
    await place(listener);
  }
});

const spendings: [name: string, at: number[], allowed: boolean[]][] = [
  ["a burst is allowed, the next is not", [0, 0, 0], [true, true, false]],
  ["time refills", [0, 0, 0, 100], [true, true, false, true]],
  ["never beyond the burst", [0, 9000, 9000, 9000], [true, true, true, false]],
  ["a clock set back takes nothing away", [1000, 0, 0], [true, true, false]],
];

for (const [name, times, allowed] of spendings) {
  test(`budget: ${name}`, () => {
    let now = times[0] ?? 0;
    const budget = newTokenBucket(2, 10, () => now);
    const verdicts = times.map((time) => {
      now = time;
      return budget.spend();
    });
    assert.deepEqual(verdicts, allowed);
  });
}

test("budget: a refund counts, up to the burst", () => {
  const budget = newTokenBucket(2, 0, () => 0);
  budget.refund(5);
  assert.deepEqual([budget.spend(), budget.spend(), budget.spend()], [true, true, false]);
  budget.refund(1);
  assert.deepEqual([budget.spend(), budget.spend()], [true, false]);
});

test("D6 http2: a response that its client does not take is given up, although the client responds when it is pinged", async (t) => {
  const listener = await listen(t, {
    limits: { requestTimeoutMs: 200, headersTimeoutMs: 200, controlFrameBurst: 1e6 },
    // More than the window of a stream that its client never widens.
    handler: (_received, response) => void response.end(Buffer.alloc(1_000_000)),
  });
  const client = session(t, listener);
  await once(client, "connect");
  // The window of the connection is wide enough for others.
  client.setLocalWindowSize(2 ** 24);
  const owed = client.request({ ":path": "/" });
  owed.pause();
  const closed = once(owed, "close");
  owed.on("error", () => {});
  while (!owed.destroyed) await ping(client);
  await closed;
  assert.equal(owed.rstCode, errorCode.cancel);
  const taken = client.request({ ":path": "/" });
  let length = 0;
  for await (const chunk of taken) length += (chunk as Buffer).length;
  assert.equal(length, 1_000_000);
});
