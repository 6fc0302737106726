// Tests of lists and errors in the client package, with a real server, over each of its transports.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  type ErrorDetails,
  errorDetails,
  listAll,
  openClient,
  staticToken,
} from "../../../packages/client/src/node.ts";
import { openClient as openWebClient } from "../../../packages/client/src/web.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";

let server: TestServer;
let nobody: string;
describe("lists and errors in the client package", () => {
  before(async () => {
    server = await startTestServer();
    const created = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/identities/${server.groupUid}`, {
      name: "nobody",
      claimMatch: { issuer: "https://ci.example.org", subject: "nobody" },
    });
    nobody = created.body.uid;
    for (const name of ["a", "b", "c", "d"])
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/groups/${server.groupUid}`, { name });
  });
  after(() => server[Symbol.asyncDispose]());

  const opened = {
    "Node, gRPC": (token: string) => openClient({ url: server.url, tokens: staticToken(token) }),
    "Node, Connect": (token: string) =>
      openClient({ url: `${server.url}/`, protocol: "connect", tokens: staticToken(token) }),
    "fetch, Connect": (token: string) => openWebClient({ url: server.url, tokens: staticToken(token) }),
    "fetch, gRPC-web": (token: string) =>
      openWebClient({ url: server.url, protocol: "grpc-web", tokens: staticToken(token) }),
  };

  async function detailsOf(call: Promise<unknown>): Promise<ErrorDetails> {
    return await call.then(
      () => assert.fail("the call succeeded"),
      (error) => errorDetails(error),
    );
  }

  for (const [name, open] of Object.entries(opened))
    describe(name, () => {
      it("reads a list of several pages, and stops where the reader does", async () => {
        using client = open(server.ownerToken);
        const groups = client.service(GroupsService);
        const request = { pageSize: 2, uidp: { descendantsOf: server.groupUid } };
        const names: string[] = [];
        for await (const { name } of listAll(groups.listGroups, request, (page) => page.groups)) names.push(name);
        assert.deepEqual(names.toSorted(), ["a", "b", "c", "d"]);
        let pageCount = 0;
        for await (const group of listAll(groups.listGroups, request, (page) => {
          pageCount++;
          return page.groups;
        })) {
          assert.ok(names.includes(group.name));
          break;
        }
        assert.equal(pageCount, 1);
      });

      it("has the fields of an invalid request", async () => {
        using client = open(server.ownerToken);
        const call = client
          .service(GroupsService)
          .createGroup({ parent: server.groupUid, group: { name: "Not a name!" } });
        const { fieldViolations, retryAfterMs, requestId } = await detailsOf(call);
        assert.match(requestId, /^[0-9a-f]{32}$/);
        assert.deepEqual([fieldViolations[0]?.field, retryAfterMs], ["name", undefined]);
      });

      it("has the missing capability of a denied request", async () => {
        using client = open(await server.tokenOf(nobody));
        const { reason, metadata } = await detailsOf(
          client.service(GroupsService).createGroup({ parent: server.groupUid, group: { name: "x" } }),
        );
        assert.deepEqual(
          [reason, metadata.capability, metadata.scope],
          ["PERMISSION_DENIED", "groups.create", server.groupUid],
        );
      });

      it("has the violated precondition", async () => {
        using client = open(server.ownerToken);
        const { preconditionViolations } = await detailsOf(
          client.service(GroupsService).deleteGroup({ uid: server.groupUid }),
        );
        assert.equal(preconditionViolations[0]?.type, "RESOURCE_NOT_EMPTY");
      });
    });

  describe("an error of something else", () => {
    it("another error has empty details", () => {
      const { reason, fieldViolations, metadata } = errorDetails(new Error("fetch failed"));
      assert.deepEqual([reason, fieldViolations, metadata], ["", [], {}]);
    });
  });
});
