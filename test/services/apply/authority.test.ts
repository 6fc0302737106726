// What an apply does not give its caller: each change needs what its single call needs.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Code } from "../../../src/aip/errors.ts";
import { builtInRoles } from "../../../src/authz/built-in-roles.ts";
import { capabilitySet } from "../../../src/model/capabilities.ts";
import { lastChange, readChanges } from "../../../src/storage/change-log/change-log.ts";
import { deleteRow, lockRow } from "../../../src/storage/collection/rows.ts";
import { groupCollection, roleBindingCollection } from "../../../src/storage/iam/collections.ts";
import { findBinding } from "../../../src/storage/iam/role-bindings.ts";
import { type ApiClient, openApiClient } from "../../harness/api-clients.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addIdentity, addRole, arrange, ownerRole, viewerRole } from "../../security/tree.ts";

after(stopPostgres);

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;

for (const database of databases) {
  describe(`the authority of an apply on ${database}`, () => {
    let server: TestServer;
    let client: ApiClient;
    before(async () => {
      server = await startTestServer({ database });
      client = openApiClient("grpc", server.url);
    });
    after(async () => {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });

    /** Returns how many resources have changed; denials are entries of the log, too. */
    async function changedSince(position: number): Promise<number> {
      const changes = await readChanges(server.server.database.session, position, 100);
      return changes.filter(({ kind }) => ["groups", "roles", "identities", "role_bindings"].includes(kind)).length;
    }

    /** Applies, and returns the code and the message. A failed apply must have written nothing. */
    async function applying(token: string, request: JsonObject) {
      const position = await lastChange(server.server.database.session);
      const { code, message } = await client.call(token, "/gatehouse.apply.v1.ApplyService/ApplyResources", request);
      if (code !== Code.OK) assert.equal(await changedSince(position), 0, "something was written");
      return { code, message };
    }

    it("gives no role that its caller does not hold, directly or by a role of the same request", async () => {
      const root = await addGroup(server, null);
      const { uid, token } = await addCaller(server, root, editorRole.uid);
      const self = { identityUid: uid, role: "owner" };
      const role = { name: "all", capabilities: ["groups.list", "role_bindings.create", "groups.delete"] };
      for (const resources of [
        [{ group: { name: "team" } }, { roleBinding: self }],
        [{ role }, { roleBinding: { ...self, role: "all" } }],
      ]) {
        const { code, message } = await applying(token, { groupUid: root, resources });
        assert.equal(code, Code.PERMISSION_DENIED, message);
        assert.match(message, /resources\[\d\]/);
      }
    });

    it("exports no role binding with a term, prunes none, and gives nothing for longer than its caller holds it", async () => {
      const root = await addGroup(server, null);
      const { token } = await addCaller(server, root, ownerRole.uid);
      const timed = await addIdentity(server, root, { name: "timed" });
      const other = await addIdentity(server, root, { name: "other" });
      const terms = "/gatehouse.access.v1.RoleBindingTermsService/CreateRoleBindingTerm";
      const term = { identityUid: timed, roleUid: ownerRole.uid, ttl: "3600s" };
      assert.equal((await client.call(token, terms, { parent: root, term })).code, Code.OK);
      const exported = await client.call(token, "/gatehouse.apply.v1.ApplyService/ExportResources", { groupUid: root });
      assert.equal(exported.code, Code.OK, exported.message);
      assert.ok(!JSON.stringify(exported.response).includes(`"identity":"timed"`));
      const { resources } = exported.response as { resources: JsonObject[] };
      const apply = "/gatehouse.apply.v1.ApplyService/ApplyResources";
      const pruned = await client.call(token, apply, { groupUid: root, resources, prune: true });
      assert.equal(pruned.code, Code.OK, pruned.message);
      assert.match(JSON.stringify(pruned.response), /it has a term/);
      assert.ok(await findBinding(server.server.database.session, root, ownerRole.uid, timed));
      const gift = { roleBinding: { identityUid: other, role: "viewer" } };
      const denied = await applying(await server.tokenOf(timed), { groupUid: root, resources: [gift] });
      assert.equal(denied.code, Code.PERMISSION_DENIED, denied.message);
      assert.match(denied.message, /would last longer than the access of the caller/);
    });

    it("is limited like the token of its caller", async () => {
      const root = await addGroup(server, null);
      const team = await addGroup(server, root);
      const { uid } = await addCaller(server, root, ownerRole.uid);
      const resources = [{ group: { name: "new" } }];
      const narrowed = await server.tokenOf(uid, { scopes: [team] });
      assert.equal((await applying(narrowed, { groupUid: root, resources })).code, Code.PERMISSION_DENIED);
      assert.equal((await applying(narrowed, { groupUid: team, resources })).code, Code.OK);
      const listing = await server.tokenOf(uid, { capabilities: capabilitySet([Capability.CAP_IAM_GROUPS_LIST]) });
      assert.equal((await applying(listing, { groupUid: root, resources })).code, Code.PERMISSION_DENIED);
      assert.equal((await applying(listing, { groupUid: root, resources, planOnly: true })).code, Code.OK);
      const organization = [{ organization: { name: "mine" } }];
      assert.equal((await applying(narrowed, { resources: organization })).code, Code.PERMISSION_DENIED);
    });

    it("needs to list what it compares", async () => {
      const root = await addGroup(server, null);
      const only = await addRole(server, root, [Capability.CAP_IAM_GROUPS_LIST, Capability.CAP_IAM_IDENTITY_CREATE]);
      const { token } = await addCaller(server, root, only);
      const identity = { name: "ci", claimMatch: { issuer: "https://token.example.org", subject: "ci" } };
      const { code, message } = await applying(token, { groupUid: root, resources: [{ identity }], planOnly: true });
      assert.equal(code, Code.PERMISSION_DENIED);
      assert.match(message, /identity\.list/);
    });

    it("neither reads nor changes another organization", async () => {
      const [own, other] = [await addGroup(server, null), await addGroup(server, null)];
      const { token } = await addCaller(server, own, ownerRole.uid);
      const foreign = await addIdentity(server, other);
      const role = await addRole(server, other, [Capability.CAP_IAM_GROUPS_LIST]);
      const resources = [{ group: { name: "new" } }];
      const denied = await applying(token, { groupUid: other, resources, prune: true });
      const missing = await applying(token, { groupUid: "0".repeat(40), resources, prune: true });
      assert.equal(denied.code, Code.PERMISSION_DENIED);
      assert.equal(denied.message.replace(other, "UID"), missing.message.replace("0".repeat(40), "UID"));
      const binding = { identityUid: foreign, role: "viewer" };
      assert.equal(
        (await applying(token, { groupUid: own, resources: [{ roleBinding: binding }] })).code,
        Code.PERMISSION_DENIED,
      );
      const named = { identityUid: server.ownerUid, role };
      assert.equal(
        (await applying(token, { groupUid: own, resources: [{ roleBinding: named }] })).code,
        Code.INVALID_ARGUMENT,
      );
    });

    it("runs once at a time in an organization, and not with roles that ended while it waited", async () => {
      const root = await addGroup(server, null);
      const callers = [await addCaller(server, root, ownerRole.uid), await addCaller(server, root, ownerRole.uid)];
      const held = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const revocation = arrange(server, async (tx) => {
        await lockRow(tx, groupCollection, root);
        held.resolve();
        await released.promise;
        for (const { uid } of callers)
          await deleteRow(tx, roleBindingCollection, (await findBinding(tx, root, ownerRole.uid, uid))!);
      });
      await held.promise;
      const resources = [{ group: { name: "new" } }];
      const method = "/gatehouse.apply.v1.ApplyService/ApplyResources";
      // The expensive calls of one caller wait for each other.
      const both = callers.map(({ token }) => client.call(token, method, { groupUid: root, resources }));
      const refused = await Promise.race(both);
      assert.equal(refused.code, Code.ABORTED);
      assert.match(refused.message, /another request changes this organization/);
      released.resolve();
      await revocation;
      const [waited] = (await Promise.all(both)).filter((each) => each !== refused);
      assert.equal(waited!.code, Code.ABORTED);
      assert.match(waited!.message, /roles of the caller changed/);
    });

    it("renames no organization, and deletes a subtree only with every capability for it", async () => {
      const root = await addGroup(server, null);
      const team = await addGroup(server, root);
      const owner = await addCaller(server, root, ownerRole.uid);
      await addCaller(server, root, viewerRole.uid);
      const pruning = { groupUid: root, prune: true, pruneKinds: ["SPEC_KIND_ROLE_BINDING"] };
      const renaming = { ...pruning, resources: [{ organization: { name: "another name" } }] };
      assert.equal((await applying(owner.token, renaming)).code, Code.INVALID_ARGUMENT);
      const editor = await addCaller(server, team, editorRole.uid);
      await addIdentity(server, team);
      const destroy = "/gatehouse.apply.v1.ApplyService/DestroySubtree";
      assert.equal((await client.call(editor.token, destroy, { groupUid: team })).code, Code.PERMISSION_DENIED);
      assert.equal((await client.call(owner.token, destroy, { groupUid: team })).code, Code.OK);
    });
  });
}
