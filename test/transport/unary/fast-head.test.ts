// Tests of the head of a unary request: the caller, and the deadline.
import assert from "node:assert/strict";
import { type ClientHttp2Session, constants } from "node:http2";
import { type TestContext, test } from "node:test";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
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

/** Listens with the short way for one method; what it does not take is answered 418. */
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

test("T14 the short way takes a request with one Authorization line, and leaves one with two to the other transport", async (t) => {
  const { listener, path } = await open(t);
  for (const [count, status] of [
    [1, "200"],
    [2, "418"],
  ] as const) {
    const client = frameClient(listener.address.port);
    t.after(() => client.socket.destroy());
    const lines = Array<[string, string]>(count).fill(["authorization", "Bearer a"]);
    const head = headerBlock([...requestHeaders("POST", path), ["content-type", "application/grpc"], ...lines]);
    client.send(frame(frameType.headers, flag.endHeaders, 1, head), frame(frameType.data, flag.endStream, 1, message));
    const reply = await client.next(({ stream, type }) => stream === 1 && type === frameType.headers);
    assert.ok(statusOf(reply.payload).includes(status), String(count));
  }
});

test("the short way leaves a request that waits for 100 Continue to the other transport, which says so", async (t) => {
  const { listener, path } = await open(t);
  const client = session(t, listener);
  assert.deepEqual(await call(client, path), [200, "0"]);
  assert.deepEqual(await call(client, path, { [constants.HTTP2_HEADER_EXPECT]: "100-continue" }), [418, undefined]);
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

/** The header block as it came: 200 is in the static table, 418 a literal (RFC 7541 §6.1, §6.2). */
function statusOf(block: Buffer): string {
  return block[0] === 0x88 ? "200" : block.toString("latin1");
}
