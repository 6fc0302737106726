// Security case I6: errors, page tokens, orders and names of other kinds tell nothing of what the caller may not read.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { keyPair, keySetText } from "../sts/outside.ts";
import { addCaller, addGroup, addIdentity, addRole, bind, ownerRole, viewerRole } from "./tree.ts";

describe("I6: a caller who may not read a role", () => {
  let server: TestServer;
  let root: string;
  let folder: string;
  let role: string;
  let asOwner: (method: string, path: string, body?: object) => Promise<ReturnType<typeof JSON.parse>>;

  before(async () => {
    server = await startTestServer();
    root = await addGroup(server, null, "organization");
    folder = await addGroup(server, root, "folder");
    role = await addRole(server, root, [Capability.CAP_IAM_GROUPS_DELETE]);
    const { token } = await addCaller(server, root, ownerRole.uid);
    asOwner = async (method, path, body) => {
      const { status, body: received } = await rest(server.url, token, method, path, body);
      assert.equal(status, 200, `${path}: ${JSON.stringify(received)}`);
      return received;
    };
    await asOwner("PATCH", `/iam/v2beta1/roles/${role}`, { name: "canary-role" });
  });
  after(() => server[Symbol.asyncDispose]());

  /** Adds a caller with these capabilities at the folder. */
  const callerWith = async (...capabilities: readonly Capability[]) =>
    await addCaller(server, folder, await addRole(server, folder, capabilities));

  const grants: readonly (readonly [path: string, request: (uid: string) => object])[] = [
    ["roleBindings", (roleUid) => ({ identityUid: server.ownerUid, roleUid })],
    ["groupInvites", (roleUid) => ({ roleUid, ttl: "3600s" })],
  ];
  for (const [path, request] of grants)
    it(`learns its name and capabilities from no denied ${path}`, async () => {
      const [bindings, invites] = [Capability.CAP_IAM_ROLE_BINDINGS_CREATE, Capability.CAP_IAM_GROUP_INVITES_CREATE];
      const grant = async (...more: readonly Capability[]) => {
        const { token } = await callerWith(bindings, invites, ...more);
        const identityUid = await addIdentity(server, folder);
        const body = { ...request(role), ...(path === "roleBindings" && { identityUid }) };
        const denied = await rest(server.url, token, "POST", `/iam/v2beta1/${path}/${folder}`, body);
        assert.equal(denied.status, 403, JSON.stringify(denied.body));
        return JSON.stringify(denied.body);
      };
      const denied = await grant();
      assert.doesNotMatch(denied, /canary|groups\.delete/);
      assert.match(denied, new RegExp(`role ${role} would grant capabilities that the caller does not hold`));
      // A caller who may list the roles above learns the missing capabilities.
      const reader = await addRole(server, root, [Capability.CAP_IAM_ROLES_LIST, bindings, invites]);
      const { token } = await addCaller(server, root, reader);
      const body = {
        ...request(role),
        ...(path === "roleBindings" && { identityUid: await addIdentity(server, folder) }),
      };
      const told = await rest(server.url, token, "POST", `/iam/v2beta1/${path}/${folder}`, body);
      assert.equal(told.status, 403);
      assert.match(told.body.message, /role canary-role would grant .*: groups\.delete$/);
    });

  for (const path of ["roleBindings", "groupInvites"])
    it(`finds its name neither in the page tokens nor in the order of ${path}`, async () => {
      const place = await addGroup(server, folder, path);
      const { token } = await addCaller(server, place, ownerRole.uid);
      const others = [viewerRole.uid, ownerRole.uid, role, await addRole(server, place, [Capability.CAP_REPO_LIST])];
      for (const roleUid of others)
        if (path === "roleBindings") await bind(server, place, await addIdentity(server, place), roleUid);
        else await asOwner("POST", `/iam/v2beta1/groupInvites/${place}`, { roleUid, ttl: "3600s" });
      const list = async (orderBy: string) => {
        const roles: string[] = [];
        for (let next = ""; ; ) {
          const query = new URLSearchParams({ order_by: orderBy, page_size: "1", page_token: next });
          const { status, body } = await rest(server.url, token, "GET", `/iam/v2beta1/${path}?${query}`);
          assert.equal(status, 200, JSON.stringify(body));
          roles.push(
            ...body[path].map((one: { role?: { uid: string }; roleUid?: string }) => one.role?.uid ?? one.roleUid),
          );
          next = body.nextPageToken ?? "";
          if (next === "") return roles;
          assert.doesNotMatch(Buffer.from(next, "base64url").toString(), /canary|zebra/);
        }
      };
      const listed = await list("name");
      assert.equal(listed[0], role, "it has no place among the names");
      assert.deepEqual([...new Set(listed)].sort(), [...new Set(others)].sort());
      assert.deepEqual((await list("name desc")).toReversed(), listed);
      await asOwner("PATCH", `/iam/v2beta1/roles/${role}`, { name: "zebra" });
      assert.deepEqual(await list("name"), listed);
      await asOwner("PATCH", `/iam/v2beta1/roles/${role}`, { name: "canary-role" });
    });
});

describe("I6: the response to", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  it("an owner who cannot confirm static keys names no group of another organization in which their identity holds roles", async () => {
    const [own, other] = [await addGroup(server, null, "own"), await addGroup(server, null, "other")];
    const { token } = await addCaller(server, own, ownerRole.uid);
    const keys = keySetText(keyPair("ES256", "a"));
    const staticKeys = { issuer: "https://keys.example.org", subject: "bot", issuerKeys: keys };
    const made = await rest(server.url, token, "POST", `/iam/v2beta1/identities/${own}`, { name: "bot", staticKeys });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const hidden = await addGroup(server, other, "hidden");
    await bind(server, hidden, made.body.uid, viewerRole.uid);
    const path = `/gatehouse/iam/v1/delegations/${made.body.uid}:confirm`;

    const { status, body } = await rest(server.url, token, "POST", path, {});

    assert.equal(status, 403, JSON.stringify(body));
    assert.match(body.message, /confirming the delegation would grant capabilities that the caller does not hold/);
    const isTold = new RegExp(`${other}|groups\\.list`);
    assert.doesNotMatch(JSON.stringify(body), isTold);
    // It is not in force, and the lists say so without what it gives elsewhere.
    for (const list of ["iam/v1/delegations", "organizations/v1/findings"]) {
      const listed = await rest(server.url, token, "GET", `/gatehouse/${list}?parent=${own}`);
      assert.match(JSON.stringify(listed.body), /MAKER_LACKS_CAPABILITIES/);
      assert.doesNotMatch(JSON.stringify(listed.body), isTold);
    }
  });

  it("a caller in a subgroup who asks for the registry's name of a repo has the uid of an organization that they may not list", async () => {
    const path = `/iam/v2beta1/groups/${server.groupUid}`;
    const verified = { name: "example.org", verified: true, kind: "ORG_KIND_CUSTOMER" };
    const { status } = await rest(server.url, server.ownerToken, "PATCH", path, verified);
    assert.equal(status, 200);
    const folder = await addGroup(server, server.groupUid, "folder");
    const repo = await rest(server.url, server.ownerToken, "POST", `/registry/v2beta1/repos/${folder}`, {
      name: "redis",
    });
    assert.equal(repo.status, 200, JSON.stringify(repo.body));
    const { token } = await addCaller(server, folder, viewerRole.uid);
    const nameFor = async (caller: string) =>
      (await rest(server.url, caller, "GET", `/gatehouse/registry/v1/repositories/${repo.body.uid}`)).body.name;

    assert.equal(await nameFor(token), `${server.groupUid}/folder/redis`);
    assert.equal(await nameFor(server.ownerToken), "example.org/folder/redis");
  });
});
