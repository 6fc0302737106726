// Removing a person from an organization in one call: what is lost, who may do it, and that nothing is lost otherwise.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { isMember } from "../../../src/storage/iam/memberships.ts";
import { insertProviderMember } from "../../../src/storage/iam/providers.ts";
import { insertScimUser, type ScimUserRow } from "../../../src/storage/iam/scim-users.ts";
import { insertRefreshFamily, listRefreshFamilies } from "../../../src/storage/sign-in/sign-ins.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addMapping, addProvider } from "../../security/provider-tree.ts";
import {
  addCaller,
  addGroup,
  addIdentity,
  addPerson,
  addRole,
  arrange,
  bind,
  bindAll,
  ownerRole,
  viewerRole,
} from "../../security/tree.ts";

const iam = "/iam/v2beta1";
let people = 0;

after(stopPostgres);

for (const database of databases) {
  describe(`removing a person from an organization (${database})`, () => {
    let server: TestServer;
    let root: string;
    let folder: string;
    let inner: string;
    let owner: { uid: string; token: string };
    let other: { uid: string; token: string; group: string };
    /** A person who has joined, with a role at the organization and two in subgroups. */
    let ana: string;
    let anaToken: string;

    before(async () => {
      server = await startTestServer({ database });
      root = await addGroup(server, null, "example.org");
      folder = await addGroup(server, root, "folder");
      inner = await addGroup(server, folder, "inner");
      owner = await addCaller(server, root, ownerRole.uid);
      const group = await addGroup(server, null, "other");
      other = { group, ...(await addCaller(server, group, ownerRole.uid)) };
    });
    after(() => server[Symbol.asyncDispose]());
    beforeEach(async () => {
      ana = await addPerson(server, `ana ${people++}`, "ana@example.org", root);
      anaToken = await server.tokenOf(ana);
      await bind(server, root, ana, viewerRole.uid);
      await bind(server, folder, ana, ownerRole.uid);
      await bind(server, inner, ana, viewerRole.uid);
    });

    const send = (request: object, token = owner.token) =>
      rest(server.url, token, "POST", "/gatehouse/iam/v1/memberships:remove", {
        organization: root,
        identity: ana,
        ...request,
      });

    async function remove(request: object = {}, token = owner.token) {
      const { status, body } = await send(request, token);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    }

    const bindingsOf = async (identity = ana) =>
      (await rest(server.url, owner.token, "GET", `${iam}/roleBindings?identity=${identity}`)).body.roleBindings;

    async function requireUntouched(count = 3): Promise<void> {
      assert.equal((await bindingsOf()).length, count);
      assert.ok(await isMember(server.server.database.session, { identityUid: ana, groupUid: root }));
    }

    const infoOf = (body: { details: { reason?: string; metadata?: Record<string, string> }[] }) =>
      body.details.find(({ reason }) => reason !== undefined)!;
    const violationOf = (body: { details: { violations?: { type: string }[] }[] }) =>
      body.details.find(({ violations }) => violations)?.violations?.[0]?.type;

    it("all role bindings and the membership are deleted, and the token of the person is denied at once", async () => {
      const groupsOf = () => rest(server.url, anaToken, "GET", `${iam}/groups/${inner}`);
      assert.equal((await groupsOf()).status, 200);
      const body = await remove();
      assert.equal((await groupsOf()).status, 403);
      assert.equal(body.roleBindingCount, 3);
      assert.deepEqual(await bindingsOf(), []);
      assert.equal(await isMember(server.server.database.session, { identityUid: ana, groupUid: root }), false);
      const search = await rest(
        server.url,
        owner.token,
        "GET",
        `/gatehouse/search/v1/resources?parent=${root}&query=ana`,
      );
      assert.ok(!JSON.stringify(search.body).includes(ana), "a search does not find who has left");
    });

    it("a validation says what would be lost, and changes nothing", async () => {
      const body = await remove({ validateOnly: true });
      const shown = body.roleBindings.map(({ group, role }: Record<string, { name: string }>) => [
        group!.name,
        role!.name,
      ]);
      assert.deepEqual(shown.sort(), [
        ["example.org", "viewer"],
        ["folder", "owner"],
        ["inner", "viewer"],
      ]);
      assert.deepEqual(body.ownerlessGroupUids, [folder]);
      assert.ok(body.etag);
      await requireUntouched();
    });

    it("a group with another owner keeps one, and is not named", async () => {
      await bind(server, folder, await addIdentity(server, folder), ownerRole.uid);
      const { ownerlessGroupUids = [] } = await remove({ validateOnly: true });
      assert.deepEqual(ownerlessGroupUids, []);
    });

    it("a role binding created or deleted since the validation is ABORTED, and nothing is gone", async () => {
      const { etag } = await remove({ validateOnly: true });
      const made = await bind(server, inner, ana, ownerRole.uid);
      const late = await send({ etag });
      assert.equal(late.status, 409);
      assert.match(late.body.message, /^Aborted: the etag is not that of the current role bindings/);
      await requireUntouched(4);
      await rest(server.url, owner.token, "DELETE", `${iam}/roleBindings/${made}`);
      assert.equal((await remove({ etag })).etag, etag);
    });

    it("a role binding created during the removal is ABORTED, or made after it", async () => {
      for (let round = 0; round < 10; round++) {
        const leaver = await addPerson(server, `leaver ${people++}`, "leaver@example.org", root);
        for (const group of [root, folder]) await bind(server, group, leaver, viewerRole.uid);
        const { etag } = await remove({ identity: leaver, validateOnly: true });
        const binding = { identityUid: leaver, roleUid: viewerRole.uid };
        const [removed, made] = await Promise.all([
          send({ identity: leaver, etag }),
          rest(server.url, owner.token, "POST", `${iam}/roleBindings/${inner}`, binding),
        ]);
        assert.equal(made.status, 200, JSON.stringify(made.body));
        const left = (await bindingsOf(leaver)).length;
        assert.equal(left, removed.status === 200 ? 1 : 3, JSON.stringify(removed.body));
        assert.ok(removed.status === 200 || removed.status === 409);
      }
    });

    it("delegations of the person that are not in force any more are listed", async () => {
      const invite = await rest(server.url, anaToken, "POST", `${iam}/groupInvites/${folder}`, {
        roleUid: viewerRole.uid,
        ttl: "3600s",
      });
      assert.equal(invite.status, 200, JSON.stringify(invite.body));
      const { delegations } = await remove({ validateOnly: true });
      assert.deepEqual(
        delegations.map(({ uid, kind, inactivity }: Record<string, string>) => [uid, kind, inactivity]),
        [[invite.body.uid, "DELEGATION_KIND_GROUP_INVITE", "INACTIVITY_REASON_MAKER_LACKS_CAPABILITIES"]],
      );
    });

    it("a caller who may not delete one of the role bindings learns their number, and no place that they cannot list", async () => {
      const deletes = [Capability.CAP_IAM_ROLE_BINDINGS_DELETE, Capability.CAP_IAM_ROLE_BINDINGS_LIST];
      const role = await addRole(server, root, deletes);
      const ofFolder = await addCaller(server, folder, role, { home: root });
      for (const validateOnly of [true, false]) {
        const { status, body } = await send({ validateOnly }, ofFolder.token);
        assert.equal(status, 403);
        const { reason, metadata } = infoOf(body);
        assert.deepEqual(
          [reason, metadata],
          ["MISSING_CAPABILITY", { capability: "role_bindings.delete", role_bindings: "1" }],
        );
      }
      const lists = await addRole(server, root, [Capability.CAP_IAM_ROLE_BINDINGS_LIST]);
      await bind(server, root, ofFolder.uid, lists);
      const { metadata } = infoOf((await send({}, ofFolder.token)).body);
      assert.equal(metadata?.scope, root);
      await requireUntouched();
    });

    it("a caller who may delete and not list is told the number of role bindings alone", async () => {
      const blind = await addCaller(
        server,
        root,
        await addRole(server, root, [Capability.CAP_IAM_ROLE_BINDINGS_DELETE]),
      );
      const body = await remove({}, blind.token);
      assert.deepEqual([body.roleBindingCount, body.roleBindings ?? [], body.ownerlessGroupUids ?? []], [3, [], []]);
    });

    it("a stranger learns nothing about a person of another organization", async () => {
      const nobody = await addPerson(server, "nobody", "nobody@example.org", undefined);
      const texts: string[] = [];
      for (const identity of [ana, nobody]) {
        const { status, body } = await send({ identity }, other.token);
        assert.equal(status, 403);
        const { requestId: _, ...shown } = infoOf(body).metadata ?? {};
        texts.push(JSON.stringify([body.message, infoOf(body).reason, shown]));
      }
      assert.equal(texts[0], texts[1]);
      await requireUntouched();
    });

    it("the last owner stays", async () => {
      const home = await addGroup(server, null, "owned");
      const deletes = await addRole(server, home, [Capability.CAP_IAM_ROLE_BINDINGS_DELETE]);
      const admin = await addCaller(server, home, deletes);
      const last = await addPerson(server, "last", "last@example.org", home);
      await bind(server, home, last, viewerRole.uid);
      await bind(server, home, last, ownerRole.uid);
      for (const validateOnly of [true, false]) {
        const { status, body } = await send({ organization: home, identity: last, validateOnly }, admin.token);
        assert.deepEqual([status, violationOf(body)], [400, "LAST_OWNER"]);
      }
      const held = await rest(server.url, await server.tokenOf(last), "GET", `${iam}/roleBindings?identity=${last}`);
      assert.equal(held.body.roleBindings.length, 2);
    });

    it("who has not joined loses the role bindings, and a pending user without any is deleted", async () => {
      const guest = await addPerson(server, "guest", "guest@secret.example", undefined);
      await bind(server, inner, guest, viewerRole.uid);
      const body = await remove({ identity: guest });
      assert.equal(body.roleBindingCount, 1);
      assert.ok(!JSON.stringify(body).includes("secret"), "the name of who has not joined stays unknown");
      assert.deepEqual(await bindingsOf(guest), []);
    });

    it("who is not in the organization is NOT_FOUND, and workloads are not people", async () => {
      assert.equal((await send({ identity: await addPerson(server, "x", "x@example.org", undefined) })).status, 404);
      for (const request of [{ identity: await addIdentity(server, root) }, { organization: folder }]) {
        const { status, body } = await send(request);
        assert.equal(status, 400, JSON.stringify(body));
      }
    });

    it("a member without role bindings is removed by callers who may delete role bindings in the whole organization", async () => {
      const idle = await addPerson(server, "idle", "idle@example.org", root);
      const role = await addRole(server, root, [Capability.CAP_IAM_ROLE_BINDINGS_DELETE]);
      const ofFolder = await addCaller(server, folder, role);
      assert.equal((await send({ identity: idle }, ofFolder.token)).status, 403);
      assert.equal((await remove({ identity: idle })).roleBindingCount ?? 0, 0);
      assert.equal((await send({ identity: idle })).status, 404);
    });

    it("role bindings in other organizations stay", async () => {
      await bind(server, other.group, ana, viewerRole.uid);
      await remove();
      const left = await rest(server.url, other.token, "GET", `${iam}/roleBindings?identity=${ana}`);
      assert.equal(left.body.roleBindings.length, 1);
    });

    /** Adds a session of the person by an identity provider; by the operator's if it is empty. */
    const addSession = (provider: string) =>
      arrange(server, async (tx) => {
        const { time } = tx.context;
        const signIn = { act: { iss: "", sub: "", aud: "" }, provider, audience: [] };
        const id = `${ana} ${provider}`;
        const row = { id, identityUid: ana, digest: id, signIn, createTime: time, expireTime: time + 60_000 };
        await insertRefreshFamily(tx, row, 10);
      });
    const providersOfSessions = async () =>
      (await listRefreshFamilies(server.server.database.session, ana)).map(({ signIn }) => signIn.provider).sort();

    it("sessions by the organization's own providers end on request, and others go on", async () => {
      const provider = await addProvider(server, root);
      for (const one of ["", provider]) await addSession(one);
      assert.equal((await remove({ validateOnly: true, endSessions: true })).sessionCount, 1);
      assert.deepEqual(await providersOfSessions(), ["", provider]);
      await remove({ endSessions: true });
      assert.deepEqual(await providersOfSessions(), [""]);
    });

    it("sessions go on unless the request ends them", async () => {
      const provider = await addProvider(server, root);
      await addSession(provider);
      await remove();
      assert.deepEqual(await providersOfSessions(), [provider]);
    });

    it("it says whether a SCIM client or a group mapping can give access again", async () => {
      const provider = await addProvider(server, root);
      const originOf = async () => {
        const { provisioned = false, mapped = false } = await remove({ validateOnly: true });
        return { provisioned, mapped };
      };
      assert.deepEqual(await originOf(), { provisioned: false, mapped: false });
      await arrange(server, (tx) => insertProviderMember(tx, provider, ana));
      await addMapping(server, provider);
      assert.deepEqual(await originOf(), { provisioned: false, mapped: true });
      const row: ScimUserRow = {
        uid: `${provider}/${"a".repeat(16)}`,
        providerUid: provider,
        userNameKey: ana,
        displayNameKey: "",
        externalId: ana,
        isActive: true,
        identityUid: ana,
        signInTime: null,
        attributes: {},
        version: 1,
        createTime: server.clock(),
        updateTime: server.clock(),
      };
      await arrange(server, (tx) => insertScimUser(tx, row));
      assert.deepEqual(await originOf(), { provisioned: true, mapped: true });
    });

    it("the audit log has each deletion as DeleteRoleBinding by the caller, and that the person left", async () => {
      await remove();
      const { body } = await rest(
        server.url,
        owner.token,
        "GET",
        // Denials of the tests before are written a little later.
        `/gatehouse/changes/v1/changes?parent=${root}&pageSize=4&excludedKinds=denials`,
      );
      const seen = body.changes.map(({ kind, actorUid, method }: Record<string, string>) => [
        kind,
        actorUid,
        method?.split("/").at(-1),
      ]);
      assert.deepEqual(seen, [
        ["memberships", owner.uid, "RemoveMember"],
        ...Array.from({ length: 3 }, () => ["role_bindings", owner.uid, "DeleteRoleBinding"]),
      ]);
    });

    it("a person with more than 1,000 role bindings loses some of them first", async () => {
      const [many, role] = [await addGroup(server, root, "many"), await addRole(server, root, [1])];
      await bindAll(server, many, [[ana, role]]);
      const places = [];
      for (let i = 0; i < 10; i++) places.push(await addGroup(server, root, `many-${i}`));
      for (const place of places) {
        const roles = [];
        for (let i = 0; i < 100; i++) roles.push(await addRole(server, place, [1]));
        await bindAll(
          server,
          place,
          roles.map((uid) => [ana, uid]),
        );
      }
      const { status, body } = await send({});
      assert.deepEqual([status, violationOf(body)], [400, "TOO_MANY_BINDINGS"]);
    });
  });
}
