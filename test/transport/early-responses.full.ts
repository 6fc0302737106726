// Responses that are complete before their request is (RFC 9112 §9.6, RFC 9113 §8.1): a client that sends all of its body before it reads
// gets to read the status, whichever part of the server answers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { connect as connectTls } from "node:tls";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { certificate, certificateKey } from "./certificate.ts";
import { exchange, gate, listen, rawClient } from "./harness.ts";

interface Refusal {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const grpcWeb = { "content-type": "application/grpc-web+proto" };
// Stands for a token of the owner, which the server makes.
const owner = { authorization: "OWNER" };
const sizes = { "50 kB": 50_000, "3 MB": 3_000_000, "10 MB": 10_000_000 };

/** By what answers, with the status and the sizes for which it does so early. */
const refusals: readonly [what: string, status: number, Refusal, least?: number][] = [
  ["REST: 404", 404, { method: "PUT", path: "/nowhere", headers: json }],
  ["REST: 405", 405, { method: "PUT", path: "/iam/v2beta1/groups/x", headers: json }],
  ["REST: 401 without a token", 401, { method: "POST", path: "/iam/v2beta1/groups", headers: json }],
  ["REST: 400 for a path", 400, { method: "POST", path: "/iam/v2beta1/..%2f..", headers: json }],
  ["REST: 413", 413, { method: "POST", path: "/iam/v2beta1/groups", headers: { ...json, ...owner } }, 5_000_000],
  ["a page: 405", 405, { method: "POST", path: "/healthz", headers: json }],
  ["an endpoint: 405", 405, { method: "PUT", path: "/token", headers: form }],
  ["an endpoint: 413", 413, { method: "POST", path: "/token", headers: form }, 100_000],
  ["a mount: 404", 404, { method: "PUT", path: "/development/login/nowhere", headers: form }],
  [
    "Connect: 401",
    401,
    {
      method: "POST",
      path: `${"/chainguard.platform.iam.v2beta1."}GroupsService/ListGroups`,
      headers: { ...json, "content-encoding": "br" },
    },
  ],
  ["gRPC-web: a service that is not there", 200, { method: "POST", path: "/a.B/C", headers: grpcWeb }],
  ["the guard: 405", 405, { method: "TRACE", path: "/", headers: {} }],
  ["the guard: 431", 431, { method: "PUT", path: "/", headers: { x: "a".repeat(33_000) } }],
];

describe("a response that is complete before its request", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  const forms: readonly [form: string, version: string, framing: (length: number) => string][] = [
    ["HTTP/1.1", "1.1", (length) => `Content-Length: ${length}`],
    ["HTTP/1.1, Connection: close", "1.1", (length) => `Connection: close\r\nContent-Length: ${length}`],
    ["HTTP/1.1, chunked", "1.1", () => "Transfer-Encoding: chunked"],
    ["HTTP/1.1, Expect", "1.1", (length) => `Expect: 100-continue\r\nContent-Length: ${length}`],
    ["HTTP/1.0", "1.0", (length) => `Content-Length: ${length}`],
  ];
  for (const [what, status, refusal, least = 0] of refusals) {
    // Other transports than REST answer all sizes by the same code, so a few sizes suffice.
    const some = Object.entries(sizes).filter(
      ([, bytes]) => bytes >= least && (what.startsWith("REST") || bytes > 5e6),
    );
    for (const [size, length] of some) {
      for (const [name, version, framing] of forms) {
        it(`${what}, ${size} over ${name}: is read by a client that sends first`, async () => {
          const head = headOf(refusal, version, framing(length)).replace("OWNER", `Bearer ${server.ownerToken}`);
          const seen = await sendFirst(dial(server.url), head, bodyOf(length, head));
          assert.match(seen, new RegExp(`^(HTTP/1.1 100 Continue\r\n\r\n)?HTTP/1.1 ${status} `));
        });
      }
      it(`${what}, ${size} over HTTP/2: is read by a client that keeps writing`, async () => {
        const session = connectHttp2(server.url);
        const { method, path, headers } = refusal;
        const authorization = headers.authorization && `Bearer ${server.ownerToken}`;
        const stream = session.request({ ":method": method, ":path": path, ...headers, authorization });
        stream.on("error", () => {}).resume();
        const found = new Promise((resolve) => stream.on("response", (fields) => resolve(fields[":status"])));
        stream.end(Buffer.alloc(length, "a"));
        await once(stream, "close");
        session.destroy();
        // node's own client refuses to send so long a header.
        if (status === 431) return;
        assert.deepEqual([await found, stream.rstCode], [status, constants.NGHTTP2_NO_ERROR]);
      });
    }
  }

  it("keeps the connection for the next request if the rest is short", async () => {
    const [, , refusal] = refusals[0]!;
    const socket = dial(server.url);
    socket.write(headOf(refusal, "1.1", `Content-Length: ${sizes["3 MB"]}`));
    socket.write(Buffer.alloc(sizes["3 MB"], "a"));
    socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let seen = "";
    for await (const chunk of socket) seen += chunk;
    assert.deepEqual(seen.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 404", "HTTP/1.1 200"]);
  });
});

describe("the rest of a request after an early response", () => {
  const limits = { maxDiscardedBytes: 1_000_000, discardTimeoutMs: 100, discardStallMs: 50, meanChunkBytes: 1 };
  const early = { handler: (_: unknown, response: { end(text: string): void }) => response.end("early") };

  it("after an early response a limited number of request bytes is discarded: a client that never stops is disconnected", async (t) => {
    const listener = await listen(t, { ...early, limits: { ...limits, discardTimeoutMs: 60_000 } });
    const { socket, ended } = rawClient(t, listener);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const pump = () => {
      if (!socket.destroyed) socket.write(`10000\r\n${"a".repeat(0x10000)}\r\n`, () => setImmediate(pump));
    };
    pump();
    assert.match(await ended, /early/);
  });

  it("after an early response request bytes are discarded for a limited time: a client that sends them slowly is disconnected", async (t) => {
    const { socket, ended } = rawClient(t, await listen(t, { ...early, limits }));
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const drip = setInterval(() => socket.write("1\r\na\r\n"), 10);
    t.after(() => clearInterval(drip));
    assert.match(await ended, /early/);
  });

  it("discarding ends if a client that keeps its side open becomes silent", async (t) => {
    const closed = gate();
    const listener = await listen(t, {
      limits: { ...limits, discardTimeoutMs: 60_000 },
      handler: (request, response) => {
        request.socket.on("close", closed.resolve);
        response.end("early");
      },
    });
    const socket = connect({ port: listener.address.port, allowHalfOpen: true });
    t.after(() => socket.destroy());
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    socket.resume().on("error", () => {});
    await closed.promise;
  });

  it("an early response resets an HTTP/2 stream with NO_ERROR when discarding the request takes too long", async (t) => {
    const listener = await listen(t, { ...early, limits });
    const session = connectHttp2(listener.address.url);
    t.after(() => session.destroy());
    const stream = session.request({ ":method": "POST" }, { endStream: false });
    stream.resume();
    const drip = setInterval(() => stream.writable && stream.write("a"), 10);
    t.after(() => clearInterval(drip));
    await once(stream, "close");
    assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR);
  });

  it("discarded bytes are not parsed: no request after a response that closes the connection is executed", async (t) => {
    const seen: unknown[] = [];
    const listener = await listen(t, {
      handler: (request, response) => {
        seen.push(request.url);
        response.end("early");
      },
    });
    const text = `POST /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 20\r\n\r\nab${"POST /2 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1000)}`;
    assert.match(await exchange(t, listener, text), /^HTTP\/1.1 200 /);
    assert.deepEqual(seen, ["/1"]);
  });

  const broken: [what: string, text: string, status: number][] = [
    ["an invalid request", "nonsense\r\n\r\n", 400],
    ["headers without end", `GET / HTTP/1.1\r\nHost: a\r\n${"x: y\r\n".repeat(100)}x: ${"a".repeat(40_000)}`, 431],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405],
  ];
  for (const [what, text, status] of broken) {
    it(`${what}, with 3 MB behind it: ${status} is read by a client that sends first`, async (t) => {
      const listener = await listen(t);
      const seen = await sendFirst(connect(listener.address.port), text, Buffer.alloc(sizes["3 MB"], "a"));
      assert.match(seen, new RegExp(`^HTTP/1.1 ${status} `));
    });
  }

  it("a response that is complete before its request is read over TLS, too", async (t) => {
    const listener = await listen(t, { ...early, tls: { cert: certificate, key: certificateKey } });
    const socket = connectTls({ port: listener.address.port, ca: certificate, servername: "localhost" });
    const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${sizes["10 MB"]}\r\n\r\n`;
    assert.match(await sendFirst(socket, head, Buffer.alloc(sizes["10 MB"], "a")), /early/);
  });
});

function headOf({ method, path, headers }: Refusal, version: string, framing: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/${version}\r\nHost: a\r\n${framing}\r\n${lines.join("")}\r\n`;
}

function bodyOf(length: number, head: string): Buffer {
  const bytes = Buffer.alloc(length, "a");
  if (!head.includes("chunked")) return bytes;
  return Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);
}

function dial(url: string): Socket {
  return connect(Number(new URL(url).port), "127.0.0.1");
}

/** Returns the response to a client that reads nothing before it has sent everything; rejects if the connection breaks. */
async function sendFirst(socket: Socket, head: string, body: Buffer): Promise<string> {
  socket.pause();
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.write(head);
    socket.write(body, () => resolve());
  });
  // As curl does, and others that send `Connection: close` themselves or keep the connection.
  const found = new Promise<string>((resolve, reject) => {
    let seen = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      seen += chunk;
      if (/HTTP\/1\.1 [2-5]\d\d [\s\S]*\r\n\r\n/.test(seen)) resolve(seen);
    });
    socket.on("end", () => resolve(seen));
    socket.on("error", reject);
  });
  socket.resume();
  return await found.finally(() => socket.destroy());
}
