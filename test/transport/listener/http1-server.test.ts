import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type ServerResponse } from "node:http";
import { test } from "node:test";
import { setImmediate as immediate } from "node:timers/promises";
import type { HttpHandler } from "../../../src/transport/http/handlers.ts";
import type { HttpRequest, HttpResponse } from "../../../src/transport/http/message.ts";
import { echo, exchange, gate, get, listen, rawClient, write } from "../harness.ts";

const post = "POST / HTTP/1.1\r\nHost: a\r\n";
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;

// Written as one would attack a proxy with them: a reader of either opinion would find a second request.
const smuggling: [name: string, message: string][] = [
  ["Content-Length with Transfer-Encoding", `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["Transfer-Encoding with Content-Length", `${post}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`],
  ["two Content-Length that differ", `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
  ["two Content-Length that agree", `${post}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`],
  ["Content-Length as a list", `${post}Content-Length: 3, 3\r\n\r\nabc`],
  ["Content-Length with a sign", `${post}Content-Length: +3\r\n\r\nabc`],
  ["xchunked", `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ["a coding before chunked", `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ["chunked twice", `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ["a coding after chunked", `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`],
  ["chunked over HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["bare LF in all lines", "GET / HTTP/1.1\nHost: a\n\n"],
  ["bare LF in one line", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"],
  ["bare CR", "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"],
  ["bare LF after a chunk size", `${chunked}1\na\r\n0\r\n\r\n`],
  ["a negative chunk size", `${chunked}-1\r\na\r\n0\r\n\r\n`],
  ["a chunk size beyond 64 bits", `${chunked}fffffffffffffffff\r\na\r\n0\r\n\r\n`],
  ["a folded header", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"],
  ["a header folded by a tab", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n"],
  ["a space before the first header", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"],
  ["a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n"],
  ["NUL in a header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"],
  ["two Host", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
  ["no Host", "GET / HTTP/1.1\r\n\r\n"],
  ["a TLS client hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
];

for (const [name, message] of smuggling) {
  test(`H5 http1: ${name}: 400 and the connection closes`, async (t) => {
    const reply = await exchange(t, await listen(t), `${message}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.match(reply, /^HTTP\/1\.1 400 /);
    assert.match(reply, /\r\nConnection: close\r\n/);
    assert.equal(reply.match(/HTTP\/1\.1/g)?.length, 1);
  });
}

test("H5 http1: a coding that is not understood is rejected before a handler that ignores the body", async (t) => {
  let calls = 0;
  const handler = (_: unknown, response: HttpResponse): void => {
    calls += 1;
    response.end();
  };
  const reply = await exchange(t, await listen(t, { handler }), `${post}Transfer-Encoding: xchunked\r\n\r\n`);
  assert.match(reply, /^HTTP\/1\.1 400 /);
  assert.equal(calls, 0);
});

const heads: [name: string, message: string, status: number][] = [
  ["headers over the limit", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(5000)}\r\n\r\n`, 431],
  ["a target over the limit", `GET /${"a".repeat(5000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ["one header too many", `GET / HTTP/1.1\r\nHost: a\r\n${"X: a\r\n".repeat(16)}\r\n`, 431],
  ["an endless chunk extension", `${chunked}1;${"a".repeat(20_000)}\r\na\r\n0\r\n\r\n`, 413],
  ["H3 CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405],
  ["H3 CONNECT with a body to come", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 9\r\n\r\na", 405],
  ["H5 HTTP/2.0 without a preface", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505],
  ["H5 HTTP/2.0 without Host", "GET / HTTP/2.0\r\n\r\n", 505],
  ["H5 a version that is left out", "GET /\r\n\r\n", 505],
  ["H3 TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405],
];

for (const [name, message, status] of heads) {
  test(`http1: ${name}: ${status} and the connection closes`, async (t) => {
    const listener = await listen(t, { limits: { maxHeaderBytes: 4096, maxHeadersCount: 16 } });
    const reply = await exchange(t, listener, message);
    assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} .*\r\nContent-Type: text/plain`, "is"));
    const [, length, text = ""] = /^content-length: (\d+)\r$.*?\n\r\n(.+)$/ims.exec(reply) ?? [];
    assert.deepEqual([Number(length), text.endsWith("\n")], [text.length, true]);
  });
}

test("H3 http1: a client that asks for CONNECT and hangs up harms no other client", async (t) => {
  const listener = await listen(t);
  for (let i = 0; i < 20; i++) {
    const client = rawClient(t, listener);
    await once(client.socket, "connect");
    client.socket.write("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 9\r\n\r\na");
    client.socket.resetAndDestroy();
    await client.ended;
  }
  assert.equal((await get(listener, "/")).status, 200);
});

test("D2 http1: ten megabytes of headers end the connection, and others are served", async (t) => {
  const listener = await listen(t);
  await exchange(t, listener, `GET / HTTP/1.1\r\n${`X: ${"a".repeat(1000)}\r\n`.repeat(10_000)}\r\n`);
  assert.equal((await get(listener, "/")).status, 200);
});

const negotiations: [name: string, headers: string, wanted: RegExp][] = [
  [
    "an upgrade to h2c is ignored",
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
    /^HTTP\/1\.1 200 /,
  ],
  ["an upgrade to a WebSocket is ignored", "Connection: Upgrade\r\nUpgrade: websocket\r\n", /^HTTP\/1\.1 200 /],
  ["Expect: 100-continue is met", "Expect: 100-continue\r\n", /^HTTP\/1\.1 100 .*HTTP\/1\.1 200 /s],
  ["another expectation is refused", "Expect: miracles\r\n", /^HTTP\/1\.1 417 /],
];

for (const [name, headers, wanted] of negotiations) {
  test(`http1: ${name}, and the connection goes on`, async (t) => {
    const client = rawClient(t, await listen(t));
    client.socket.write(`${post}Content-Length: 2\r\n${headers}\r\nab`);
    await client.until(wanted);
    client.socket.write("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/"url":"\/next"/);
  });
}

const targets: [target: string, wanted: string][] = [
  ["http://a.test/x/../y%2Fz?q=1", "/x/../y%2Fz?q=1"],
  ["HTTPS://a.test", "/"],
  ["http://a.test?q=1", "/?q=1"],
  ["HTTPS://other:1/x?q=1", "/x?q=1"],
  ["/http://a.test/x", "/http://a.test/x"],
  ["*", "*"],
];

for (const [target, wanted] of targets) {
  test(`http1: the target ${target} reaches the handler as ${wanted} (RFC 9112 §3.2)`, async (t) => {
    const reply = await exchange(
      t,
      await listen(t),
      `OPTIONS ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    assert.equal(JSON.parse(reply.slice(reply.indexOf("{"))).url, wanted);
  });
}

const timeouts: [name: string, message: string][] = [
  ["headers that never end", "GET / HTTP/1.1\r\nHost:"],
  ["a body that never ends", `${post}Content-Length: 9\r\n\r\na`],
  ["a chunked body that never ends", `${chunked}1\r\na\r\n`],
];

for (const [name, message] of timeouts) {
  test(`D6 http1: ${name}: 408 and the connection closes`, async (t) => {
    const listener = await listen(t, { limits: { headersTimeoutMs: 100, requestTimeoutMs: 200 } });
    assert.match(await exchange(t, listener, message), /^HTTP\/1\.1 408 /);
  });
}

test("D6 http1: headers at a byte now and then do not outlive the limit", async (t) => {
  const client = rawClient(t, await listen(t, { limits: { headersTimeoutMs: 100, requestTimeoutMs: 200 } }));
  client.socket.write("GET / HTTP/1.1\r\nX: ");
  const drip = setInterval(() => client.socket.write("a"), 20);
  t.after(() => clearInterval(drip));
  assert.match(await client.ended, /^HTTP\/1\.1 408 /);
});

test("D6 http1: a connection that asks nothing more is closed", async (t) => {
  const listener = await listen(t, { limits: { keepAliveTimeoutMs: 1 } });
  assert.match(await exchange(t, listener, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), /200 OK/);
});

test("D6 http1: a client that does not read its response is cut off, one that waits for a quiet response is not", async (t) => {
  const quiet = gate();
  const cutOff = gate();
  const handler = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    if (request.url === "/large") {
      response.once("close", cutOff.resolve);
      response.end(Buffer.alloc(64 * 1024 * 1024));
      return;
    }
    write(response, "begun ");
    await quiet.promise;
    response.end("done");
  };
  const listener = await listen(t, { handler, limits: { stallTimeoutMs: 100 } });
  const patient = rawClient(t, listener);
  patient.socket.write("GET /quiet HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await patient.until(/begun/);
  const stalled = rawClient(t, listener);
  stalled.socket.pause();
  stalled.socket.write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  await cutOff.promise;
  quiet.resolve();
  assert.match(await patient.ended, /done/);
});

/** Answers each request when it is told to. */
function heldReplies() {
  const held: HttpResponse[] = [];
  const arrived = gate();
  const released = gate();
  return {
    held,
    arrived: arrived.promise,
    /** Answers those that are held, and those that begin later as they do. */
    release(): void {
      released.resolve();
    },
    handler(request: HttpRequest, response: HttpResponse): void {
      held.push(response);
      response.setHeader("x-path", request.url ?? "");
      arrived.resolve();
      void released.promise.then(() => response.end());
    },
  };
}

const broken: [what: string, text: string][] = [
  ["a broken request", "GET / HTTP/1.1\nHost: a\n\n"],
  ["bytes that are not a request", "\0\0\0\0"],
];
for (const [what, text] of broken) {
  test(`http1: ${what} behind a whole one gets no response, and the whole one the last`, async (t) => {
    const { arrived, release, handler } = heldReplies();
    const client = rawClient(t, await listen(t, { handler }));
    client.socket.write(`GET /whole HTTP/1.1\r\nHost: a\r\n\r\n${text}`);
    await arrived;
    release();
    const reply = await client.ended;
    assert.match(reply, /^HTTP\/1\.1 200 OK\r\nx-path: \/whole\r\n/);
    assert.match(reply, /\r\nConnection: close\r\n/);
    assert.equal(reply.match(/HTTP\/1\.1/g)?.length, 1);
  });
}

test("http1: an invalid request while an earlier one waits for its body ends the connection without a response", async (t) => {
  const { arrived, handler } = heldReplies();
  const client = rawClient(t, await listen(t, { handler }));
  client.socket.write(
    "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  await arrived;
  client.socket.write("nonsense\r\n");
  assert.equal(await client.ended, "");
});

test("H5 http1: a chunk that is broken behind the response to its request gets no second one", async (t) => {
  const handler: HttpHandler = (_, response) => void response.end();
  const client = rawClient(t, await listen(t, { handler }));
  client.socket.write(chunked);
  await client.until(/200 OK/);
  client.socket.write("zz\r\n");
  assert.equal((await client.ended).match(/HTTP\/1\.1/g)?.length, 1);
});

// RFC 9112 §9.6: what comes behind a request that is answered with `close` must not be carried out.
const closing: [what: string, text: string, status: number][] = [
  ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400],
  ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
  ["an invalid host", "GET / HTTP/1.1\r\nHost: [\r\n\r\n", 400],
  ["TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405],
  ["the wish to close", "GET /closing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200],
];
for (const [what, text, status] of closing) {
  test(`http1: a request behind one with ${what} is not carried out`, async (t) => {
    const heard: string[] = [];
    const handler: HttpHandler = (request, response) => {
      heard.push(request.url ?? "");
      response.end();
    };
    const reply = await exchange(t, await listen(t, { handler }), `${text}GET /next HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(reply.match(/HTTP\/1\.1/g)?.length, 1);
    assert.ok(!heard.includes("/next"));
  });
}

test("http1: a connection with more requests in flight than allowed responds to the first ones, and ends", async (t) => {
  const { arrived, release, handler } = heldReplies();
  const client = rawClient(t, await listen(t, { handler, limits: { maxPipelinedRequests: 3 } }));
  client.socket.write([1, 2, 3, 4, 5].map((n) => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  await arrived;
  release();
  const paths = [...(await client.ended).matchAll(/x-path: (\S+)/g)].map(([, path]) => path);
  assert.deepEqual(paths, ["/1", "/2", "/3"]);
});

test("http1: the connection also ends if the response to the last allowed request has begun", async (t) => {
  const held = gate();
  const handler: HttpHandler = (_request, response) => {
    write(response, "begun");
    void held.promise.then(() => response.end());
  };
  const limits = { maxPipelinedRequests: 1, keepAliveTimeoutMs: 600_000 };
  const listener = await listen(t, { handler, limits });
  const client = rawClient(t, listener);
  client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until(/begun/);
  client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  while (listener.limitCounts["pipelined requests"] === 0) await immediate();
  held.resolve();
  assert.match(await client.ended, /begun\r\n0\r\n\r\n$/);
});

test("http1: a connection that goes on sending requests beyond its last is cut off", async (t) => {
  const { held, handler } = heldReplies();
  const listener = await listen(t, { handler, limits: { maxPipelinedRequests: 3 } });
  assert.equal(await exchange(t, listener, "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(10)), "");
  assert.equal(held.length, 1);
});

const whenToClose: [when: string, later: (done: () => void) => void][] = [
  ["before its turn comes", process.nextTick],
  ["when its turn has come", (done) => setImmediate(() => setImmediate(done))],
];
for (const [when, later] of whenToClose) {
  test(`http1: a request behind one that is closed ${when} is not carried out`, async (t) => {
    const heard: string[] = [];
    const handler: HttpHandler = (request, response) => {
      heard.push(request.url ?? "");
      process.nextTick(() => {
        (response as ServerResponse).shouldKeepAlive = false;
        later(() => response.end());
      });
    };
    await exchange(t, await listen(t, { handler }), "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3));
    assert.deepEqual(heard, ["/"]);
  });
}

test("D9 http1: a client that pipelines does not keep the others waiting", async (t) => {
  const heard: string[] = [];
  const handler: HttpHandler = (request, response) => {
    heard.push(request.url ?? "");
    response.end();
  };
  const listener = await listen(t, { handler });
  const [greedy, other] = [rawClient(t, listener), rawClient(t, listener)];
  for (const { socket } of [greedy, other]) socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await Promise.all([greedy.until(/200 OK/), other.until(/200 OK/)]);
  const last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  greedy.socket.write("GET /greedy HTTP/1.1\r\nHost: a\r\n\r\n".repeat(60) + last);
  other.socket.write("GET /other HTTP/1.1\r\nHost: a\r\n\r\n");
  await greedy.ended;
  assert.ok(heard.includes("/other") && heard.indexOf("/other") < heard.indexOf("/last"));
});

test("D9 http1: a few of many pipelined requests run at the same time, and all get responses in order", async (t) => {
  const begun: string[] = [];
  const open = gate();
  const handler: HttpHandler = async (request, response) => {
    begun.push(request.url ?? "");
    await open.promise;
    response.setHeader("x-path", request.url ?? "");
    response.end();
  };
  const client = rawClient(t, await listen(t, { handler, limits: { maxRequestsAtOnce: 2 } }));
  const paths = Array.from({ length: 6 }, (_, i) => `/${i}`);
  client.socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  while (begun.length < 2) await immediate();
  await immediate();
  assert.deepEqual(begun, paths.slice(0, 2));
  open.resolve();
  const received = await client.until(/x-path: \/5/);
  assert.deepEqual(received.match(/(?<=x-path: )\S+/g), paths);
});

// As many as are worked on at once, unless even fewer are more than a client may leave untaken.
for (const [maxUnreadBytesOfClient, most] of [
  [1e9, 2],
  [1e6, 1],
] as const) {
  test(`D9 http1: responses that nobody reads keep the requests behind ${most} waiting`, async (t) => {
    let begun = 0;
    const limits = { maxRequestsAtOnce: 2, maxUnreadBytesOfClient };
    const handler: HttpHandler = (_, response) => {
      begun++;
      (response as ServerResponse).end(Buffer.alloc(16 * 1024 * 1024));
    };
    const client = rawClient(t, await listen(t, { handler, limits }));
    client.socket.pause();
    client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(10));
    while (begun < most) await immediate();
    for (let turns = 0; turns < 20; turns++) await immediate();
    assert.equal(begun, most);
  });
}

test("http1: pipelined requests within the limit get responses in order", async (t) => {
  const listener = await listen(t, { limits: { maxPipelinedRequests: 3 } });
  const client = rawClient(t, listener);
  client.socket.write([1, 2, 3].map((n) => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  assert.match(await client.until(/"\/3"/), /"\/1".*"\/2".*"\/3"/s);
});

test("http1: a connection serves request after request", async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ports = new Set<number | undefined>();
  const listener = await listen(t, {
    handler: (request, response) => {
      ports.add(request.socket.remotePort);
      return echo(request, response);
    },
  });
  for (let i = 0; i < 3; i++) assert.equal((await get(listener, "/", { agent })).status, 200);
  assert.equal(ports.size, 1);
});

test("D4 http1: a body in chunks of one byte is cut off, in larger chunks it is taken", async (t) => {
  const listener = await listen(t, { limits: { freeChunks: 8, meanChunkBytes: 16 } });
  assert.equal(await exchange(t, listener, `${chunked}${"1\r\na\r\n".repeat(100)}0\r\n\r\n`), "");
  const client = rawClient(t, listener);
  client.socket.write(`${chunked}${`10\r\n${"a".repeat(16)}\r\n`.repeat(100)}0\r\n\r\n`);
  await client.until(/a{1600}/);
});

test("D4 http1: a body of known length in packets of one byte is cut off", async (t) => {
  let taken = () => {};
  const listener = await listen(t, {
    limits: { freeChunks: 8, meanChunkBytes: 16 },
    handler: (request) => void request.on("data", () => taken()),
  });
  const client = rawClient(t, listener);
  client.socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n`);
  for (let sent = 0; sent <= 8; sent++) {
    const isTaken = new Promise<void>((resolve) => {
      taken = resolve;
    });
    client.socket.write("a");
    await Promise.race([isTaken, client.ended]);
    assert.equal(client.socket.destroyed, sent === 8);
  }
});
