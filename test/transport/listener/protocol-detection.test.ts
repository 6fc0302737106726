import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { protocolOf } from "../../../src/transport/listener/protocol-detection.ts";
import { flag, frameClient, frameType, greeting, request } from "../frames.ts";
import { listen, rawClient } from "../harness.ts";

const cases: [name: string, start: string, protocol: "http1" | "http2" | undefined][] = [
  ["nothing yet", "", undefined],
  ["a part of the preface", "PRI", undefined],
  ["the preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http2"],
  ["the least that decides", "PRI ", "http2"],
  ["a method that starts alike", "PROPFIND", "http1"],
  ["one byte of another method", "G", "http1"],
  ["no HTTP at all", "\x16\x03\x01", "http1"],
];

for (const [name, start, protocol] of cases) {
  test(`preface: ${name} means ${protocol ?? "wait"}`, () => {
    assert.equal(protocolOf(Buffer.from(start, "latin1")), protocol);
  });
}

test("preface: an HTTP/1 request is served byte by byte, with a second one pipelined after it", async (t) => {
  const client = rawClient(t, await listen(t));
  const message = "GET /one HTTP/1.1\r\nHost: a\r\n\r\nGET /two HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  for (const byte of message) {
    client.socket.write(byte);
    await turn();
  }
  assert.match(await client.ended, /"url":"\/one".*"url":"\/two"/s);
});

test("preface: HTTP/2 with prior knowledge is detected byte by byte", async (t) => {
  const listener = await listen(t);
  const client = frameClient(listener.address.port, false);
  t.after(() => client.socket.destroy());
  client.socket.setNoDelay(true);
  for (const byte of Buffer.concat([greeting, request(1, true)])) {
    client.send(Buffer.from([byte]));
    await turn();
  }
  const last = await client.next((f) => f.stream === 1 && (f.flags & flag.endStream) !== 0);
  assert.equal(last.type, frameType.data);
});

const silences: [name: string, start: string][] = [
  ["says nothing", ""],
  ["stops inside the preface", "PR"],
  ["says PRI and no more", "PRI "],
  ["sends the preface without SETTINGS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
];

for (const [name, start] of silences) {
  test(`D6 preface: a client that ${name} is disconnected`, async (t) => {
    const client = rawClient(t, await listen(t, { limits: { prefaceTimeoutMs: 100 } }));
    await once(client.socket, "connect");
    client.socket.write(start);
    assert.doesNotMatch(await client.ended, /HTTP\/1/);
  });
}

test("preface: a client that hangs up while being told apart harms no other client", async (t) => {
  const listener = await listen(t);
  for (const start of ["", "P", "PRI "]) {
    const client = rawClient(t, listener);
    await once(client.socket, "connect");
    client.socket.write(start);
    client.socket.resetAndDestroy();
    await client.ended;
  }
  const client = rawClient(t, listener);
  client.socket.write("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  assert.match(await client.ended, /200 OK/);
});
