import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { HttpHandler } from "../../../src/transport/http/handlers.ts";
import type { Listener } from "../../../src/transport/listener/listener.ts";
import { codeOf, errorCode, frame, frameClient, frameType, greeting, request } from "../frames.ts";
import { gate, get, get2, listen, rawClient, session, type TestOptions } from "../harness.ts";

const megabyte = Buffer.alloc(1_000_000, "a");

/** Answers /N with N megabytes, in pieces or, over HTTP/2, in one. */
const megabytes: HttpHandler = (received, response) => {
  (response as ServerResponse).end(Buffer.concat(Array(Number(received.url?.slice(1))).fill(megabyte)));
};

/** Returns a listener at which clients may leave 20 MB untaken, and what it told of those that it closed. */
async function bounded(t: TestContext, { limits, ...options }: TestOptions = {}) {
  const reports: [connections: number, bytes: number][] = [];
  const listener = await listen(t, {
    handler: megabytes,
    onBacklog: (...report) => void reports.push(report),
    ...options,
    limits: { maxUnreadBytes: 20_000_000, unreadIntervalMs: 20, maxUnreadBytesOfClient: 1e9, ...limits },
  });
  return { listener, reports };
}

/** Asks for megabytes over HTTP/2 and takes none of them, until it is told to go on. */
async function ask(t: TestContext, listener: Listener, counts: number[]) {
  const client = connectHttp2(listener.address.url, { settings: { initialWindowSize: 0 } });
  client.on("error", () => {});
  t.after(() => client.destroy());
  await once(client, "connect");
  const streams = counts.map((count) => client.request({ ":path": `/${count}` }));
  for (const stream of streams) stream.on("error", () => {});
  await Promise.all(streams.map((stream) => once(stream, "response")));
  return { client, streams };
}

async function take(client: ClientHttp2Session, stream: ClientHttp2Stream): Promise<number> {
  client.setLocalWindowSize(2 ** 24);
  client.settings({ initialWindowSize: 2 ** 24 });
  let length = 0;
  for await (const chunk of stream) length += (chunk as Buffer).length;
  return length;
}

test("D9 unread: the HTTP/2 client with the largest unread backlog is closed, and one with a smaller backlog stays", async (t) => {
  const { listener, reports } = await bounded(t);
  const slow = await ask(t, listener, [4]);
  const bad = frameClient(listener.address.port, false);
  t.after(() => bad.socket.destroy());
  // RFC 9113 §6.5.2: SETTINGS_INITIAL_WINDOW_SIZE.
  bad.send(greeting.subarray(0, 24), frame(frameType.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])));
  // Only the last of them exceeds the limit of unsent bytes, at any time of the check.
  bad.send(...[1, 3, 5, 7, 9].map((id) => request(id, true, "/4")));
  assert.equal(codeOf(await bad.next((f) => f.type === frameType.goaway)), errorCode.enhanceYourCalm);
  await bad.closed;
  assert.deepEqual(reports, [[1, 24_000_000]]);
  assert.equal(listener.limitCounts["unread replies"], 1);
  assert.equal(await take(slow.client, slow.streams[0]!), 4_000_000);
});

test("D9 unread: clients that read nothing are left alone while their backlog is smaller", async (t) => {
  const { listener, reports } = await bounded(t);
  const slow = await Promise.all([ask(t, listener, [4, 4]), ask(t, listener, [4, 4])]);
  await sleep(100);
  const lengths = await Promise.all(slow.flatMap(({ client, streams }) => streams.map((each) => take(client, each))));
  assert.deepEqual([lengths, reports], [Array(4).fill(4_000_000), []]);
});

test("D9 unread: an HTTP/1 client with the largest backlog is closed, and the backlogs of both versions add up", async (t) => {
  const { listener, reports } = await bounded(t);
  const slow = await ask(t, listener, [10]);
  const bad = rawClient(t, listener);
  bad.socket.pause();
  const gone = gate();
  bad.socket.write("GET /8 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(4));
  while (reports.length === 0) await sleep(10);
  bad.socket.on("close", gone.resolve);
  bad.socket.resume();
  await gone.promise;
  assert.equal(reports[0]?.[0], 1);
  assert.equal(await take(slow.client, slow.streams[0]!), 10_000_000);
});

for (const [version, ask] of [
  ["HTTP/1", (listener: Listener) => get(listener, "/0")],
  ["HTTP/2", (_: Listener, client: ClientHttp2Session) => get2(client, "/0")],
] as const) {
  test(`D9 unread: in a long event-loop tick, a request over ${version} makes the check that a timer would`, async (t) => {
    // The turn in which no timer fires.
    t.mock.timers.enable({ apis: ["setInterval"] });
    const { listener, reports } = await bounded(t, { limits: { maxUnreadBytes: 6_000_000 } });
    const other = session(t, listener);
    await once(other, "connect");
    await ask(listener, other);
    const bad = rawClient(t, listener);
    bad.socket.pause();
    bad.socket.write("GET /8 HTTP/1.1\r\nHost: a\r\n\r\n");
    while (reports.length === 0) await ask(listener, other);
    assert.equal(reports[0]?.[0], 1);
  });
}

/** Asks for megabytes over HTTP/2 with windows that take them all, and reads nothing: they stay in the socket of the server. */
function askAndLeave(t: TestContext, listener: Listener, path: string): void {
  const { socket, send } = frameClient(listener.address.port, false);
  t.after(() => socket.destroy());
  socket.pause();
  const most = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
  send(
    greeting.subarray(0, 24),
    // RFC 9113 §6.5.2: SETTINGS_INITIAL_WINDOW_SIZE.
    frame(frameType.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), most])),
    frame(frameType.windowUpdate, 0, 0, Buffer.from([0x3f, 0xff, 0xff, 0xff])),
    request(1, true, path),
  );
}

// The preface has more time than a busy machine takes between the connection and its first bytes: without them the connection ends unasked.
const left: [when: string, limits: TestOptions["limits"]][] = [
  ["when it is too much", {}],
  ["when its session is idle", { maxUnreadBytes: 1e9, http2IdleTimeoutMs: 50, prefaceTimeoutMs: 2_000 }],
];
for (const [when, limits] of left) {
  test(`D9 http2: bytes in the socket of a client that reads nothing are discarded with it ${when}`, async (t) => {
    const asked = gate();
    const handler: HttpHandler = (received, response) => {
      if (received.url !== "/0") asked.resolve();
      return megabytes(received, response);
    };
    const { listener } = await bounded(t, { handler, limits: { maxConnections: 1, ...limits } });
    askAndLeave(t, listener, "/24");
    await asked.promise;
    // There is room for one connection only.
    while (!t.signal.aborted && !(await get(listener, "/0").catch(() => undefined)));
  });
}

test("D9 http2: requests beyond a few wait while their client reads nothing, and get responses when it does", async (t) => {
  let begun = 0;
  const handler: HttpHandler = (received, response) => {
    begun++;
    return megabytes(received, response);
  };
  const limits = { maxRequestsAtOnce: 2, maxUnreadBytesOfClient: 1_500_000, maxUnreadBytes: 1e9 };
  const { listener } = await bounded(t, { handler, limits });
  const client = connectHttp2(listener.address.url, { settings: { initialWindowSize: 0 } });
  client.on("error", () => {});
  t.after(() => client.destroy());
  await once(client, "connect");
  const streams = Array.from({ length: 10 }, () => client.request({ ":path": "/1" }));
  await once(streams[1]!, "response");
  await sleep(100);
  assert.equal(begun, 2);
  const lengths = await Promise.all(streams.map((stream) => take(client, stream)));
  assert.deepEqual([lengths, begun], [Array(10).fill(1_000_000), 10]);
});
