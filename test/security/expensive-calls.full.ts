// Expensive calls have a budget for each caller; published methods have none (specification, "Limits").
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Groups } from "../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { AdvisoryQueryService, PackageQuerySchema } from "../../gen/gatehouse/vulnerabilities/v1/query_pb.ts";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

/** More than the budget of a caller, on any machine. */
const maxCalls = 1_000;

/** The most expensive question of OSV: a thousand packages. */
const packages = Array.from({ length: 1000 }, (_, i) => ({ ecosystem: "Maven", name: `org.example:package-${i}` }));
const osvQuestion = { queries: packages.map((named) => ({ package: named, version: "1".repeat(250) })) };

describe("a caller who loops an expensive question of our own", () => {
  let server: TestServer;
  let now = Date.now();
  let token: string;
  before(async () => {
    server = await startTestServer({ clock: () => now });
    const { url, ownerToken, groupUid } = server;
    const claimMatch = { issuer: "https://issuer.example.org", subject: "scanner" };
    const path = (kind: string) => `/iam/v2beta1/${kind}/${groupUid}`;
    const { uid } = (await rest(url, ownerToken, "POST", path("identities"), { name: "scanner", claimMatch })).body;
    const { roles } = (await rest(url, ownerToken, "GET", "/iam/v2beta1/roles?name=viewer")).body;
    await rest(url, ownerToken, "POST", path("roleBindings"), { identityUid: uid, roleUid: roles[0].uid });
    token = await server.tokenOf(uid);
    await useUp();
  });
  after(() => server[Symbol.asyncDispose]());

  const ask = (asked: object = osvQuestion, by = token) =>
    rest(server.url, by, "POST", "/gatehouse/osv/v1/querybatch", asked);

  async function useUp(): Promise<void> {
    for (let i = 0; i < maxCalls; i++) if ((await ask()).status === 429) return;
    assert.fail(`${maxCalls} questions were answered`);
  }

  it("a caller without budget gets 429 over REST, with Retry-After and RetryInfo", async () => {
    const response = await ask();
    assert.equal(response.status, 429);
    assert.match(response.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
    assert.equal(response.body.code, Code.ResourceExhausted);
    const types = response.body.details.map((detail: { "@type": string }) => detail["@type"]);
    assert.ok(types.includes("type.googleapis.com/google.rpc.RetryInfo"), types.join());
  });

  const transports = {
    gRPC: (baseUrl: string) => createGrpcTransport({ baseUrl }),
    "gRPC-web": (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    Connect: (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  };
  for (const [name, open] of Object.entries(transports)) {
    it(`a caller without budget gets RESOURCE_EXHAUSTED over ${name} from every method with a budget`, async () => {
      const client = createClient(AdvisoryQueryService, open(server.url));
      const query = create(PackageQuerySchema, { ecosystem: "npm", name: "left-pad" });
      const failure = await client
        .queryAffected({ query }, { headers: { authorization: `Bearer ${token}` } })
        .catch((error: unknown) => error);
      assert.ok(failure instanceof ConnectError);
      assert.equal(failure.code, Code.ResourceExhausted);
      assert.equal(failure.findDetails(RetryInfoSchema).length, 1);
    });
  }

  it("a caller without budget still gets the responses of published methods, of each version", async () => {
    const headers = { authorization: `Bearer ${token}` };
    const transport = createGrpcTransport({ baseUrl: server.url });
    for (let i = 0; i < 5; i++) {
      assert.equal((await createClient(GroupsService, transport).listGroups({}, { headers })).groups.length, 1);
      assert.equal((await createClient(Groups, transport).list({}, { headers })).items.length, 1);
    }
  });

  it("reads the pages of records and statements, as an export of advisories does", async () => {
    for (const list of ["ListAdvisoryRecords", "ListAdvisoryStatements"]) {
      const path = `/gatehouse.vulnerabilities.v1.AdvisoryRecordsService/${list}`;
      const { status, body } = await rest(server.url, token, "POST", path, { parent: server.groupUid });
      assert.equal(status, 200, JSON.stringify(body));
    }
  });

  it("a caller who loops an expensive call does not use up the budget of another caller of its organization", async () => {
    const response = await ask({ queries: [{ package: packages[0], version: "1" }] }, server.ownerToken);
    assert.equal(response.status, 200);
  });

  it("a caller without budget is served again after the time in Retry-After", async () => {
    const seconds = Number((await ask()).headers.get("retry-after"));
    now += 1000 * seconds;
    assert.equal((await ask()).status, 200);
  });
});
