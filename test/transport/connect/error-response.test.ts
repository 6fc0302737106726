// Calls that are rejected, as their clients expect it: in the encoding of their messages, and with a status, also over HTTP/1.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it, test } from "node:test";
import { createRegistry, fromBinary } from "@bufbuild/protobuf";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { unimplemented } from "../../../src/aip/errors.ts";
import { newCall, newRequestId } from "../../../src/pipeline/call.ts";
import { newCallRejection } from "../../../src/transport/connect/error-response.ts";
import { MessageExchange } from "../../../src/transport/http/exchange.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { frameClient, frameType, request, reset } from "../frames.ts";
import { listen } from "../harness.ts";

const listGroups = `/${GroupsService.typeName}/ListGroups`;
const unknownMethod = "/no.such.Service/Method";
const refusals: [why: string, path: string, code: number, message: RegExp][] = [
  ["without a token", listGroups, 16, /^Unauthenticated: a bearer token is required/],
  ["an unknown method", unknownMethod, 12, /^Unimplemented: there is no method \/no.such.Service\/Method$/],
];

describe("a call over HTTP/1 that is rejected", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  function send(path: string, type: string): Promise<Response> {
    return fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": type },
      body: Buffer.alloc(5),
    });
  }

  for (const path of [listGroups, "/grpc.health.v1.Health/Check"]) {
    it(`GET of ${path}: 405, which names what is allowed`, async () => {
      const { status, headers } = await fetch(server.url + path);
      assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
    });
  }

  it("a gRPC call of a known method: 505, since clients of HTTP/1 do not read the trailers", async () => {
    for (const type of ["application/grpc", "application/grpc+json"]) {
      const reply = await send(listGroups, type);
      assert.deepEqual([reply.status, await reply.text()], [505, "gRPC needs HTTP/2; gRPC-web and Connect do not\n"]);
    }
  });

  it("a gRPC call of an unknown method: UNIMPLEMENTED in the headers", async () => {
    const { status, headers } = await send(unknownMethod, "application/grpc");
    assert.deepEqual([status, headers.get("grpc-status")], [200, "12"]);
    assert.equal(headers.get("grpc-message"), `Unimplemented: there is no method ${unknownMethod}`);
    const details = Buffer.from(headers.get("grpc-status-details-bin") ?? "", "base64");
    assert.equal(fromBinary(StatusSchema, details).details.length, 1);
  });

  for (const [why, path, code, message] of refusals) {
    for (const type of ["application/json", "application/proto"]) {
      it(`Connect, ${type}: ${why}`, async () => {
        const reply = await send(path, type);
        const error = (await reply.json()) as { code: string; message: string; details: unknown[] };
        assert.deepEqual(Object.keys(error), ["code", "message", "details"]);
        assert.equal(error.code, code === 12 ? "unimplemented" : "unauthenticated");
        assert.match(error.message, message);
        assert.equal(reply.status, code === 12 ? 501 : 401);
        assert.equal(reply.headers.get("content-type"), "application/json");
      });
    }
  }

  const repeated: [type: string, path: string][] = [
    ["application/grpc+json", unknownMethod],
    ["application/grpc-web+json", unknownMethod],
    ["application/grpc-web+json", listGroups],
  ];
  for (const [type, path] of repeated) {
    it(`a rejection of ${path} in ${type} has this content type`, async () => {
      for (const sent of [type, `${type}; charset=utf-8`, type.toUpperCase()]) {
        assert.equal((await send(path, sent)).headers.get("content-type"), type);
      }
    });
  }
});

test("a call whose client disconnects before it is rejected does not count as a failed connection", async (t) => {
  const failures: unknown[] = [];
  const limits = { maxBodyBytes: 1000, bodyTimeoutMs: 60_000 };
  const refuse = newCallRejection({ ...limits, detailTypes: createRegistry(), errorDomain: "test" });
  const begun = Promise.withResolvers<void>();
  const listener = await listen(t, {
    onError: (error) => failures.push(error),
    async handler(incoming, response) {
      begun.resolve();
      if ("stream" in incoming && incoming.url === "/left") await once(incoming.stream, "close");
      const call = newCall({
        transport: "grpc",
        requestId: newRequestId(),
        clientAddress: "",
        header: () => undefined,
      });
      refuse(new MessageExchange(incoming, response), call, unimplemented("there is no such method"));
    },
  });
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  client.send(request(1, false, "/left"));
  await begun.promise;
  client.send(reset(1), request(3, false, "/here"));
  await client.next(({ type, stream }) => type === frameType.headers && stream === 3);
  assert.deepEqual(failures, []);
});
