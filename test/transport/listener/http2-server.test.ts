import assert from "node:assert/strict";
import { constants } from "node:http2";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { HttpHandler } from "../../../src/transport/http/handlers.ts";
import type { HttpRequest } from "../../../src/transport/http/message.ts";
import {
  codeOf,
  errorCode,
  type FrameClient,
  flag,
  frame,
  frameClient,
  frameType,
  headerBlock,
  request,
  requestHeaders,
  reset,
} from "../frames.ts";
import { echo, gate, get2, listen, session } from "../harness.ts";

const ping = frame(frameType.ping, 0, 0, Buffer.alloc(8));

test("http2: requests of one session are served concurrently", async (t) => {
  const client = session(t, await listen(t));
  const replies = await Promise.all(["/a", "/b", "/c"].map((path) => get2(client, path)));
  assert.deepEqual(
    replies.map(({ status, body }) => [status, JSON.parse(body).url, JSON.parse(body).httpVersion]),
    ["/a", "/b", "/c"].map((path) => [200, path, "2.0"]),
  );
});

test("http2: the client is told its limits", async (t) => {
  const client = session(t, await listen(t, { limits: { maxConcurrentStreams: 7, maxHeaderBytes: 5000 } }));
  const settings = await new Promise<Record<string, unknown>>((resolve) =>
    client.once("remoteSettings", (s) => resolve({ ...s })),
  );
  assert.equal(settings.maxConcurrentStreams, 7);
  assert.equal(settings.maxHeaderListSize, 5000);
});

const requests: [name: string, method: string, headers: Record<string, string>, status: number][] = [
  ["headers within the limit", "GET", { x: "a".repeat(3000) }, 200],
  ["H3 TRACE", "TRACE", {}, 405],
  ["Expect: 100-continue", "POST", { expect: "100-continue" }, 200],
  ["another expectation", "POST", { expect: "miracles" }, 417],
];

for (const [name, method, headers, status] of requests) {
  test(`http2: ${name}: ${status}`, async (t) => {
    const client = session(t, await listen(t, { limits: { maxHeaderBytes: 4096 } }));
    assert.equal((await get2(client, "/", { ":method": method, ...headers })).status, status);
  });
}

test("H3 http2: CONNECT: 405, and the session goes on", async (t) => {
  const client = session(t, await listen(t));
  const stream = client.request({ ":method": "CONNECT", ":authority": "a.test:443" });
  const status = await new Promise((resolve) => stream.on("response", (headers) => resolve(headers[":status"])));
  assert.equal(status, 405);
  assert.equal((await get2(client, "/")).status, 200);
});

const malformed: [name: string, headers: [string, string][]][] = [
  ["Transfer-Encoding", [["transfer-encoding", "chunked"]]],
  [
    "a second Host",
    [
      ["host", "a"],
      ["host", "b"],
    ],
  ],
  ["a name in upper case", [["X-A", "b"]]],
  [
    "two Content-Length",
    [
      ["content-length", "0"],
      ["content-length", "1"],
    ],
  ],
  ["more lines than allowed", Array.from({ length: 40 }, (_, i) => [`x${i}`, ""])],
];

for (const [name, headers] of malformed) {
  test(`H5 http2: ${name}: the stream is rejected, not handed on`, async (t) => {
    const client = raw(t, await listen(t, { limits: { maxHeadersCount: 16 } }));
    client.send(request(1, true, "/", headers));
    assert.equal((await client.next((f) => f.stream === 1)).type, frameType.reset);
  });
}

const lineBreaks = ["a\nb", "a\rb", "a\0b", "a\r\n"];

for (const value of lineBreaks) {
  test(`H5 http2: ${JSON.stringify(value)} in a pseudo-header is a PROTOCOL_ERROR (RFC 9113 §8.2.1)`, async (t) => {
    const client = raw(t, await listen(t));
    client.send(request(1, true, `/${value}`));
    const rejected = await client.next((f) => f.stream === 1);
    assert.deepEqual([rejected.type, codeOf(rejected)], [frameType.reset, errorCode.protocolError]);
  });

  test(`H5 http2: ${JSON.stringify(value)} in another header reaches no handler: nghttp2 drops the field`, async (t) => {
    const handler: HttpHandler = ({ rawHeaders }, response) => void response.end(JSON.stringify(rawHeaders));
    const client = raw(t, await listen(t, { handler }));
    client.send(
      request(1, true, "/", [
        ["authorization", value],
        ["x", "last"],
      ]),
    );
    const { payload } = await client.next((f) => f.type === frameType.data);
    assert.deepEqual(JSON.parse(payload.toString()).slice(8), ["x", "last"]);
  });
}

for (const value of [" a", "a ", "\ta\t"])
  test(`http2: ${JSON.stringify(value)} in a header arrives, as it does over HTTP/1.1`, async (t) => {
    const handler: HttpHandler = ({ headers }, response) => void response.end(JSON.stringify(headers.x));
    const client = raw(t, await listen(t, { handler }));
    client.send(request(1, true, "/", [["x", value]]));
    const { payload } = await client.next((f) => f.type === frameType.data);
    assert.equal(JSON.parse(payload.toString()).trim(), "a");
  });

test("D2 http2: headers over the limit are rejected, whether or not the client has acknowledged the limit", async (t) => {
  const seen: unknown[] = [];
  const fast = (_: unknown, { x }: Record<string, unknown>) => seen.push(x) < 0;
  const listener = await listen(t, { limits: { maxHeaderBytes: 4096 }, fast });
  const ignorant = raw(t, listener);
  ignorant.send(request(1, true, "/", [["x", "a".repeat(4000)]]));
  const reply = await ignorant.next((f) => f.stream === 1);
  assert.deepEqual([reply.type, reply.payload.toString("latin1").includes("431")], [frameType.headers, true]);
  const informed = session(t, listener);
  await get2(informed, "/");
  await assert.rejects(get2(informed, "/", { x: "a".repeat(4000) }), /ENHANCE_YOUR_CALM/);
  assert.deepEqual(seen, [undefined], "the stream handler sees none of them");
});

test("D2 http2: a header table entry referred to thousands of times is not expanded", async (t) => {
  const client = raw(t, await listen(t));
  // RFC 7541 §6.2.1: a literal that enters the dynamic table, as its first entry: index 62.
  const entry = Buffer.concat([Buffer.from([0x40]), headerBlock([["x", "a".repeat(3900)]]).subarray(1)]);
  const bomb = Buffer.concat([headerBlock(requestHeaders("GET", "/")), entry, Buffer.alloc(10_000, 0x80 | 62)]);
  client.send(frame(frameType.headers, flag.endHeaders | flag.endStream, 1, bomb));
  const refused = await client.next((f) => f.stream === 1);
  assert.deepEqual([refused.type, codeOf(refused)], [frameType.reset, errorCode.enhanceYourCalm]);
});

// Frames that a client can repeat indefinitely at no cost to itself. Sent in portions: the GOAWAY arrives before the reset of a
// connection that is closed with unread bytes.
const floods: [name: string, portion: (round: number) => Buffer[]][] = [
  ["D3 PING", () => Array.from({ length: 20 }, () => ping)],
  ["D3 SETTINGS", () => Array.from({ length: 20 }, () => frame(frameType.settings, 0, 0))],
  ["D1 streams that are reset at once", (round) => portion(round, (id) => [request(id, true), reset(id)])],
  [
    "D1 streams that are made to fail",
    (round) => portion(round, (id) => [request(id, true), frame(frameType.windowUpdate, 0, id, Buffer.alloc(4))]),
  ],
  [
    "D2 CONTINUATION",
    (round) => [
      ...(round === 0 ? [frame(frameType.headers, flag.endStream, 1, headerBlock(requestHeaders("GET", "/")))] : []),
      ...Array.from({ length: 20 }, () => frame(frameType.continuation, 0, 1)),
    ],
  ],
  [
    "D3 empty DATA",
    (round) => [
      ...(round === 0 ? [request(1, false)] : []),
      ...Array.from({ length: 20 }, () => frame(frameType.data, 0, 1)),
    ],
  ],
];

for (const [name, frames] of floods) {
  test(`${name}: a flood ends the session with GOAWAY, others are served`, async (t) => {
    const limits = { streamResetBurst: 50, streamResetRate: 1, controlFrameBurst: 100, controlFrameRate: 1 };
    const listener = await listen(t, { limits, handler: (q, r) => (q.url === "/" ? undefined : echo(q, r)) });
    const good = session(t, listener);
    const bad = raw(t, listener);
    const goaway = bad.next((f) => f.type === frameType.goaway);
    for (let round = 0; !bad.socket.closed && round < 60; round++) {
      bad.send(...frames(round));
      await turn();
    }
    assert.notEqual(codeOf(await goaway), errorCode.none);
    await bad.closed;
    assert.equal((await get2(good, "/others")).status, 200);
  });
}

test("D3 http2: requests pay for the pings that measure them", async (t) => {
  const client = raw(t, await listen(t, { limits: { controlFrameBurst: 20, controlFrameRate: 0 } }));
  for (let id = 1; id < 50; id += 2) {
    client.send(request(id, true), ...Array.from({ length: 5 }, () => ping));
    await client.next((f) => f.stream === id && (f.flags & flag.endStream) !== 0);
  }
  assert.ok(!client.frames.some((f) => f.type === frameType.goaway));
});

test("D1 http2: streams reset in the packet that opened them do not harm the server, for any method", async (t) => {
  const listener = await listen(t, { handler: (_, response) => void response.end("late") });
  const client = raw(t, listener);
  const kinds = [
    request(1, false, "/", [["expect", "100-continue"]]),
    request(3, false, "/", [["expect", "miracles"]]),
    frame(
      frameType.headers,
      flag.endHeaders,
      5,
      headerBlock([
        [":method", "CONNECT"],
        [":authority", "a"],
      ]),
    ),
    request(7, true),
    request(9, true, "/", [
      ["host", "a"],
      ["authorization", "a"],
      ["authorization", "b"],
    ]),
  ];
  client.send(...kinds.flatMap((open, i) => [open, reset(2 * i + 1)]), request(11, true));
  await client.next((f) => f.stream === 11 && f.type === frameType.headers);
});

test("http2: a client may not open more streams than announced", async (t) => {
  const arrived: string[] = [];
  const listener = await listen(t, {
    limits: { maxConcurrentStreams: 5 },
    handler: (received) => void arrived.push(received.url ?? ""),
  });
  const client = raw(t, listener);
  client.send(...Array.from({ length: 8 }, (_, i) => request(2 * i + 1, true, `/${i}`)));
  for (const id of [11, 13, 15]) {
    const refused = await client.next((f) => f.stream === id);
    assert.deepEqual([refused.type, codeOf(refused)], [frameType.reset, constants.NGHTTP2_REFUSED_STREAM]);
  }
  assert.deepEqual(arrived, ["/0", "/1", "/2", "/3", "/4"]);
});

test("http2: a limited number of open streams is served at the same time, and the others as those end", async (t) => {
  const arrived: string[] = [];
  const answer = gate();
  const listener = await listen(t, {
    limits: { maxRunningStreams: 2 },
    handler: async (received, response) => {
      arrived.push(received.url ?? "");
      await answer.promise;
      response.end();
    },
  });
  const client = session(t, listener);
  const replies = Promise.all(Array.from({ length: 20 }, (_, i) => get2(client, `/${i}`)));
  while (arrived.length < 2) await turn();
  for (let i = 0; i < 20; i++) await turn();
  assert.ok(arrived.length <= 8, `${arrived.length} at once`);
  answer.resolve();
  assert.equal((await replies).length, 20);
});

test("D2 http2: a stream is rejected, for the client to send again, while all of its session have too long headers", async (t) => {
  const listener = await listen(t, { limits: { maxSessionHeaderBytes: 10_000 }, handler: () => {} });
  const client = raw(t, listener);
  client.send(...[1, 3, 5].map((id) => request(id, true, "/", [["x", "a".repeat(4000)]])));
  const refused = await client.next((f) => f.type === frameType.reset);
  assert.deepEqual([refused.stream, codeOf(refused)], [5, constants.NGHTTP2_REFUSED_STREAM]);
});

test("http2: an empty body that ends while its stream waits is whole", async (t) => {
  const client = raw(t, await listen(t));
  const ids = Array.from({ length: 20 }, (_, i) => 2 * i + 1);
  client.send(...ids.flatMap((id) => [request(id, false), frame(frameType.data, flag.endStream, id)]));
  for (const id of ids) await client.next((f) => f.stream === id && (f.flags & flag.endStream) !== 0);
});

test("http2: a session that holds too much memory gets no new streams", async (t) => {
  const handler: HttpHandler = (_, response) => void response.end(Buffer.alloc(4 * 1024 * 1024));
  const client = raw(t, await listen(t, { handler, limits: { maxSessionMemoryMb: 1 } }));
  client.send(request(1, true));
  await client.next((f) => f.stream === 1 && f.type === frameType.data);
  client.send(request(3, true));
  const refused = await client.next((f) => f.stream === 3);
  assert.deepEqual([refused.type, codeOf(refused)], [frameType.reset, errorCode.enhanceYourCalm]);
});

test("D4 http2: a body in DATA frames of one byte is cut off, and the session goes on", async (t) => {
  const client = raw(t, await listen(t, { limits: { freeChunks: 8, meanChunkBytes: 16 } }));
  client.send(request(1, false), ...Array.from({ length: 100 }, () => frame(frameType.data, 0, 1, Buffer.from("a"))));
  assert.equal(codeOf(await client.next((f) => f.type === frameType.reset)), errorCode.enhanceYourCalm);
  client.send(
    request(3, false),
    ...Array.from({ length: 100 }, () => frame(frameType.data, 0, 3, Buffer.alloc(16, "b"))),
  );
  client.send(frame(frameType.data, flag.endStream, 3));
  await client.next((f) => f.stream === 3 && f.payload.includes("b".repeat(1600)));
});

test("D6 http2: a body that never ends is cut off, a response that takes its time is not", async (t) => {
  const answer = gate();
  const listener = await listen(t, {
    limits: { requestTimeoutMs: 100, headersTimeoutMs: 100 },
    handler: async (received: HttpRequest, response) => {
      if (received.url !== "/slow-reply") return echo(received, response);
      await answer.promise;
      response.end();
    },
  });
  const client = raw(t, listener);
  client.send(request(1, true, "/slow-reply"), request(3, false, "/slow-body"));
  const drip = setInterval(() => client.send(frame(frameType.data, 0, 3, Buffer.from("a"))), 20);
  t.after(() => clearInterval(drip));
  assert.equal(codeOf(await client.next((f) => f.stream === 3)), errorCode.cancel);
  answer.resolve();
  assert.equal((await client.next((f) => f.stream === 1)).type, frameType.headers);
});

function portion(round: number, make: (stream: number) => Buffer[]): Buffer[] {
  return Array.from({ length: 10 }, (_, i) => make(2 * (round * 10 + i) + 1)).flat();
}

function raw(t: { after(fn: () => void): void }, listener: { address: { port: number } }): FrameClient {
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  return client;
}
