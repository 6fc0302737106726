// Tests of the head of a unary request: the caller, and the deadline.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, constants } from "node:http2";
import { type TestContext, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { GroupSchema, GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { Code } from "../../../src/aip/errors.ts";
import { detailTypes } from "../../../src/transport/error-detail-types.ts";
import { defaultLimits } from "../../../src/transport/listener/limits.ts";
import { newUnaryTransport } from "../../../src/transport/unary/unary-transport.ts";
import { flag, frame, frameClient, frameType, headerBlock, requestHeaders } from "../frames.ts";
import { listen, session } from "../harness.ts";
import { type Handler, methodOf } from "../rest/methods.ts";

const far = 60_000;
const times = { requestTimeoutMs: far, maxTimeoutMs: far };
const message = Buffer.alloc(5);

/** Listens with the unary transport for one method; other requests get 418. */
async function open(t: TestContext, options: Partial<typeof times> = {}, handler?: Handler) {
  const method = methodOf(GroupsService.method.getGroup, handler);
  const bounds = { maxBodyBytes: 1000, bodyTimeoutMs: far, maxJsonDepth: 10 };
  const methods = new Map([[method.path, method]]);
  const { stream } = newUnaryTransport({ methods, detailTypes, ...defaultLimits, ...bounds, ...times, ...options });
  const listener = await listen(t, {
    fast: stream,
    handler: (_request, response) => {
      response.statusCode = 418;
      response.end();
    },
  });
  return { listener, path: method.path };
}

/** Calls the method over gRPC, and answers its status and its `grpc-status`. */
async function call(client: ClientHttp2Session, path: string, headers: Record<string, string> = {}) {
  const stream = client.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", ...headers });
  let all: Record<string, unknown> = {};
  const keep = (fields: object) => {
    all = { ...all, ...fields };
  };
  stream.on("response", keep).on("trailers", keep).resume().end(message);
  await new Promise((resolve) => stream.on("close", resolve));
  return [all[":status"], all["grpc-status"]];
}

test("T14 a request with two Authorization lines has a credential of both, which no scheme accepts", async (t) => {
  const seen: unknown[] = [];
  const { listener, path } = await open(t, {}, (call) => {
    seen.push(call.header("authorization"));
    return create(GroupSchema);
  });
  for (const count of [1, 2]) {
    const client = frameClient(listener.address.port);
    t.after(() => client.socket.destroy());
    const lines = Array<[string, string]>(count).fill(["authorization", "Bearer a"]);
    const head = headerBlock([...requestHeaders("POST", path), ["content-type", "application/grpc"], ...lines]);
    client.send(frame(frameType.headers, flag.endHeaders, 1, head), frame(frameType.data, flag.endStream, 1, message));
    await client.next(({ stream, type }) => stream === 1 && type === frameType.headers);
  }
  assert.deepEqual(seen, ["Bearer a", "Bearer a, Bearer a"]);
});

test("a request that waits for 100 Continue is asked for its body", async (t) => {
  const { listener, path } = await open(t);
  const stream = session(t, listener).request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    [constants.HTTP2_HEADER_EXPECT]: "100-continue",
  });
  await once(stream, "continue");
  stream.end(message);
  const [head] = await once(stream.resume(), "response");
  assert.equal(head[":status"], 200);
});

test("a request with another expectation is 417", async (t) => {
  const { listener, path } = await open(t);
  assert.deepEqual(await call(session(t, listener), path, { expect: "magic" }), [417, undefined]);
});

const deadlines: [what: string, options: Partial<typeof times>, headers: Record<string, string>][] = [
  ["that brings no deadline has that of the server", { requestTimeoutMs: 1 }, {}],
  ["has its own deadline", {}, { "grpc-timeout": "1m" }],
  ["has no deadline that is further away than the server allows", { maxTimeoutMs: 1 }, { "grpc-timeout": "1H" }],
];
for (const [what, options, headers] of deadlines) {
  test(`a call ${what}`, async (t) => {
    const { listener, path } = await open(t, options, () => new Promise(() => {}));
    assert.deepEqual(await call(session(t, listener), path, headers), [200, String(Code.DEADLINE_EXCEEDED)]);
  });
}
