// Tests the Terraform provider's calls for its four resources over gRPC: create, read, update by mask, import, destroy.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, codeName } from "../../src/aip/errors.ts";
import { type ApiClient, type Outcome, openApiClient } from "../harness/api-clients.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { claimMatch, declarations, identityProvider, issuer } from "./terraform-declarations.ts";

type Resource = JsonObject & { readonly uid: string };

let server: TestServer;
let grpc: ApiClient;

function call(method: string, request: JsonObject, token = server.ownerToken): Promise<Outcome> {
  return grpc.call(token, `/chainguard.platform.iam.v2beta1.${method}`, request);
}

async function answer<T extends JsonObject = Resource>(
  method: string,
  request: JsonObject,
  token?: string,
): Promise<T> {
  const { code, message, response } = await call(method, request, token);
  assert.equal(code, Code.OK, `${method}: ${message}`);
  return response as T;
}

async function codeOf(method: string, request: JsonObject): Promise<string> {
  return codeName((await call(method, request)).code);
}

describe("Terraform", () => {
  before(async () => {
    server = await startTestServer();
    grpc = openApiClient("grpc", server.url);
  });
  after(async () => {
    grpc[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  for (const { rule, service, field, mask, states } of declarations) {
    it(rule, async () => {
      const method = (verb: string) => `${service}/${verb}${field[0]?.toUpperCase()}${field.slice(1)}`;
      const [first, ...later] = states;
      const created = await answer(method("Create"), { parent: server.groupUid, [field]: first });
      const { uid, createTime } = created;
      assert.match(uid, new RegExp(`^${server.groupUid}/[0-9a-f]{16}$`));
      assertState(created, first);
      // An import reads what a create answered.
      assert.deepEqual(await answer(method("Get"), { uid }), created);
      for (const state of later) {
        const updated = await answer(method("Update"), { [field]: { uid, ...state }, updateMask: mask });
        assertState(updated, state);
        assert.deepEqual(await answer(method("Get"), { uid }), updated);
        assert.equal(updated.createTime, createTime);
      }
      // A plan without changes may still send everything back that was read.
      const last = await answer(method("Get"), { uid });
      const { updateTime: _, ...unchanged } = await answer(method("Update"), { [field]: last, updateMask: "*" });
      const { updateTime: __, ...expected } = last;
      assert.deepEqual(unchanged, expected);
      assert.deepEqual(await answer<JsonObject>(method("Delete"), { uid }), {});
      // The provider drops a resource from its state on NOT_FOUND when reading, and takes it for success when destroying.
      for (const verb of ["Get", "Delete"]) assert.equal(await codeOf(method(verb), { uid }), "NOT_FOUND", verb);
    });
  }

  it("a role binding is read by the uids in its hydrated form, updated with * and destroyed", async () => {
    const parent = server.groupUid;
    const identity = await answer("IdentitiesService/CreateIdentity", {
      parent,
      identity: claimMatch({ issuer, subject: "b" }),
    });
    const [viewer, editor] = [await roleNamed("viewer"), await roleNamed("editor")];
    const bind = (roleUid: string) => ({ identityUid: identity.uid, roleUid });
    const created = await answer("RoleBindingsService/CreateRoleBinding", { parent, roleBinding: bind(viewer) });
    const { uid } = created;
    assert.deepEqual(await answer("RoleBindingsService/GetRoleBinding", { uid }), created);
    assert.deepEqual(uidsOf(created), [identity.uid, parent, viewer]);
    const roleBinding = { uid, ...bind(editor) };
    const updated = await answer("RoleBindingsService/UpdateRoleBinding", { roleBinding, updateMask: "*" });
    assert.deepEqual(uidsOf(updated), [identity.uid, parent, editor]);
    await answer("RoleBindingsService/DeleteRoleBinding", { uid });
    await answer("IdentitiesService/DeleteIdentity", { uid: identity.uid });
  });

  it("an identity provider keeps the order of its scopes and its secret to itself, on a root group only", async () => {
    const parent = server.groupUid;
    const viewer = await roleNamed("viewer");
    const shown = ({ oidc }: JsonObject) => oidc as JsonObject;
    const created = await answer("IdentityProvidersService/CreateIdentityProvider", {
      parent,
      identityProvider: identityProvider(viewer),
    });
    const { uid } = created;
    assert.deepEqual(shown(created).additionalScopes, ["email", "profile", "a"]);
    assert.equal(shown(created).clientSecret, undefined);
    assert.deepEqual(await answer("IdentityProvidersService/GetIdentityProvider", { uid }), created);
    const changed = identityProvider(viewer, { additionalScopes: ["z", "a"], clientSecret: "other" });
    const updated = await answer("IdentityProvidersService/UpdateIdentityProvider", {
      identityProvider: { uid, ...changed },
      updateMask: "*",
    });
    assert.deepEqual(shown(updated).additionalScopes, ["z", "a"]);
    assert.deepEqual(await answer("IdentityProvidersService/GetIdentityProvider", { uid }), updated);
    await answer("IdentityProvidersService/DeleteIdentityProvider", { uid });
    for (const verb of ["Get", "Delete"])
      assert.equal(await codeOf(`IdentityProvidersService/${verb}IdentityProvider`, { uid }), "NOT_FOUND");
    const child = await answer("GroupsService/CreateGroup", { parent, group: { name: "child" } });
    const below = { parent: child.uid, identityProvider: identityProvider(viewer) };
    assert.equal(await codeOf("IdentityProvidersService/CreateIdentityProvider", below), "INVALID_ARGUMENT");
  });

  it("a root group is its creator's at once, by a token of before and one of after, and is destroyed", async () => {
    const { uid } = await answer("GroupsService/CreateGroup", { group: { name: "organization", description: "d" } });
    assert.match(uid, /^[0-9a-f]{40}$/);
    for (const token of [server.ownerToken, await server.tokenOf(server.ownerUid)]) {
      const { groups } = await answer<{ groups: Resource[] }>(
        "GroupsService/ListGroups",
        { uidp: { ids: [uid] } },
        token,
      );
      assert.equal(groups[0]?.uid, uid);
    }
    const group = { uid, name: "renamed", verified: false };
    const updated = await answer("GroupsService/UpdateGroup", { group, updateMask: "name,description,verified" });
    assert.deepEqual([updated.name, updated.description], ["renamed", undefined]);
    await answer("GroupsService/DeleteGroup", { uid });
  });

  it("the data source of groups finds by name below a parent, all pages", async () => {
    const parent = (await answer("GroupsService/CreateGroup", { parent: server.groupUid, group: { name: "parent" } }))
      .uid;
    const { uid } = await answer("GroupsService/CreateGroup", { parent, group: { name: "wanted" } });
    await answer("GroupsService/CreateGroup", { parent, group: { name: "other" } });
    const request = { uidp: { childrenOf: parent }, name: "wanted" };
    const { groups } = await answer<{ groups: Resource[] }>("GroupsService/ListGroups", request);
    assert.deepEqual(
      groups.map((group) => group.uid),
      [uid],
    );
  });

  it("the data source of roles finds exactly one of a built-in name, with a description", async () => {
    for (const name of ["viewer", "owner"]) {
      const { roles } = await answer<{ roles: Resource[] }>("RolesService/ListRoles", { name });
      assert.equal(roles.length, 1, name);
      assert.match(roles[0]?.uid ?? "", /^[0-9a-f]{40}$/);
      assert.notEqual(roles[0]?.description ?? "", "");
    }
  });

  it("a missing resource in the caller's own groups is NOT_FOUND, which the provider does not retry", async () => {
    const parent = `${server.groupUid}/0000000000000000`;
    const requests: readonly [method: string, request: JsonObject][] = [
      ["GroupsService/CreateGroup", { parent, group: { name: "x" } }],
      ["IdentitiesService/CreateIdentity", { parent, identity: claimMatch({ issuer, subject: "s" }) }],
      ["RolesService/CreateRole", { parent, role: { name: "x", capabilities: ["CAP_REPO_LIST"] } }],
      [
        "RoleBindingsService/CreateRoleBinding",
        { parent, roleBinding: { identityUid: server.ownerUid, roleUid: await roleNamed("viewer") } },
      ],
      ["GroupsService/GetGroup", { uid: parent }],
    ];
    for (const [method, request] of requests) assert.equal(await codeOf(method, request), "NOT_FOUND", method);
  });

  it("an ill-formed id is an error", async () => {
    assert.equal(await codeOf("GroupsService/GetGroup", { uid: "not-a-uid" }), "INVALID_ARGUMENT");
  });
});

async function roleNamed(name: string): Promise<string> {
  const { roles } = await answer<{ roles: Resource[] }>("RolesService/ListRoles", { name });
  return roles[0]?.uid ?? "";
}

function uidsOf(binding: JsonObject): unknown[] {
  return ["identity", "group", "role"].map((name) => (binding[name] as JsonObject).uid);
}

/** Whether a resource says what was declared, no more and no less; anything else makes Terraform plan for ever. */
function assertState(
  { uid: _, createTime: __, updateTime: ___, lastSeenTime: ____, ...said }: JsonObject,
  declared: JsonObject,
) {
  assert.deepEqual(said, declared);
}
