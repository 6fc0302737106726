// Calls that are refused before connect-node sees them, as clients of gRPC expect to be told: in the encoding of their messages, and
// with a status, also over HTTP/1.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const listGroups = `/${GroupsService.typeName}/ListGroups`;
const refusals: [why: string, path: string, code: number, message: string][] = [
  ["without a token", listGroups, 16, "Unauthenticated: a bearer token is required"],
  ["an unknown method", "/no.such.Service/Method", 12, "Unimplemented: there is no method /no.such.Service/Method"],
];

describe("a call over HTTP/1 that is refused", () => {
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

  for (const [why, path, code, message] of refusals) {
    it(`gRPC: ${why}`, async () => {
      const { status, headers } = await send(path, "application/grpc");
      assert.deepEqual([status, headers.get("grpc-status"), headers.get("grpc-message")], [200, String(code), message]);
      const details = Buffer.from(headers.get("grpc-status-details-bin") ?? "", "base64");
      assert.equal(fromBinary(StatusSchema, details).details.length, 1);
    });

    for (const type of ["application/grpc+json", "application/grpc-web+json"]) {
      it(`${type}: ${why}`, async () => {
        for (const sent of [type, `${type}; charset=utf-8`, type.toUpperCase()]) {
          assert.equal((await send(path, sent)).headers.get("content-type"), type);
        }
      });
    }
  }
});
