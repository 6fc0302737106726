// Connect-Web, the client of pages in a browser: it has fetch and no trailers.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { BadRequestSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../gen/health/v1/health_pb.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  "Connect in JSON": (baseUrl) => createConnectTransport({ baseUrl }),
  "Connect in binary": (baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true }),
  "gRPC-web in binary": (baseUrl) => createGrpcWebTransport({ baseUrl }),
  "gRPC-web in JSON": (baseUrl) => createGrpcWebTransport({ baseUrl, useBinaryFormat: false }),
};

describe("Connect-Web", () => {
  let server: TestServer;
  let headers: Record<string, string>;
  before(async () => {
    server = await startTestServer();
    headers = { authorization: `Bearer ${server.ownerToken}` };
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [name, open] of Object.entries(transports)) {
    it(`${name}: reads a list`, async () => {
      const { groups, totalCount } = await createClient(GroupsService, open(server.url)).listGroups({}, { headers });
      assert.deepEqual([groups[0]?.uid, totalCount], [server.groupUid, 1n]);
    });

    it(`${name}: reads the details of an error`, async () => {
      const request = { parent: server.groupUid, group: { name: "Not a name!" } };
      const refused = createClient(GroupsService, open(server.url)).createGroup(request, { headers });
      await assert.rejects(refused, (error) => {
        assert.ok(error instanceof ConnectError);
        assert.equal(error.code, Code.InvalidArgument);
        assert.equal(error.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field, "name");
        return true;
      });
    });

    it(`${name}: reads a stream as it comes`, async () => {
      const ended = new AbortController();
      const replies = createClient(Health, open(server.url)).watch({}, { signal: ended.signal });
      const reply = await replies[Symbol.asyncIterator]().next();
      assert.equal(reply.value?.status, Serving.SERVING);
      ended.abort();
    });
  }
});
