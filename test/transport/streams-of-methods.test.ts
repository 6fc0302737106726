// Streams of methods: a client that reads nothing, and one that leaves.
import assert from "node:assert/strict";
import { once } from "node:events";
import { constants } from "node:http2";
import { type TestContext, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  ChangeSchema,
  ChangesService,
  WatchChangesRequestSchema,
  WatchChangesResponseSchema,
} from "../../gen/gatehouse/changes/v1/changes_pb.ts";
import type { StreamMethod } from "../../src/pipeline/method.ts";
import { fieldRules } from "../../src/pipeline/text-rules.ts";
import { detailTypes } from "../../src/transport/error-detail-types.ts";
import { onExchange } from "../../src/transport/http/exchange.ts";
import { defaultLimits } from "../../src/transport/listener/limits.ts";
import { withEncodedItems } from "../../src/transport/streaming/encoded-items.ts";
import { newStreamingTransport } from "../../src/transport/streaming/stream-transport.ts";
import { wrap } from "../../src/transport/unary/envelope.ts";
import { listen, session } from "./harness.ts";

const path = `/${ChangesService.typeName}/WatchChanges`;
const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
const body = wrap(0, Buffer.from(toBinary(WatchChangesRequestSchema, create(WatchChangesRequestSchema, {}))));

/** Serves a stream that sends as fast as its client reads, or with pauses; `ended` resolves when it ends. */
async function serve(t: TestContext, streamStallMs: number, pause?: (signal: AbortSignal) => Promise<void>) {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const method: StreamMethod = {
    path,
    descriptor: ChangesService.method.watchChanges,
    errorDomain: "test",
    rules: fieldRules(new Map()),
    async *open(call) {
      try {
        for (const signal = call.signal!; !signal.aborted; await pause?.(signal))
          yield create(WatchChangesResponseSchema, { resumeAfter: "x".repeat(50_000) });
      } finally {
        resolve();
      }
    },
  };
  const streaming = newStreamingTransport({
    methods: [method],
    streamStallMs,
    maxBodyBytes: 1000,
    bodyTimeoutMs: 60_000,
    ...defaultLimits,
    maxTimeoutMs: 600_000,
    maxJsonDepth: 100,
    detailTypes,
    draining: new AbortController().signal,
  });
  return { listener: await listen(t, { handler: onExchange((exchange) => void streaming(exchange)) }), ended };
}

test("streams: a client that reads nothing is disconnected, and the stream ends", async (t) => {
  const { listener, ended } = await serve(t, 100);
  const stream = session(t, listener).request(headers);
  stream.on("error", () => {});
  stream.end(body);
  await once(stream, "response");
  await ended;
  stream.resume();
  await new Promise((resolve) => stream.once("close", resolve));
  assert.equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
});

test("streams: the stream ends when its client leaves", async (t) => {
  const { listener, ended } = await serve(t, 600_000);
  const stream = session(t, listener).request(headers);
  stream.on("error", () => {});
  stream.end(body);
  await once(stream, "response");
  stream.close(constants.NGHTTP2_CANCEL);
  await ended;
});

test("streams: an idle stream ends when its client leaves", async (t) => {
  const { listener, ended } = await serve(t, 600_000, async (signal) => void (await once(signal, "abort")));
  const stream = session(t, listener).request(headers);
  stream.on("error", () => {});
  stream.end(body);
  await once(stream, "data");
  stream.close(constants.NGHTTP2_CANCEL);
  await ended;
});

test("streams: a message whose items are encoded before has the same content", () => {
  const changes = ["a", "b"].map((id) => create(ChangeSchema, { id, after: { name: id } }));
  const message = create(WatchChangesResponseSchema, { changes, resumeAfter: "p", accessChanged: true });
  const bytes = toBinary(WatchChangesResponseSchema, withEncodedItems(WatchChangesResponseSchema, message) as never);
  assert.deepEqual(
    [...Buffer.from(bytes)].sort(),
    [...Buffer.from(toBinary(WatchChangesResponseSchema, message))].sort(),
  );
});
