// Streams of the API through connect-node: a client that reads nothing, and one that leaves.
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
} from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import type { StreamMethod } from "../../../../src/pipeline/method.ts";
import { fieldRules } from "../../../../src/pipeline/text-rules.ts";
import { adapt } from "../../../../src/transport/connect/adapter.ts";
import { withEncodedItems } from "../../../../src/transport/connect/streams/encoded-items.ts";
import { addStreams } from "../../../../src/transport/connect/streams/method-streams.ts";
import { detailTypes } from "../../../../src/transport/error-detail-types.ts";
import { onExchange } from "../../../../src/transport/http/exchange.ts";
import { wrap } from "../../../../src/transport/unary/envelope.ts";
import { listen, session } from "../../harness.ts";

const path = `/${ChangesService.typeName}/WatchChanges`;
const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
const body = wrap(0, Buffer.from(toBinary(WatchChangesRequestSchema, create(WatchChangesRequestSchema, {}))));

/** Serves a stream that sends as fast as its client reads; `ended` resolves when it ends. */
async function serve(t: TestContext, streamStallMs: number) {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const method: StreamMethod = {
    path,
    descriptor: ChangesService.method.watchChanges,
    errorDomain: "test",
    rules: fieldRules(new Map()),
    async *open(call) {
      try {
        while (!call.signal?.aborted) yield create(WatchChangesResponseSchema, { resumeAfter: "x".repeat(50_000) });
      } finally {
        resolve();
      }
    },
  };
  const draining = new AbortController().signal;
  const handler = adapt((router) => addStreams(router, [method], { streamStallMs, draining }), {
    detailTypes,
    errorDomain: "test",
    maxTimeoutMs: 600_000,
    draining,
    fallback: () => assert.fail("the path is known"),
  });
  return { listener: await listen(t, { handler: onExchange(handler) }), ended };
}

test("streams: a client that reads nothing is disconnected, and the stream ends", async (t) => {
  const { listener, ended } = await serve(t, 100);
  const stream = session(t, listener).request(headers);
  stream.on("error", () => {});
  stream.end(body);
  await once(stream, "response");
  await ended;
  stream.resume();
  await once(stream, "close");
  assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL);
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

test("streams: a message whose items are encoded before has the same content", () => {
  const changes = ["a", "b"].map((id) => create(ChangeSchema, { id, after: { name: id } }));
  const message = create(WatchChangesResponseSchema, { changes, resumeAfter: "p", accessChanged: true });
  const bytes = toBinary(WatchChangesResponseSchema, withEncodedItems(WatchChangesResponseSchema, message) as never);
  assert.deepEqual(
    [...Buffer.from(bytes)].sort(),
    [...Buffer.from(toBinary(WatchChangesResponseSchema, message))].sort(),
  );
});
