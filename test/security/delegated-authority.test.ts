// Delegated authority counts only while its maker holds it, at the time of use: invites, subscriptions, roles of identity
// providers, SCIM tokens and static keys.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { findCapabilityByName } from "../../src/model/capabilities.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import type { Transaction } from "../../src/storage/engine/session.ts";
import { findDelegation, setDelegationMappings } from "../../src/storage/iam/delegations.ts";
import { eq } from "../../src/storage/schema/drizzle.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { basic, getToken, service } from "../registry/sign-in.ts";
import { client, loginSettings, signInBy, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { keyPair, keySetText, signOutside } from "../sts/outside.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { addCaller, addRole, arrange, bind, ownerRole, viewerRole } from "./tree.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;
const pullRole = builtInRoles.find(({ name }) => name === "registry.pull")!;
const numbers = (...names: string[]) => names.map((name) => findCapabilityByName(name)!.number);

after(stopPostgres);

/** Writes what was promised. */
async function setPromise(tx: Transaction, uid: string, capabilities: readonly number[]): Promise<void> {
  const statement = tx.prepared(`test.promise.${uid}`, (db, { delegations }) =>
    db
      .update(delegations)
      .set({ capabilities: [...capabilities] })
      .where(eq(delegations.uid, uid)),
  );
  await statement.execute();
}

/** Removes the maker, as in a database from before delegations had makers. */
async function forgetMaker(tx: Transaction, uid: string): Promise<void> {
  const statement = tx.prepared(`test.forget_maker.${uid}`, (db, { delegations }) =>
    db.update(delegations).set({ makerUid: null, time: 0 }).where(eq(delegations.uid, uid)),
  );
  await statement.execute();
}

for (const database of databases) {
  describe(`authority is checked when it is used, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let clock: TurnableClock;
    /** Another owner, who makes what the tests use. */
    let maker: Awaited<ReturnType<typeof addCaller>>;
    let people = 0;

    before(async () => {
      upstream = await startUpstream();
      clock = turnableClock();
      server = await startTestServer({ database, clock: clock.read, settings: loginSettings(upstream) });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      // The budgets of addresses and of expensive calls grow with time.
      clock.advance(60_000);
      maker = await addCaller(server, server.groupUid, ownerRole.uid);
    });

    async function call(token: string, method: string, path: string, body?: object) {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }
    const asOwner = async (method: string, path: string, body?: object) =>
      await call(await server.tokenOf(server.ownerUid), method, path, body);
    const asMaker = (method: string, path: string, body?: object) => call(maker.token, method, path, body);

    const deleteMaker = () => asOwner("DELETE", `/iam/v2beta1/identities/${maker.uid}`);
    const unbindMaker = () => asOwner("DELETE", `/iam/v2beta1/roleBindings/${maker.binding}`);
    const confirm = (uid: string) => asOwner("POST", `/gatehouse/iam/v1/delegations/${uid}:confirm`, {});

    /** Lists the delegations of a uid. */
    async function listed(uid: string): Promise<string[]> {
      const { delegations = [] } = await asOwner("GET", `/gatehouse/iam/v1/delegations?page_size=200`);
      return delegations
        .filter((one: JsonObject) => one.uid === uid)
        .map(({ kind, inactivity = "" }: JsonObject) =>
          `${kind} ${inactivity}`.replaceAll(/DELEGATION_KIND_|INACTIVITY_REASON_/g, "").trim(),
        );
    }

    /** A person who signs in by the operator's provider, or another one; answers what the command line would be told. */
    async function signIn(parameters: Record<string, string>, claims: Record<string, unknown> = {}) {
      clock.advance(1000);
      const sub = (claims.sub as string | undefined) ?? `person-${people++}`;
      const answers = await signInBy(upstream, server.url, parameters, { sub, ...claims });
      return { uid: userUid(upstream.issuer, sub), token: answers.get("token"), error: answers.get("error") };
    }
    const rolesOf = async (identity: string): Promise<string[]> =>
      (await asOwner("GET", `/iam/v2beta1/roleBindings?identity=${identity}`)).roleBindings.map(
        ({ role }: { role: { uid: string } }) => role.uid,
      );

    describe("an invite", () => {
      const invite = async (roleUid: string) =>
        await asMaker("POST", `/iam/v2beta1/groupInvites/${server.groupUid}`, { roleUid, ttl: "3600s" });

      it("gives its role while its maker holds it", async () => {
        const { uid, code } = await invite(ownerRole.uid);
        assert.deepEqual(await listed(uid), ["GROUP_INVITE"]);
        const person = await signIn({ invite: code });
        assert.deepEqual(await rolesOf(person.uid), [ownerRole.uid]);
      });

      it("gives nothing once its maker is deleted, and gives its role again once another owner confirms it", async () => {
        const { uid, code } = await invite(ownerRole.uid);
        await deleteMaker();
        assert.deepEqual(await listed(uid), ["GROUP_INVITE MAKER_DELETED"]);
        const refused = await signIn({ invite: code }, { sub: "late" });
        assert.equal(refused.token, null);
        assert.match(refused.error ?? "", new RegExp(`gatehouse iam delegations confirm ${uid}`));
        assert.deepEqual(await rolesOf(refused.uid), []);
        await confirm(uid);
        assert.deepEqual(await listed(uid), ["GROUP_INVITE"]);
        assert.deepEqual(await rolesOf((await signIn({ invite: code }, { sub: "late" })).uid), [ownerRole.uid]);
      });

      it("rejects a registration with FAILED_PRECONDITION, and the error says what to do", async () => {
        const { uid, code } = await invite(ownerRole.uid);
        await unbindMaker();
        const token = await upstream.idToken({ sub: `person-${people++}` });
        const { status, body } = await rest(server.url, token, "POST", "/auth/v1/register", { code });
        assert.deepEqual([status, body.code], [400, 9], JSON.stringify(body));
        assert.deepEqual(
          [body.details[0].reason, body.details[0].metadata.cause, body.details[0].metadata.uid],
          ["DELEGATION_INACTIVE", "MAKER_LACKS_CAPABILITIES", uid],
        );
        // The invited user may be a stranger.
        assert.doesNotMatch(JSON.stringify(body), new RegExp(`${maker.uid}|groups\\.`));
      });

      it("gives nothing while its maker lacks the role, and gives it again once they hold it", async () => {
        const { uid, code } = await invite(editorRole.uid);
        await unbindMaker();
        assert.deepEqual(await listed(uid), ["GROUP_INVITE MAKER_LACKS_CAPABILITIES"]);
        assert.equal((await signIn({ invite: code })).token, null);
        await bind(server, server.groupUid, maker.uid, ownerRole.uid);
        // Written past the services, which would say so.
        await addRoleAnd(async () => {});
        assert.notEqual((await signIn({ invite: code })).token, null);
      });

      it("an invite does not give capabilities that its role got later", async () => {
        const roleUid = await addRole(server, server.groupUid, numbers("groups.list"));
        const { uid, code } = await invite(roleUid);
        const capabilities = ["CAP_IAM_GROUPS_LIST", "CAP_IAM_GROUPS_DELETE"];
        await asMaker("PATCH", `/iam/v2beta1/roles/${roleUid}`, { capabilities });
        assert.deepEqual(await listed(uid), ["GROUP_INVITE ROLE_EXTENDED"]);
        const refused = await signIn({ invite: code });
        assert.deepEqual([refused.token, await rolesOf(refused.uid)], [null, []]);
        await asMaker("PATCH", `/iam/v2beta1/roles/${roleUid}`, { capabilities: ["CAP_IAM_GROUPS_LIST"] });
        assert.notEqual((await signIn({ invite: code })).token, null);
      });

      it("still gives a built-in role that a new version of the program has extended", async () => {
        const { uid, code } = await invite(viewerRole.uid);
        const { database: store } = server.server;
        await store.write({ actor: "", method: "start", requestId: "", time: clock.read() }, async (tx) => {
          // As it would have been when the role had one capability less.
          await setPromise(tx, uid, viewerRole.capabilities.slice(1));
        });
        assert.deepEqual(await listed(uid), ["GROUP_INVITE"]);
        assert.notEqual((await signIn({ invite: code })).token, null);
      });

      it("counts as made by the caller who changed it last", async () => {
        const { uid, code } = await invite(viewerRole.uid);
        await asOwner("PATCH", `/iam/v2beta1/groupInvites/${uid}`, { ttl: "7200s" });
        await deleteMaker();
        assert.notEqual((await signIn({ invite: code })).token, null);
      });

      it("an invite stays inactive if its deleted maker registers again", async () => {
        const { uid: person, token } = await signIn({}, { sub: "restless" });
        await bind(server, server.groupUid, person, ownerRole.uid);
        await addRoleAnd(async () => {});
        const made = await rest(server.url, token!, "POST", `/iam/v2beta1/groupInvites/${server.groupUid}`, {
          roleUid: viewerRole.uid,
          ttl: "3600s",
        });
        assert.equal(made.status, 200, JSON.stringify(made.body));
        await call(token!, "DELETE", `/auth/v1/delete/${person}`);
        await signIn({}, { sub: "restless" });
        await bind(server, server.groupUid, person, ownerRole.uid);
        assert.equal((await signIn({ invite: made.body.code })).token, null);
        assert.deepEqual(await listed(made.body.uid), ["GROUP_INVITE MAKER_DELETED"]);
      });
    });

    /** A change of access by the services, after one that was written past them. */
    async function addRoleAnd(body: () => Promise<void>) {
      const roleUid = await addRole(server, server.groupUid, numbers("groups.list"));
      await asOwner("PATCH", `/iam/v2beta1/roles/${roleUid}`, { description: "changed" });
      await body();
    }

    describe("an identity provider", () => {
      async function provider(defaultRole = viewerRole.uid): Promise<string> {
        const oidc = {
          issuer: upstream.issuer,
          clientId: client.id,
          clientSecret: client.secret,
          groupsClaim: "groups",
        };
        const path = `/iam/v2beta1/identityProviders/${server.groupUid}`;
        return (await asMaker("POST", path, { name: "own", defaultRole, oidc })).uid;
      }

      it("gives its default role while the caller who set it holds that role", async () => {
        const idp = await provider();
        assert.deepEqual(await rolesOf((await signIn({ idp_id: idp })).uid), [viewerRole.uid]);
        await deleteMaker();
        assert.deepEqual(await listed(idp), ["DEFAULT_ROLE MAKER_DELETED"]);
        const refused = await signIn({ idp_id: idp }, { sub: "newcomer" });
        assert.match(refused.error ?? "", new RegExp(`gatehouse iam delegations confirm ${idp}`));
        assert.deepEqual(await rolesOf(refused.uid), []);
        await confirm(idp);
        await signIn({ idp_id: idp }, { sub: "newcomer" });
        assert.deepEqual(await rolesOf(refused.uid), [viewerRole.uid]);
      });

      it("lets in users who hold a role already, and gives its own role once it is confirmed", async () => {
        const idp = await provider();
        await unbindMaker();
        const invited = await asOwner("POST", `/iam/v2beta1/groupInvites/${server.groupUid}`, {
          roleUid: editorRole.uid,
          ttl: "3600s",
        });
        const person = await signIn({ idp_id: idp, invite: invited.code }, { sub: "bound" });
        assert.notEqual(person.token, null, String(person.error));
        assert.deepEqual(await rolesOf(person.uid), [editorRole.uid]);
        await confirm(idp);
        await signIn({ idp_id: idp }, { sub: "bound" });
        assert.deepEqual((await rolesOf(person.uid)).sort(), [editorRole.uid, viewerRole.uid].sort());
      });

      it("gives the roles of external groups while the caller who mapped them holds them", async () => {
        const idp = await provider();
        const mapping = { externalGroupId: "admins", roleUid: editorRole.uid, scope: server.groupUid };
        const { uid } = await asMaker("POST", `/iam/v2beta1/externalGroupRoleMappings/${idp}`, mapping);
        const { token } = await signIn({ idp_id: idp }, { groups: ["admins"], sub: "mapped" });
        const writes = async (bearer: string) =>
          (
            await rest(server.url, bearer, "POST", `/registry/v2beta1/repos/${server.groupUid}`, {
              name: `r${people++}`,
            })
          ).status;
        assert.equal(await writes(token!), 200);
        await deleteMaker();
        // The session that is there goes by it at once.
        assert.equal(await writes(token!), 403);
        assert.deepEqual(await listed(uid), ["EXTERNAL_GROUP_ROLE_MAPPING MAKER_DELETED"]);
        await confirm(idp);
        assert.equal(await writes(token!), 403);
        await confirm(uid);
        assert.equal(await writes(token!), 200);
      });

      it("counts as made by the caller who changes its issuer, including its mappings", async () => {
        const idp = await provider();
        const mapping = { externalGroupId: "admins", roleUid: editorRole.uid, scope: server.groupUid };
        const { uid } = await asMaker("POST", `/iam/v2beta1/externalGroupRoleMappings/${idp}`, mapping);
        await asOwner("PATCH", `/iam/v2beta1/identityProviders/${idp}`, { oidc: { groupsClaim: "roles" } });
        await deleteMaker();
        assert.deepEqual([await listed(idp), await listed(uid)], [["DEFAULT_ROLE"], ["EXTERNAL_GROUP_ROLE_MAPPING"]]);
      });

      it("a user who holds a role only by it cannot confirm it", async () => {
        const idp = await provider();
        const mapping = { externalGroupId: "admins", roleUid: ownerRole.uid, scope: server.groupUid };
        const { uid } = await asMaker("POST", `/iam/v2beta1/externalGroupRoleMappings/${idp}`, mapping);
        const { token } = await signIn({ idp_id: idp }, { groups: ["admins"], sub: "mapped-owner" });
        const self = await rest(server.url, token!, "POST", `/gatehouse/iam/v1/delegations/${uid}:confirm`, {});
        assert.deepEqual([self.status, self.body.code], [400, 9], JSON.stringify(self.body));
        const path = `/iam/v2beta1/identityProviders/${idp}`;
        const changed = await rest(server.url, token!, "PATCH", path, { oidc: { groupsClaim: "roles" } });
        assert.equal(changed.status, 403, JSON.stringify(changed.body));
        assert.deepEqual(await listed(uid), ["EXTERNAL_GROUP_ROLE_MAPPING"]);
      });

      it("vouches by a mapped role as long as its person is known to be in the group", async () => {
        const idp = await provider();
        const mapping = { externalGroupId: "admins", roleUid: ownerRole.uid, scope: server.groupUid };
        await asMaker("POST", `/iam/v2beta1/externalGroupRoleMappings/${idp}`, mapping);
        const { token } = await signIn({ idp_id: idp }, { groups: ["admins"], sub: "mapped-inviter" });
        const body = { roleUid: editorRole.uid, ttl: "3600s" };
        const made = await call(token!, "POST", `/iam/v2beta1/groupInvites/${server.groupUid}`, body);
        assert.deepEqual(await listed(made.uid), ["GROUP_INVITE"]);
        await signIn({ idp_id: idp }, { groups: ["others"], sub: "mapped-inviter" });
        assert.deepEqual(await listed(made.uid), ["GROUP_INVITE MAKER_LACKS_CAPABILITIES"]);
        assert.equal((await signIn({ invite: made.code })).token, null);
      });

      it("deciding whether an identity provider is in force takes little time, even if many vouch for each other in circles", {
        timeout: 60_000,
      }, async () => {
        const idp = await provider();
        const names = Array.from({ length: 12 }, (_, i) => `group-${i}`);
        const roles = [ownerRole.uid, ...names.slice(1).map(() => editorRole.uid)];
        const path = `/iam/v2beta1/externalGroupRoleMappings/${idp}`;
        const mappings: string[] = [];
        for (const [i, externalGroupId] of names.entries())
          mappings.push(
            (await asMaker("POST", path, { externalGroupId, roleUid: roles[i], scope: server.groupUid })).uid,
          );
        const { token } = await signIn({ idp_id: idp }, { groups: names, sub: "in-circles" });
        // Each but the first is vouched for by a session that holds something by all of them.
        for (const uid of mappings.slice(1))
          await call(token!, "POST", `/gatehouse/iam/v1/delegations/${uid}:confirm`, {});
        await deleteMaker();
        for (const uid of mappings)
          assert.match((await listed(uid))[0] ?? "", uid === mappings[0] ? /MAKER_DELETED/ : /MAKER_LACKS/);
        const writes = async () =>
          (
            await rest(server.url, token!, "POST", `/registry/v2beta1/repos/${server.groupUid}`, {
              name: `r${people++}`,
            })
          ).status;
        assert.equal(await writes(), 403);
        await confirm(mappings[0]!);
        for (const uid of mappings) assert.deepEqual(await listed(uid), ["EXTERNAL_GROUP_ROLE_MAPPING"]);
        assert.equal(await writes(), 200);
      });

      it("leaves the mappings of a new maker while those of the previous one are read", async () => {
        const idp = await provider();
        const mapping = { externalGroupId: "admins", roleUid: ownerRole.uid, scope: server.groupUid };
        await asMaker("POST", `/iam/v2beta1/externalGroupRoleMappings/${idp}`, mapping);
        const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
        const first = await signIn({ idp_id: idp }, { groups: ["admins"], sub: "first-voucher" });
        const { uid } = await call(first.token!, "POST", path, { roleUid: editorRole.uid, ttl: "3600s" });
        const { database: store } = server.server;
        const stale = await store.read((session) => findDelegation(session, "group_invites", uid));
        const second = await signIn({ idp_id: idp }, { groups: ["admins"], sub: "second-voucher" });
        await call(second.token!, "POST", `/gatehouse/iam/v1/delegations/${uid}:confirm`, {});
        const context = { actor: "", method: "mappings", requestId: "", time: clock.read() };
        await store.write(context, (tx) => setDelegationMappings(tx, stale!, []));
        assert.deepEqual(await listed(uid), ["GROUP_INVITE"]);
      });

      it("an identity provider has a SCIM token that is valid while its maker holds the default role", async () => {
        const idp = await provider();
        await asMaker("POST", `/iam/v2beta1/identityProviders/${idp}:generateScimToken`, {});
        assert.deepEqual(await listed(idp), ["DEFAULT_ROLE", "SCIM_TOKEN"]);
        await deleteMaker();
        assert.deepEqual(await listed(idp), ["DEFAULT_ROLE MAKER_DELETED", "SCIM_TOKEN MAKER_DELETED"]);
        await confirm(idp);
        assert.deepEqual(await listed(idp), ["DEFAULT_ROLE", "SCIM_TOKEN"]);
      });

      it("a SCIM token stays valid after a mapping was added whose role its maker holds", async () => {
        const idp = await provider(await addRole(server, server.groupUid, numbers("groups.list")));
        await asMaker("POST", `/iam/v2beta1/identityProviders/${idp}:generateScimToken`, {});
        const mapping = { externalGroupId: "admins", roleUid: editorRole.uid, scope: server.groupUid };
        await asOwner("POST", `/iam/v2beta1/externalGroupRoleMappings/${idp}`, mapping);
        assert.deepEqual(await listed(idp), ["DEFAULT_ROLE", "SCIM_TOKEN"]);
      });
    });

    describe("a subscription", () => {
      it("reports the reason why nothing is sent", async () => {
        const path = `/events/v2beta1/subscriptions/${server.groupUid}`;
        const { uid } = await asMaker("POST", path, { sink: "https://hooks.example.org/" });
        const state = async () => (await asOwner("GET", `/gatehouse/events/v1/deliveryStates/${uid}`)).inactivity ?? "";
        assert.equal(await state(), "");
        await unbindMaker();
        assert.match(await state(), /does not hold subscriptions\.create/);
        await deleteMaker();
        assert.match(await state(), /was deleted/);
        await confirm(uid);
        assert.equal(await state(), "");
      });
    });

    describe("a pull token", () => {
      const keys = keyPair("RS256");
      const subject = "pull-token";
      const issuer = "https://pulltoken.example.org";

      async function pullToken(): Promise<{ uid: string; token: string }> {
        const expirationTime = new Date(clock.read() + 3_600_000).toISOString();
        const staticKeys = { issuer, subject, issuerKeys: keySetText(keys), expirationTime };
        const parent = server.groupUid;
        const { uid } = await asMaker("POST", `/iam/v2beta1/identities/${parent}`, { name: subject, staticKeys });
        await asMaker("POST", `/iam/v2beta1/roleBindings/${parent}`, { identityUid: uid, roleUid: pullRole.uid });
        const now = Math.floor(clock.read() / 1000);
        const claims = { iss: issuer, sub: subject, aud: server.url, iat: now, exp: now + 600 };
        return { uid, token: await signOutside(keys, claims) };
      }
      const status = async ({ uid, token }: { uid: string; token: string }) =>
        (await getToken(server.url, basic(uid, token), [`repository:example.org/repo:pull`], service)).status;

      it("signs in to the registry and is exchanged while its maker holds what it gives", async () => {
        const made = await pullToken();
        const exchange = async () =>
          (await rest(server.url, made.token, "GET", `/sts/exchange?aud=${server.url}&identity=${made.uid}`)).body;
        assert.equal(await status(made), 200);
        assert.ok((await exchange()).token);
        await unbindMaker();
        assert.equal(await status(made), 401);
        assert.match((await exchange()).message, new RegExp(`gatehouse iam delegations confirm ${made.uid}`));
        assert.deepEqual(await listed(made.uid), ["STATIC_KEYS MAKER_LACKS_CAPABILITIES"]);
        await deleteMaker();
        assert.deepEqual([await status(made), await listed(made.uid)], [401, ["STATIC_KEYS MAKER_DELETED"]]);
        await confirm(made.uid);
        assert.equal(await status(made), 200);
      });

      it("an identity that changes its own keys does not vouch for itself", async () => {
        const made = await pullToken();
        await asMaker("POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
          identityUid: made.uid,
          roleUid: editorRole.uid,
        });
        await asMaker("POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
          identityUid: made.uid,
          roleUid: ownerRole.uid,
        });
        const own = await server.tokenOf(made.uid);
        const staticKeys = { issuer, subject: "other", issuerKeys: keySetText(keys) };
        const changed = await rest(server.url, own, "PATCH", `/iam/v2beta1/identities/${made.uid}`, { staticKeys });
        assert.equal(changed.status, 200, JSON.stringify(changed.body));
        // Resources that the identity made lose their effect with it.
        const { uid: invite } = await call(own, "POST", `/iam/v2beta1/groupInvites/${server.groupUid}`, {
          roleUid: ownerRole.uid,
          ttl: "3600s",
        });
        assert.deepEqual([await listed(made.uid), await listed(invite)], [["STATIC_KEYS"], ["GROUP_INVITE"]]);
        await deleteMaker();
        assert.deepEqual(await listed(made.uid), ["STATIC_KEYS MAKER_DELETED"]);
        assert.deepEqual(await listed(invite), ["GROUP_INVITE MAKER_LACKS_CAPABILITIES"]);
      });

      it("counts as made by the caller who bound the role, if its own maker could not", async () => {
        const roleUid = await addRole(server, server.groupUid, numbers("identity.create", "identity.list"));
        const modest = await addCaller(server, server.groupUid, roleUid);
        const staticKeys = { issuer, subject: "modest", issuerKeys: keySetText(keys) };
        const path = `/iam/v2beta1/identities/${server.groupUid}`;
        const { uid } = await call(modest.token, "POST", path, { name: "modest", staticKeys });
        await asOwner("POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
          identityUid: uid,
          roleUid: pullRole.uid,
        });
        assert.deepEqual(await listed(uid), ["STATIC_KEYS"]);
      });
    });

    it("a delegation of an unknown maker is inactive until a caller confirms it", async () => {
      const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
      const { uid } = await asMaker("POST", path, { roleUid: viewerRole.uid, ttl: "3600s" });
      await arrange(server, (tx) => forgetMaker(tx, uid));
      assert.deepEqual(await listed(uid), ["GROUP_INVITE MAKER_UNKNOWN"]);
      await confirm(uid);
      assert.deepEqual(await listed(uid), ["GROUP_INVITE"]);
    });

    describe("the list", () => {
      it("has pages, can show inactive delegations only, and hides those of other organizations", async () => {
        const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
        for (let i = 0; i < 3; i++) await asMaker("POST", path, { roleUid: viewerRole.uid, ttl: "3600s" });
        await deleteMaker();
        const all: string[] = [];
        let token = "";
        do {
          const query = new URLSearchParams({ inactive: "true", page_size: "2", page_token: token });
          const { delegations = [], nextPageToken = "" } = await asOwner(
            "GET",
            `/gatehouse/iam/v1/delegations?${query}`,
          );
          assert.ok(delegations.length <= 2);
          all.push(...delegations.map(({ uid, kind }: JsonObject) => `${uid} ${kind}`));
          assert.ok(delegations.every(({ inactivity }: JsonObject) => inactivity !== undefined));
          token = nextPageToken;
        } while (token !== "");
        assert.ok(all.length >= 3 && new Set(all).size === all.length, String(all.length));

        const [known = ""] = (all[0] ?? "").split(" ");
        const stranger = await signIn({}, { sub: "stranger" });
        await rest(server.url, stranger.token!, "POST", "/iam/v2beta1/groups", { name: "elsewhere" });
        const { body } = await rest(server.url, stranger.token!, "GET", "/gatehouse/iam/v1/delegations");
        assert.equal(body.delegations?.length ?? 0, 0);
        const denied = await rest(
          server.url,
          stranger.token!,
          "POST",
          `/gatehouse/iam/v1/delegations/${known}:confirm`,
          {},
        );
        const unknown = await rest(
          server.url,
          stranger.token!,
          "POST",
          `/gatehouse/iam/v1/delegations/${known.slice(0, -4)}0000:confirm`,
          {},
        );
        assert.deepEqual([denied.status, unknown.status], [403, 403]);
      });

      it("denies a confirmation by a caller who does not hold what the delegation gives", async () => {
        const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
        const { uid } = await asMaker("POST", path, { roleUid: ownerRole.uid, ttl: "3600s" });
        await deleteMaker();
        const editor = await addCaller(server, server.groupUid, editorRole.uid);
        const roleUid = await addRole(server, server.groupUid, numbers("role_bindings.list", "group_invites.create"));
        await bind(server, server.groupUid, editor.uid, roleUid);
        await addRoleAnd(async () => {});
        const confirming = `/gatehouse/iam/v1/delegations/${uid}:confirm`;
        assert.equal((await rest(server.url, editor.token, "POST", confirming, {})).status, 403);
        assert.deepEqual(await listed(uid), ["GROUP_INVITE MAKER_DELETED"]);
      });
    });
  });
}
