// R, I: what identities of elsewhere, of subgroups, and of others may be made to do.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Narrowing } from "../../src/authn/caller.ts";
import { capabilitySet } from "../../src/model/capabilities.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addCaller, addGroup, addIdentity, bind, operatorRole, ownerRole, viewerRole } from "./tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`identities on ${database}`, () => {
    let ground: Ground;
    /** An organization with its owner, apart from that of the operator. */
    let organization: string;
    let owner: { readonly uid: string; readonly token: string };
    before(async () => {
      ground = await openGround({ database });
      organization = await addGroup(ground.server, null, "acme");
      owner = await addCaller(ground.server, organization, ownerRole.uid);
    });
    after(() => ground[Symbol.asyncDispose]());

    it("R2: an owner cannot take over an operator; a caller who may list bindings learns the missing capabilities", async () => {
      const { uid } = await addCaller(ground.server, organization, operatorRole.uid);
      const claimMatch = { issuer: "https://issuer.example.org", subject: "me" };
      const request = { identity: { uid, claimMatch }, updateMask: "claimMatch" };
      const refused = await ground.everywhere(owner.token, "IdentitiesService/UpdateIdentity", request);
      assert.equal(codeOf(refused), "PERMISSION_DENIED");
      assert.ok(refused.message.includes(`at ${organization}: internal`), refused.message);
    });

    it("R2, X3: a narrowed token cannot change the relationship of an identity that holds more, including its own", async () => {
      const viewer = await addCaller(ground.server, organization, viewerRole.uid);
      const inner = await addGroup(ground.server, organization);
      const below = await addCaller(ground.server, organization, ownerRole.uid, { home: inner });
      const few = capabilitySet([Capability.CAP_IAM_IDENTITY_UPDATE]);
      const claimMatch = { issuer: "https://issuer.example.org", subject: "me" };
      const change = async (narrowing: Narrowing, uid: string) => {
        const token = await ground.server.tokenOf(owner.uid, narrowing);
        return codeOf(await ground.once(token, "IdentitiesService/UpdateIdentity", { identity: { uid, claimMatch } }));
      };
      for (const uid of [owner.uid, viewer.uid]) {
        assert.equal(await change({ capabilities: few }, uid), "PERMISSION_DENIED");
      }
      assert.equal(await change({ capabilities: few }, await addIdentity(ground.server, organization)), "OK");
      assert.equal(await change({ scopes: [inner] }, below.uid), "OK");
      const scoped = await addIdentity(ground.server, organization);
      await bind(ground.server, inner, scoped, viewerRole.uid);
      assert.equal(await change({ scopes: [scoped] }, scoped), "PERMISSION_DENIED");
      assert.equal(await change({}, scoped), "OK");
    });

    it("R10: an identity that is confined to a subgroup is not an owner of the organization", async () => {
      const root = await addGroup(ground.server, null, "guarded");
      const last = await addCaller(ground.server, root, ownerRole.uid);
      const home = await addGroup(ground.server, root);
      const confined = await addCaller(ground.server, root, ownerRole.uid, { home });
      const handedOn = { roleBinding: { uid: last.binding, identityUid: await addIdentity(ground.server, home) } };
      const refusals = [
        await ground.everywhere(last.token, "IdentitiesService/DeleteIdentity", { uid: last.uid }),
        await ground.everywhere(last.token, "RoleBindingsService/UpdateRoleBinding", handedOn),
      ];
      assert.deepEqual(refusals.map(codeOf), Array(2).fill("FAILED_PRECONDITION"));
      const removal = { uid: confined.binding };
      assert.equal(codeOf(await ground.once(last.token, "RoleBindingsService/DeleteRoleBinding", removal)), "OK");
    });

    it("a token shows only grants in the group of its identity", async () => {
      const home = await addGroup(ground.server, organization);
      const below = await addGroup(ground.server, home);
      const sibling = await addGroup(ground.server, organization);
      const { uid, token } = await addCaller(ground.server, organization, ownerRole.uid, { home });
      for (const group of [below, sibling]) await bind(ground.server, group, uid, viewerRole.uid);
      const request = { aud: [ground.server.config.baseUrl], identity: uid };
      const exchanged = replyOf(await ground.once(token, "SecurityTokenService/Exchange", request));
      const [, payload] = String(exchanged.token).split(".");
      const { cap } = JSON.parse(Buffer.from(payload!, "base64url").toString()) as { cap: JsonObject };
      assert.deepEqual(Object.keys(cap).sort(), [home, below].sort());
    });

    it("I7: denies binding an identity of another organization that the caller cannot read, whether it exists or not", async () => {
      const { groupUid } = ground.server;
      const missing = `${groupUid}/${"f".repeat(16)}`;
      const { binding } = await addCaller(ground.server, organization, viewerRole.uid);
      const messages: string[] = [];
      for (const identityUid of [await addIdentity(ground.server, groupUid), missing]) {
        const roleBinding = { identityUid, roleUid: viewerRole.uid };
        const requests: readonly [method: string, request: JsonObject][] = [
          ["CreateRoleBinding", { parent: organization, roleBinding }],
          ["BatchCreateRoleBindings", { parent: organization, requests: [{ roleBinding }] }],
          ["UpdateRoleBinding", { roleBinding: { uid: binding, identityUid } }],
        ];
        for (const [method, request] of requests) {
          const outcome = await ground.everywhere(owner.token, `RoleBindingsService/${method}`, request);
          assert.equal(codeOf(outcome), "PERMISSION_DENIED");
          messages.push(outcome.message.replaceAll(identityUid, ""));
        }
      }
      assert.equal(new Set(messages).size, 1);
    });

    it("a caller who can read it may bind it, and others may then change its role", async () => {
      const home = await addGroup(ground.server, null, "home");
      const identityUid = await addIdentity(ground.server, home);
      const partner = await addCaller(ground.server, organization, ownerRole.uid);
      await bind(ground.server, home, partner.uid, viewerRole.uid);
      const request = { parent: organization, roleBinding: { identityUid, roleUid: viewerRole.uid } };
      const bound = replyOf(await ground.once(partner.token, "RoleBindingsService/CreateRoleBinding", request));
      const change = { roleBinding: { uid: String(bound.uid), roleUid: ownerRole.uid } };
      assert.equal(codeOf(await ground.once(owner.token, "RoleBindingsService/UpdateRoleBinding", change)), "OK");
    });

    it("R10: an identity cannot be deleted while it is the last owner of another organization", async () => {
      const elsewhere = await addGroup(ground.server, null, "elsewhere");
      const { uid } = await addCaller(ground.server, elsewhere, ownerRole.uid, { home: organization });
      const deletion = await ground.once(owner.token, "IdentitiesService/DeleteIdentity", { uid });
      assert.equal(codeOf(deletion), "FAILED_PRECONDITION");
    });
  });
}
