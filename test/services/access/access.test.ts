// Tests of access explanations: their contents, and who may ask for them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { capabilitySet } from "../../../src/model/capabilities.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addRole, bind, ownerRole, viewerRole } from "../../security/tree.ts";

describe("L4: the explanation of access", () => {
  let server: TestServer;
  let root: string;
  let folder: string;
  let admin: { uid: string; token: string };
  let member: { uid: string; token: string };
  before(async () => {
    server = await startTestServer();
    root = await addGroup(server, null);
    folder = await addGroup(server, root);
    member = await addCaller(server, root, ownerRole.uid);
    admin = await addCaller(server, folder, ownerRole.uid);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
  });

  async function explain(token: string, group: string, capability: string, identity = "") {
    const query = new URLSearchParams({ group, capability, identity });
    return await rest(server.url, token, "GET", `/access/v1/explain?${query}`);
  }

  it("shows the administrator of a folder that a binding on an ancestor applies, but not its role", async () => {
    const { body } = await explain(admin.token, folder, "groups.delete", member.uid);
    assert.deepEqual([body.granted, body.reason], [true, "ACCESS_REASON_GRANTED"]);
    assert.deepEqual(body.granting, [{ groupUid: root }]);
  });

  it("shows the administrator of the organization the role, too", async () => {
    const { body } = await explain(member.token, folder, "groups.delete", admin.uid);
    assert.equal(body.granting[0].groupUid, folder);
    assert.equal(body.granting[0].roleName, "owner");
    assert.ok(body.granting[0].roleBindingUid.startsWith(`${folder}/`));
  });

  it("is denied for identities of another organization, whether or not they exist", async () => {
    const denials = await Promise.all(
      [server.ownerUid, `${server.groupUid}/${"f".repeat(16)}`].map((uid) =>
        explain(member.token, server.groupUid, "groups.list", uid),
      ),
    );
    for (const { status } of denials) assert.equal(status, 403);
    assert.deepEqual(denials[0]?.body, denials[1]?.body);
  });

  it("a group of another organization looks like one that does not exist", async () => {
    const [foreign, absent] = await Promise.all(
      [server.groupUid, "f".repeat(40)].map((group) => explain(member.token, group, "groups.list")),
    );
    assert.deepEqual(foreign?.body, absent?.body);
    assert.deepEqual([foreign?.body.granted, foreign?.body.granting], [false, []]);
  });

  it("a narrowed token reveals nothing else that its identity holds", async () => {
    const scoped = await server.tokenOf(member.uid, { scopes: [folder] });
    const beyond = await explain(scoped, root, "groups.list");
    assert.deepEqual([beyond.body.reason, beyond.body.granting], ["ACCESS_REASON_TOKEN_NARROWED", []]);
    assert.equal((await explain(scoped, folder, "groups.list")).body.granted, true);
    const few = { capabilities: capabilitySet([Capability.CAP_IAM_GROUPS_LIST]) };
    const narrowed = await server.tokenOf(member.uid, few);
    assert.equal((await explain(narrowed, folder, "groups.delete")).body.reason, "ACCESS_REASON_TOKEN_NARROWED");
    assert.equal((await explain(narrowed, folder, "groups.list")).body.granted, true);
  });

  it("is what the service itself decides, capability by capability", async () => {
    const role = await addRole(server, root, [Capability.CAP_REPO_LIST]);
    const reader = await addCaller(server, folder, role);
    await bind(server, root, reader.uid, viewerRole.uid);
    const cases: [capability: string, path: string][] = [
      ["groups.list", `/iam/v2beta1/groups/${folder}`],
      ["identity.list", `/iam/v2beta1/identities/${admin.uid}`],
      ["role_bindings.list", `/iam/v2beta1/groups/${"e".repeat(40)}`],
    ];
    for (const [capability, path] of cases) {
      const place = path.split("/").slice(4).join("/");
      const { body } = await explain(reader.token, place, capability);
      assert.equal(body.granted, (await rest(server.url, reader.token, "GET", path)).status === 200, capability);
    }
    const { body } = await explain(reader.token, folder, "repo.list");
    assert.deepEqual(body.granting.map(({ groupUid }: { groupUid: string }) => groupUid).sort(), [folder, root].sort());
  });

  it("lists the roles of an identity in one organization only, as far as the caller may list them", async () => {
    const other = await addGroup(server, null);
    const { uid, token } = member;
    const elsewhere = await bind(server, other, uid, viewerRole.uid);
    const inFolder = await bind(server, folder, uid, viewerRole.uid);
    const listed = async (as: string, query: string) => {
      const { status, body } = await rest(server.url, as, "GET", `/access/v1/whatCan?${query}`);
      assert.equal(status, 200);
      const roles = body.roles as { binding: { roleBindingUid?: string; groupUid: string } }[];
      assert.equal(Number(body.totalCount), roles.length);
      return roles.map(({ binding }) => binding.roleBindingUid ?? `hidden at ${binding.groupUid}`).sort();
    };
    assert.ok((await listed(token, "")).includes(elsewhere));
    assert.deepEqual(await listed(token, `group=${other}`), [elsewhere]);
    assert.equal((await listed(token, `group=${root}`)).length, 2);
    assert.deepEqual(await listed(admin.token, `identity=${uid}&group=${folder}`), [inFolder, `hidden at ${root}`]);
    assert.deepEqual(await listed(admin.token, `identity=${uid}&group=${other}`), []);
  });
});
