// Security case I6: a response names nothing that its caller may not read: only its uid is shown.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { hydrate } from "../../src/services/iam/role-bindings/hydration.ts";
import { findRow } from "../../src/storage/collection/rows.ts";
import { roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, addIdentity, addRole, arrange, bind, ownerRole, viewerRole } from "./tree.ts";

describe("I6: a response", () => {
  let server: TestServer;
  let root: string;
  let folder: string;
  let hidden: string;
  let role: string;
  let owner: { uid: string; token: string };

  before(async () => {
    server = await startTestServer();
    root = await addGroup(server, null, "organization");
    folder = await addGroup(server, root, "folder");
    const sibling = await addGroup(server, root, "sibling");
    hidden = await addIdentity(server, sibling, { name: "canary-name", description: "canary-text", email: "canary@x" });
    role = await addRole(server, root, [Capability.CAP_IAM_GROUPS_LIST]);
    owner = await addCaller(server, folder, ownerRole.uid);
  });
  after(() => server[Symbol.asyncDispose]());

  const send = async (token: string, method: string, path: string, body?: object) => {
    const reply = await rest(server.url, token, method, path, body);
    assert.equal(reply.status, 200, `${path}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const read = (token: string, path: string) => send(token, "GET", path);

  it("shows only the uid of a sibling's identity that the owner of a subgroup binds", async () => {
    const made = await send(owner.token, "POST", `/iam/v2beta1/roleBindings/${folder}`, {
      identityUid: hidden,
      roleUid: viewerRole.uid,
    });
    assert.deepEqual(
      Object.entries(made.identity).filter(([, value]) => value !== ""),
      [["uid", hidden]],
    );
    assert.equal(made.role.name, "viewer");
    const paths = [
      `/iam/v2beta1/roleBindings/${made.uid}`,
      `/iam/v2beta1/roleBindings?uidp.childrenOf=${folder}`,
      `/iam/v1/rolebindings?uidp.children_of=${folder}`,
      `/access/v1/groups/${folder}:whoCan?show_confined=true`,
      `/gatehouse/organizations/v1/findings?parent=${folder}`,
      `/gatehouse/changes/v1/changes?parent=${folder}`,
    ];
    for (const path of paths) {
      const { status, body } = await rest(server.url, owner.token, "GET", path);

      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      assert.doesNotMatch(JSON.stringify(body), /canary/, path);
    }
    // A caller who may read the identity sees it.
    const above = await addCaller(server, root, ownerRole.uid);
    const seen = await read(above.token, `/iam/v2beta1/roleBindings/${made.uid}`);
    assert.equal(seen.identity.name, "canary-name");
  });

  it("shows only the uid of a custom role above, in role bindings and invites", async () => {
    const above = await addCaller(server, root, ownerRole.uid);
    await send(above.token, "PATCH", `/iam/v2beta1/roles/${role}`, { name: "canary-role" });
    const binding = await bind(server, folder, owner.uid, viewerRole.uid);
    const other = await bind(server, folder, hidden, role);
    assert.ok(binding);
    const invite = await send(above.token, "POST", `/iam/v2beta1/groupInvites/${folder}`, {
      roleUid: role,
      ttl: "3600s",
      email: "friend@example.org",
    });
    for (const path of [`roleBindings/${other}`, `groupInvites/${invite.uid}`, "roleBindings", "groupInvites"]) {
      const body = await read(owner.token, `/iam/v2beta1/${path}`);
      assert.doesNotMatch(JSON.stringify(body), /canary/, path);
      assert.match(JSON.stringify(body), new RegExp(role), path);
    }
    assert.match(JSON.stringify(await read(above.token, `/iam/v2beta1/roleBindings/${other}`)), /canary-role/);
  });

  it("shows only the uid of a group to a caller who may list its role bindings, but not the group", async () => {
    const lister = await addRole(server, root, [Capability.CAP_IAM_ROLE_BINDINGS_LIST]);
    const place = await addGroup(server, root, "canary-group");
    const caller = await addCaller(server, place, lister);
    const other = await bind(server, place, hidden, viewerRole.uid);
    for (const path of ["/iam/v1/rolebindings", "/iam/v2beta1/roleBindings"]) {
      const body = await read(caller.token, path);
      assert.match(JSON.stringify(body), new RegExp(other));
      assert.doesNotMatch(JSON.stringify(body), /canary/, path);
    }
  });

  it("an event shows only data that callers in the group of the binding can read", async () => {
    const local = await addIdentity(server, folder, { name: "local" });
    const [one, two] = [await bind(server, folder, hidden, ownerRole.uid), await bind(server, folder, local, role)];
    const shown = await arrange(server, async (tx) => {
      const rows = [await findRow(tx, roleBindingCollection, one), await findRow(tx, roleBindingCollection, two)];
      return await hydrate(
        tx,
        rows.map((row) => row!),
      );
    });
    assert.doesNotMatch(JSON.stringify(shown.map(({ identity }) => identity)), /canary/);
    assert.equal(shown[1]!.identity!.name, "local");
    assert.deepEqual(shown[1]!.role, { uid: role });
  });
});
