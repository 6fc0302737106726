// R: nobody gets more than they had, and nothing is left dangling.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addCaller, addGroup, addIdentity, addRole, bind, operatorRole, ownerRole, viewerRole } from "./tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`roles and bindings on ${database}`, () => {
    let ground: Ground;
    /** An organization with its owner, apart from that of the operator. */
    let organization: string;
    let owner: { readonly uid: string; readonly token: string; readonly binding: string };
    before(async () => {
      ground = await openGround({ database });
      organization = await addGroup(ground.server, null, "acme");
      owner = await addCaller(ground.server, organization, ownerRole.uid);
    });
    after(() => ground[Symbol.asyncDispose]());

    /** Returns a caller of the organization with a custom role of just these capabilities. */
    async function callerWith(...capabilities: Capability[]) {
      const role = await addRole(ground.server, organization, capabilities);
      return { role, ...(await addCaller(ground.server, organization, role)) };
    }

    async function bindingsAt(group: string): Promise<JsonObject[]> {
      const request = { group, pageSize: 200 };
      const list = replyOf(await ground.once(owner.token, "RoleBindingsService/ListRoleBindings", request));
      return (list.roleBindings ?? []) as JsonObject[];
    }

    it("R1: a caller with roles.update cannot add a capability that they lack", async () => {
      const { role, token } = await callerWith(Capability.CAP_IAM_ROLES_UPDATE, Capability.CAP_IAM_ROLES_LIST);
      const capabilities = ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_GROUPS_DELETE"];
      for (const updateMask of ["capabilities", "*"]) {
        const update = { role: { uid: role, name: "custom", capabilities }, updateMask };
        assert.equal(codeOf(await ground.everywhere(token, "RolesService/UpdateRole", update)), "PERMISSION_DENIED");
      }
      const kept = replyOf(await ground.once(token, "RolesService/GetRole", { uid: role }));
      assert.deepEqual(kept.capabilities, ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_ROLES_LIST"]);
    });

    it("R1: a caller with roles.create cannot create a role with more than they hold", async () => {
      const { token } = await callerWith(Capability.CAP_IAM_ROLES_CREATE);
      const request = { parent: organization, role: { name: "more", capabilities: ["CAP_IAM_GROUPS_DELETE"] } };
      assert.equal(codeOf(await ground.everywhere(token, "RolesService/CreateRole", request)), "PERMISSION_DENIED");
    });

    it("R2: denies a caller with only role_bindings.create to bind owner, and allows an owner", async () => {
      const { uid, token } = await callerWith(Capability.CAP_IAM_ROLE_BINDINGS_CREATE);
      const other = await addIdentity(ground.server, organization);
      for (const identityUid of [uid, other]) {
        const request = { parent: organization, roleBinding: { identityUid, roleUid: ownerRole.uid } };
        const outcome = await ground.everywhere(token, "RoleBindingsService/CreateRoleBinding", request);
        assert.equal(codeOf(outcome), "PERMISSION_DENIED");
      }
      const request = { parent: organization, roleBinding: { identityUid: other, roleUid: ownerRole.uid } };
      assert.equal(codeOf(await ground.once(owner.token, "RoleBindingsService/CreateRoleBinding", request)), "OK");
    });

    it("R2: an owner who does not operate the installation cannot bind operator", async () => {
      const identityUid = await addIdentity(ground.server, organization);
      const request = { parent: organization, roleBinding: { identityUid, roleUid: operatorRole.uid } };
      const outcome = await ground.everywhere(owner.token, "RoleBindingsService/CreateRoleBinding", request);
      assert.equal(codeOf(outcome), "PERMISSION_DENIED");
    });

    it("R2: an update of a binding cannot give more than the caller holds", async () => {
      const { token, binding } = await callerWith(Capability.CAP_IAM_ROLE_BINDINGS_UPDATE);
      const request = { roleBinding: { uid: binding, roleUid: ownerRole.uid } };
      const outcome = await ground.everywhere(token, "RoleBindingsService/UpdateRoleBinding", request);
      assert.equal(codeOf(outcome), "PERMISSION_DENIED");
    });

    it("R3, I8: denies a whole batch with one item that escalates, and writes nothing", async () => {
      const { token } = await callerWith(Capability.CAP_IAM_ROLE_BINDINGS_CREATE, Capability.CAP_IAM_GROUPS_LIST);
      const group = await addGroup(ground.server, organization);
      const held = await addRole(ground.server, organization, [Capability.CAP_IAM_GROUPS_LIST]);
      const items: JsonObject[] = [];
      for (let i = 0; i < 24; i++) {
        items.push({ roleBinding: { identityUid: await addIdentity(ground.server, group), roleUid: held } });
      }
      const raised = { roleBinding: { identityUid: owner.uid, roleUid: ownerRole.uid } };
      const batch = { parent: group, requests: [...items, raised] };
      const refused = await ground.everywhere(token, "RoleBindingsService/BatchCreateRoleBindings", batch);
      const alone = await ground.once(token, "RoleBindingsService/CreateRoleBinding", { parent: group, ...raised });
      assert.deepEqual([codeOf(refused), refused.message], ["PERMISSION_DENIED", alone.message]);
      assert.deepEqual(await bindingsAt(group), []);
      const permitted = { parent: group, requests: items };
      assert.equal(codeOf(await ground.once(token, "RoleBindingsService/BatchCreateRoleBindings", permitted)), "OK");
      assert.equal((await bindingsAt(group)).length, 24);
    });

    it("R5: an update to another tenant's custom role is PERMISSION_DENIED, whether it exists or not", async () => {
      const foreign = await addRole(ground.server, ground.server.groupUid, [Capability.CAP_IAM_GROUPS_LIST]);
      const { binding } = await addCaller(ground.server, organization, viewerRole.uid);
      const messages = [];
      for (const roleUid of [foreign, `${ground.server.groupUid}/${"f".repeat(16)}`]) {
        const request = { roleBinding: { uid: binding, roleUid } };
        const outcome = await ground.everywhere(owner.token, "RoleBindingsService/UpdateRoleBinding", request);
        assert.equal(codeOf(outcome), "PERMISSION_DENIED");
        messages.push(outcome.message.replaceAll(roleUid, ""));
      }
      assert.equal(messages[0], messages[1]);
    });

    it("R5: an update to an identity that does not exist is NOT_FOUND, and a group in the body does not move the binding", async () => {
      const { binding } = await addCaller(ground.server, organization, viewerRole.uid);
      const missing = { roleBinding: { uid: binding, identityUid: `${organization}/${"f".repeat(16)}` } };
      const refused = await ground.everywhere(owner.token, "RoleBindingsService/UpdateRoleBinding", missing);
      assert.equal(codeOf(refused), "NOT_FOUND");
      const moved = { roleBinding: { uid: binding, group: { uid: ground.server.groupUid }, roleUid: viewerRole.uid } };
      const outcome = await ground.once(owner.token, "RoleBindingsService/UpdateRoleBinding", moved);
      assert.deepEqual((replyOf(outcome).group as JsonObject).uid, organization);
    });

    it("R6: a custom role of one tenant is not bound in another, and a uid of another kind is not a role", async () => {
      const foreign = await addRole(ground.server, ground.server.groupUid, [Capability.CAP_IAM_GROUPS_LIST]);
      const identityUid = await addIdentity(ground.server, organization);
      for (const [roleUid, code] of [
        [foreign, "PERMISSION_DENIED"],
        [identityUid, "NOT_FOUND"],
        [organization, "NOT_FOUND"],
      ]) {
        const request = { parent: organization, roleBinding: { identityUid, roleUid: roleUid! } };
        const outcome = await ground.everywhere(owner.token, "RoleBindingsService/CreateRoleBinding", request);
        assert.equal(codeOf(outcome), code);
      }
    });

    it("R7, R9: names that look like a built-in role's are rejected, or have no effect", async () => {
      const create = (name: string) =>
        ground.once(owner.token, "RolesService/CreateRole", {
          parent: organization,
          role: { name, capabilities: ["CAP_IAM_GROUPS_LIST"] },
        });
      for (const name of ["Owner", "owner", "viewer"])
        assert.equal(codeOf(await create(name)), "INVALID_ARGUMENT", name);
      const created = await create("owner ");
      assert.equal(codeOf(created), "OK");
      const { token } = await addCaller(ground.server, organization, String(replyOf(created).uid));
      const { code } = await ground.once(token, "IdentitiesService/ListIdentities", {});
      assert.equal(codeOf({ code, details: [], message: "" }), "PERMISSION_DENIED");
    });

    it("R9: denies changing or deleting a built-in role, even to an operator", async () => {
      for (const token of [owner.token, ground.server.ownerToken]) {
        const update = { role: { uid: viewerRole.uid, description: "changed" } };
        const updated = await ground.everywhere(token, "RolesService/UpdateRole", update);
        const deleted = await ground.everywhere(token, "RolesService/DeleteRole", { uid: viewerRole.uid });
        for (const outcome of [updated, deleted])
          assert.match(codeOf(outcome), /^(PERMISSION_DENIED|FAILED_PRECONDITION)$/);
      }
    });

    it("R10: an organization keeps its last owner", async () => {
      const lonely = await addGroup(ground.server, null, "lonely");
      const last = await addCaller(ground.server, lonely, ownerRole.uid);
      const refusals = [
        await ground.everywhere(last.token, "RoleBindingsService/DeleteRoleBinding", { uid: last.binding }),
        await ground.everywhere(last.token, "IdentitiesService/DeleteIdentity", { uid: last.uid }),
        await ground.everywhere(last.token, "RoleBindingsService/UpdateRoleBinding", {
          roleBinding: { uid: last.binding, roleUid: viewerRole.uid },
        }),
      ];
      assert.deepEqual(refusals.map(codeOf), Array(3).fill("FAILED_PRECONDITION"));
    });

    it("R10: deleting an identity deletes its bindings", async () => {
      const group = await addGroup(ground.server, organization);
      const { uid } = await addCaller(ground.server, group, viewerRole.uid, { home: organization });
      assert.equal(codeOf(await ground.once(owner.token, "IdentitiesService/DeleteIdentity", { uid })), "OK");
      assert.deepEqual(await bindingsAt(group), []);
    });

    it("R10: an organization with nothing but its creator's owner binding can be deleted", async () => {
      const created = replyOf(
        await ground.once(owner.token, "GroupsService/CreateGroup", { group: { name: "brief" } }),
      );
      assert.equal(
        codeOf(await ground.once(owner.token, "GroupsService/DeleteGroup", { uid: String(created.uid) })),
        "OK",
      );
    });

    it("R12: a new resource of the same name has another uid, and old tokens and bindings stay invalid", async () => {
      const group = await addGroup(ground.server, organization, "again");
      const { uid, token } = await addCaller(ground.server, group, viewerRole.uid);
      const remove = async (method: string, removed: string) =>
        assert.equal(codeOf(await ground.once(owner.token, method, { uid: removed })), "OK");
      await remove("IdentitiesService/DeleteIdentity", uid);
      await remove("GroupsService/DeleteGroup", group);
      const again = await addGroup(ground.server, organization, "again");
      const identity = await addIdentity(ground.server, again);
      assert.ok(again !== group && identity !== uid);
      assert.equal(codeOf(await ground.everywhere(token, "GroupsService/GetGroup", { uid: again })), "UNAUTHENTICATED");
      assert.deepEqual(await bindingsAt(again), []);
    });

    it("D9: serves an identity with 200 bindings, and only in their groups", async () => {
      const { uid, token } = await addCaller(ground.server, organization, viewerRole.uid);
      const elsewhere = await addGroup(ground.server, null, "elsewhere");
      for (let i = 0; i < 200; i++)
        await bind(ground.server, await addGroup(ground.server, elsewhere), uid, viewerRole.uid);
      const list = replyOf(
        await ground.everywhere(token, "GroupsService/ListGroups", { uidp: { childrenOf: elsewhere } }),
      );
      assert.equal(list.totalCount, "200");
      assert.equal(codeOf(await ground.once(token, "GroupsService/GetGroup", { uid: elsewhere })), "PERMISSION_DENIED");
    });

    it("D9: groups nest 32 levels deep and no deeper", async () => {
      let parent = await addGroup(ground.server, organization);
      for (let depth = 3; depth <= 32; depth++) {
        parent = String(
          replyOf(await ground.once(owner.token, "GroupsService/CreateGroup", { parent, group: { name: "deep" } })).uid,
        );
      }
      const outcome = await ground.everywhere(owner.token, "GroupsService/CreateGroup", {
        parent,
        group: { name: "deep" },
      });
      assert.equal(codeOf(outcome), "FAILED_PRECONDITION");
    });
  });
}
