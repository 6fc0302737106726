// Tests of features that only RPC has: a path cannot carry every text, and only RPC tells an absent field from a zero.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code } from "../../src/aip/errors.ts";
import { type ApiClient, openApiClient, type TransportName } from "../harness/api-clients.ts";
import type { Outcome } from "../harness/outcome.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const iam = "/chainguard.platform.iam.v2beta1.";
let server: TestServer;

const transportNames: readonly TransportName[] = ["grpc", "grpc-web", "connect"];
describe("rules that only RPC can show", () => {
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const name of transportNames) {
    describe(`over ${name}`, () => {
      let apiClient: ApiClient;
      before(() => {
        apiClient = openApiClient(name, server.url);
      });
      after(() => apiClient[Symbol.dispose]());
      const call = (method: string, request: JsonObject) => apiClient.call(server.ownerToken, iam + method, request);
      const create = async (fields: JsonObject) => {
        const { response } = await call("GroupsService/CreateGroup", { parent: server.groupUid, group: fields });
        return response as JsonObject & { uid: string };
      };

      for (const uid of ["", "..", ".", "ROOT/..", "../ROOT", "ROOT//0000000000000000", "ROOT/", "/ROOT", "/"]) {
        it(`rejects the uid ${JSON.stringify(uid)} in every method that takes one`, async () => {
          const value = uid.replace("ROOT", server.groupUid);
          for (const [method, request] of requestsWith(value)) {
            assert.deepEqual(violations(await call(method, request)), ["uid"], method);
          }
          // An empty parent is that of an organization.
          if (value === "") return;
          const group = { name: "a" };
          assert.deepEqual(violations(await call("GroupsService/CreateGroup", { parent: value, group })), ["parent"]);
        });
      }

      it("AIP-134: a zero value without a mask changes nothing, because it looks like an absent one", async () => {
        const { uid } = await create({ name: "a", description: "old" });
        const group = { uid, name: "b", description: "" };
        const { response } = await call("GroupsService/UpdateGroup", { group });
        assert.deepEqual([memberOf(response, "name"), memberOf(response, "description")], ["b", "old"]);
      });

      it("F2: an empty mask counts as absent", async () => {
        const { uid } = await create({ name: "a", description: "old" });
        const { response } = await call("GroupsService/UpdateGroup", { group: { uid, name: "b" }, updateMask: "" });
        assert.deepEqual([memberOf(response, "name"), memberOf(response, "description")], ["b", "old"]);
      });

      it("numbers that are not an enum value are rejected where they are used", async () => {
        const parent = server.groupUid;
        const identity = { name: "i", servicePrincipal: 99 };
        const role = { name: "r", capabilities: ["CAP_REPO_LIST", 999999, -1] };
        const refused = await call("IdentitiesService/CreateIdentity", { parent, identity });
        assert.deepEqual(violations(refused), ["service_principal"]);
        assert.deepEqual(violations(await call("RolesService/CreateRole", { parent, role })), [
          "capabilities[1]",
          "capabilities[2]",
        ]);
      });
    });
  }
});

function requestsWith(uid: string): [method: string, request: JsonObject][] {
  return [
    ["GroupsService/GetGroup", { uid }],
    ["GroupsService/DeleteGroup", { uid }],
    ["GroupsService/UpdateGroup", { group: { uid, name: "a" } }],
    ["IdentitiesService/GetIdentity", { uid }],
    ["IdentitiesService/DeleteIdentity", { uid }],
    ["IdentitiesService/UpdateIdentity", { identity: { uid, name: "a" } }],
    ["RolesService/GetRole", { uid }],
    ["RolesService/DeleteRole", { uid }],
    ["RolesService/UpdateRole", { role: { uid, name: "a" } }],
    ["RoleBindingsService/GetRoleBinding", { uid }],
    ["RoleBindingsService/DeleteRoleBinding", { uid }],
    ["RoleBindingsService/UpdateRoleBinding", { roleBinding: { uid } }],
  ];
}

function violations({ code, details }: Outcome): string[] {
  assert.equal(code, Code.INVALID_ARGUMENT);
  const [, badRequest] = details;
  return (memberOf(badRequest, "fieldViolations") as JsonObject[]).map(({ field }) => String(field));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return (value as JsonObject)[name];
}
