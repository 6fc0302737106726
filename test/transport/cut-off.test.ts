// Requests over HTTP/2 that end before their end: none of them may be taken for a whole one.
import assert from "node:assert/strict";
import type { ServerHttp2Stream } from "node:http2";
import { test } from "node:test";
import { Code, toApiError } from "../../src/aip/errors.ts";
import { readBody } from "../../src/transport/http/request-body.ts";
import { StreamExchange } from "../../src/transport/http/stream-exchange.ts";
import { defaultLimits } from "../../src/transport/listener/limits.ts";
import { errorCode, type FrameClient, flag, frame, frameClient, frameType, request, reset } from "./frames.ts";
import { listen } from "./harness.ts";

const limits = { maxBodyBytes: 1000, bodyTimeoutMs: 60_000 };

const cuts: [what: string, cut: (client: FrameClient, stream: ServerHttp2Stream) => void][] = [
  ["a reset without an error", (client) => client.send(reset(1, errorCode.none))],
  ["a reset", (client) => client.send(reset(1))],
  ["the end of the connection", (client) => client.socket.end()],
  [
    "GOAWAY and the end of the connection",
    (client) => {
      client.send(frame(frameType.goaway, 0, 0, Buffer.alloc(8)));
      client.socket.end();
    },
  ],
  ["a frame that breaks the session", (client) => client.send(frame(frameType.windowUpdate, 0, 0, Buffer.alloc(4)))],
  ["the server's own reset", (_, stream) => stream.close(errorCode.cancel)],
  ["the server's end of the session", (_, stream) => stream.session?.destroy()],
];

for (const transport of ["a stream handler", "a handler"]) {
  for (const [what, cut] of cuts) {
    test(`http2: ${what} in the middle of a body leaves ${transport} none`, async (t) => {
      const { client, begun, body } = await receiving(t, transport);
      client.send(request(1, false, "/"), frame(frameType.data, 0, 1, Buffer.from("a part")));
      cut(client, await begun);
      await assert.rejects(body, (error) => toApiError(error).code === Code.CANCELLED);
    });
  }

  test(`http2: ${transport} gets a body that its client has ended`, async (t) => {
    const { client, body } = await receiving(t, transport);
    client.send(request(1, false, "/"), frame(frameType.data, 0, 1, Buffer.from("a part, ")));
    client.send(frame(frameType.data, flag.endStream, 1, Buffer.from("and the rest")));
    assert.equal((await body).toString(), "a part, and the rest");
  });
}

/** Returns a client whose request is received through one of the transports. */
async function receiving(t: Parameters<typeof listen>[0], transport: string) {
  const begun = Promise.withResolvers<ServerHttp2Stream>();
  const received = Promise.withResolvers<Buffer>();
  // It may reject before the test looks.
  received.promise.catch(() => {});
  const receive = (stream: ServerHttp2Stream, body: Promise<Buffer>) => {
    body.then(received.resolve, received.reject);
    stream.once("data", () => begun.resolve(stream));
  };
  const listener = await listen(t, {
    fast(stream, headers, rawHeaders) {
      if (transport !== "a stream handler") return false;
      receive(stream, new StreamExchange(stream, headers, rawHeaders).readBody({ ...defaultLimits, ...limits }));
      return true;
    },
    handler(incoming) {
      if ("stream" in incoming) receive(incoming.stream, readBody(incoming, limits));
    },
  });
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  return { client, begun: begun.promise, body: received.promise };
}
