// Content of endpoints that is made while it is sent, over both versions of HTTP, and conditional requests for it.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { rateLimited } from "../../src/aip/errors.ts";
import { onExchange } from "../../src/transport/http/exchange.ts";
import type { BodyStream } from "../../src/transport/http/send-stream.ts";
import { type Endpoint, newEndpoints } from "../../src/transport/pages/endpoints.ts";
import { echo, get, get2, listen, type Reply, rawClient, session } from "./harness.ts";

const etag = 'W/"tag"';
const lastModified = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const httpDate = "Fri, 02 Jan 2026 03:04:05 GMT";

/** Streams, and what has become of them. */
interface Streams {
  readonly opened: BodyStream[];
  closed: number;
  read: number;
}

async function listenTo(t: TestContext, parts: (streams: Streams) => AsyncIterable<string>, streamStallMs = 600_000) {
  const streams: Streams = { opened: [], closed: 0, read: 0 };
  const failures: (string | undefined)[] = [];
  const endpoint: Endpoint = {
    methods: ["GET", "HEAD"],
    maxBodyBytes: 0,
    handle: async ({ path }) => ({
      status: 200,
      headers: { "content-type": "text/plain" },
      validators: { etag, lastModified },
      open() {
        if (path === "/export/full") throw rateLimited("all are taken", 5000);
        const stream = { parts: parts(streams), close: () => void streams.closed++ };
        streams.opened.push(stream);
        return stream;
      },
    }),
    refuse: ({ message }, status) => ({ status, headers: {}, body: message }),
  };
  const options = { bodyTimeoutMs: 600_000, requestTimeoutMs: 600_000, maxJsonDepth: 10, errorDomain: "test" };
  const endpoints = newEndpoints(
    { "/export/": endpoint },
    {
      ...options,
      streamStallMs,
      requestIdOf: () => "r-1",
      observe: (_call, path, _ms, failure) => failures.push(failure ? `${path}: ${failure.message}` : undefined),
    },
    ({ request, response }) => echo(request, response),
  );
  return { listener: await listen(t, { handler: onExchange(endpoints) }), streams, failures };
}

async function* hundred(): AsyncGenerator<string> {
  for (let i = 0; i < 100; i++) yield `${i} ${"x".repeat(10_000)}\n`;
}

/** Sends the same request over both versions of HTTP. */
async function both(
  t: TestContext,
  listener: Awaited<ReturnType<typeof listen>>,
  path: string,
  method: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply[]> {
  return [
    await get(listener, path, { method, headers }),
    await get2(session(t, listener), path, { ":method": method, ...headers }),
  ];
}

test("streams: the whole content arrives, over HTTP/1.1 and HTTP/2, below the path of the endpoint", async (t) => {
  const { listener, streams, failures } = await listenTo(t, hundred);
  let expected = "";
  for await (const part of hundred()) expected += part;
  for (const { status, headers, body } of await both(t, listener, "/export/a/b.json", "GET")) {
    assert.deepEqual(
      [status, headers.etag, headers["last-modified"], headers["x-request-id"]],
      [200, etag, httpDate, "r-1"],
    );
    assert.equal(headers["content-length"], undefined);
    assert.ok(body === expected, `${body.length} of ${expected.length} characters`);
  }
  assert.deepEqual([streams.opened.length, streams.closed, failures], [2, 2, [undefined, undefined]]);
});

test("streams: HEAD has the head of GET, and nothing is opened", async (t) => {
  const { listener, streams } = await listenTo(t, hundred);
  for (const { status, headers, body } of await both(t, listener, "/export/a", "HEAD")) {
    assert.deepEqual([status, headers["content-type"], headers.etag, body], [200, "text/plain", etag, ""]);
    assert.equal(headers["content-length"], undefined);
  }
  assert.equal(streams.opened.length, 0);
});

const conditions: readonly (readonly [headers: Readonly<Record<string, string>>, status: number])[] = [
  [{ "if-none-match": etag }, 304],
  [{ "if-none-match": '"tag"' }, 304],
  [{ "if-none-match": '"other", W/"tag"' }, 304],
  [{ "if-none-match": "*" }, 304],
  [{ "if-none-match": '"other"' }, 200],
  [{ "if-none-match": '"other"', "if-modified-since": httpDate }, 200],
  [{ "if-modified-since": httpDate }, 304],
  [{ "if-modified-since": "Sat, 03 Jan 2026 00:00:00 GMT" }, 304],
  [{ "if-modified-since": "Fri, 02 Jan 2026 03:04:04 GMT" }, 200],
  [{ "if-modified-since": "Saturday, 03-Jan-26 00:00:00 GMT" }, 304],
  [{ "if-modified-since": "Sat Jan  3 00:00:00 2026" }, 304],
  [{ "if-modified-since": "yesterday" }, 200],
  [{ "if-modified-since": "2100" }, 200],
];

test("streams: a client with the current content gets 304, without content, length or stream (RFC 9110 §13)", async (t) => {
  const { listener, streams } = await listenTo(t, hundred);
  for (const [headers, status] of conditions) {
    const before = streams.opened.length;
    for (const reply of await both(t, listener, "/export/a", "GET", headers)) {
      assert.deepEqual([reply.status, reply.headers.etag], [status, etag], JSON.stringify(headers));
      if (status === 304) assert.deepEqual([reply.body, reply.headers["content-length"]], ["", undefined]);
    }
    assert.equal(streams.opened.length - before, status === 304 ? 0 : 2);
  }
});

test("streams: a stream that cannot be opened is rejected like any other request", async (t) => {
  const { listener, failures } = await listenTo(t, hundred);
  for (const { status, headers, body } of await both(t, listener, "/export/full", "GET")) {
    assert.deepEqual([status, headers["retry-after"]], [429, "5"]);
    assert.equal(body, "Resource exhausted: all are taken");
  }
  assert.deepEqual(new Set(failures), new Set(["/export/: Resource exhausted: all are taken"]));
});

test("streams: a failing stream is cut off, so a part does not look like the whole", async (t) => {
  const { listener, streams, failures } = await listenTo(t, async function* () {
    yield "x".repeat(200_000);
    throw new Error("the database is gone");
  });
  await assert.rejects(get(listener, "/export/a"));
  await assert.rejects(get2(session(t, listener), "/export/a"));
  assert.equal(streams.closed, 2);
  assert.deepEqual(new Set(failures), new Set(["/export/: Internal error"]));
});

test("streams: a stream that fails before its first part is rejected like any other request", async (t) => {
  // biome-ignore lint/correctness/useYield: it fails first
  const { listener, streams, failures } = await listenTo(t, async function* () {
    throw rateLimited("too many advisories", 5000);
  });
  for (const { status, headers, body } of await both(t, listener, "/export/a", "GET")) {
    assert.deepEqual([status, headers["retry-after"]], [429, "5"]);
    assert.equal(body, "Resource exhausted: too many advisories");
  }
  assert.deepEqual([streams.closed, failures.length], [2, 2]);
});

test("streams: an empty stream is a response without content", async (t) => {
  const { listener, streams } = await listenTo(t, async function* () {});
  for (const { status, body } of await both(t, listener, "/export/a", "GET"))
    assert.deepEqual([status, body], [200, ""]);
  assert.equal(streams.closed, 2);
});

for (const version of ["HTTP/1.1", "HTTP/2"] as const) {
  test(`streams: ${version}: nothing more is made once the client has disconnected, or reads nothing`, async (t) => {
    const endless = async function* (streams: Streams) {
      for (;;) {
        streams.read++;
        yield "x".repeat(100_000);
      }
    };
    const { listener, streams } = await listenTo(t, endless);
    const leave = request(t, listener, version);
    while (streams.read === 0) await turn();
    // The client reads nothing: what is made waits for it.
    let seen = -1;
    while (seen !== streams.read) {
      seen = streams.read;
      for (let i = 0; i < 50; i++) await turn();
    }
    leave();
    while (streams.closed === 0) await turn();
    assert.ok(streams.read < 200, `${streams.read} parts were made`);
  });

  test(`streams: ${version}: a client that reads nothing for too long is cut off`, async (t) => {
    const endless = async function* () {
      for (;;) yield "x".repeat(100_000);
    };
    const { listener, streams, failures } = await listenTo(t, endless, 100);
    request(t, listener, version);
    while (streams.closed === 0) await turn();
    assert.match(String(failures[0]), /does not take the response/);
  });
}

/** Sends a request and reads nothing of the response; answers what leaves. */
function request(t: TestContext, listener: Awaited<ReturnType<typeof listen>>, version: string): () => void {
  if (version === "HTTP/2") {
    const stream = session(t, listener).request({ ":path": "/export/a" });
    stream.on("error", () => {});
    return () => stream.close(8);
  }
  const { socket } = rawClient(t, listener);
  socket.pause();
  socket.write("GET /export/a HTTP/1.1\r\nHost: a\r\n\r\n");
  return () => socket.destroy();
}
