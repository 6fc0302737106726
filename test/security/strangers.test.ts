// Anybody may bind a role to anybody. Until a person accepts the organization, it learns nothing of them, and its names mean nothing
// to them.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { loginSettings, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { addCaller, addGroup, addRole, bind, ownerRole, viewerRole } from "./tree.ts";

after(stopPostgres);

const iam = "/iam/v2beta1";

for (const database of databases) {
  describe(`a user bound by other organizations, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let clock: TurnableClock;
    let people = 0;
    /** An organization that binds others, and its owner. */
    let stranger: string;
    let owner: Awaited<ReturnType<typeof addCaller>>;
    /** A person with an organization of their own. */
    let person: { sub: string; uid: string; token: string; home: string };

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
      stranger = await addGroup(server, null, "stranger");
      owner = await addCaller(server, stranger, ownerRole.uid);
      const sub = `person-${database}-${people++}`;
      const { token = "" } = await signIn(sub);
      const seed = await addGroup(server, null, "seed");
      const invited = await addCaller(server, seed, ownerRole.uid);
      const invite = await call(invited.token, "POST", `${iam}/groupInvites/${seed}`, {
        roleUid: viewerRole.uid,
        ttl: "3600s",
      });
      await signIn(sub, { invite: invite.code });
      const uid = userUid(upstream.issuer, sub);
      // A caller with any role may create organizations.
      const { uid: home } = await call(await server.tokenOf(server.ownerUid), "POST", `${iam}/groups`, {
        name: "home",
      });
      const given = await call(await server.tokenOf(server.ownerUid), "POST", `${iam}/groupInvites/${home}`, {
        roleUid: ownerRole.uid,
        ttl: "3600s",
      });
      await signIn(sub, { invite: given.code });
      person = { sub, uid, token, home };
    });

    async function call(token: string, method: string, path: string, body?: object) {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }

    async function signIn(sub: string, parameters: Record<string, string> = {}) {
      clock.advance(1000);
      upstream.behaviour.claims = { sub, name: "Some Body" };
      const browser = newBrowser();
      const begun = await browser.request(signInUrl(server.url, parameters));
      const there = new URL(begun.headers.get("location") ?? assert.fail(begun.text));
      const end = await browser.request(upstream.authorize(there));
      return Object.fromEntries(new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams);
    }

    const bindPerson = (identityUid: string, roleUid = viewerRole.uid) =>
      call(owner.token, "POST", `${iam}/roleBindings/${stranger}`, { identityUid, roleUid });

    /** Returns the stranger organization's view of an identity that it has bound, through each list. */
    async function shownOf(identityUid: string): Promise<object[]> {
      const { roleBindings } = await call(owner.token, "GET", `${iam}/roleBindings?identity=${identityUid}`);
      const [{ uid }] = roleBindings;
      const one = await call(owner.token, "GET", `${iam}/roleBindings/${uid}`);
      const v1 = await call(owner.token, "GET", `/iam/v1/rolebindings?uidp.children_of=${stranger}`);
      const old = v1.items.find(({ identity }: { identity: string }) => identity === identityUid);
      return [roleBindings[0].identity, one.identity, { email: old.email ?? "", id: old.identity }];
    }

    it("organizations see only the uid of a user who has not joined, whether or not they have registered", async () => {
      const unregistered = userUid(upstream.issuer, `nobody-${people}`);
      const created = [await bindPerson(person.uid), await bindPerson(unregistered)];
      const without = (text: unknown) =>
        JSON.stringify(text).replaceAll(/[0-9a-f]{40}(\/[0-9a-f]{16})*|"\d{4}-[^"]*"/g, "");
      assert.equal(without(created[0]), without(created[1]));
      for (const uid of [person.uid, unregistered])
        for (const shown of await shownOf(uid))
          assert.doesNotMatch(JSON.stringify(shown), /person|some|example\.org|issuer/);
      assert.deepEqual(without(await shownOf(person.uid)), without(await shownOf(unregistered)));
    });

    it("organizations that a user has not joined do not count the user as an owner: leaving reveals nothing", async () => {
      const unregistered = userUid(upstream.issuer, `no-owner-${people}`);
      const refusals: unknown[] = [];
      for (const uid of [person.uid, unregistered]) {
        const { uid: binding } = await bindPerson(uid, ownerRole.uid);
        const { status, body } = await rest(server.url, owner.token, "DELETE", `${iam}/roleBindings/${owner.binding}`);
        refusals.push([status, body]);
        await call(owner.token, "DELETE", `${iam}/roleBindings/${binding}`);
      }
      assert.deepEqual(refusals[0], refusals[1]);
      await bindPerson(person.uid, ownerRole.uid);
      await call(person.token, "GET", `${iam}/groups/${stranger}`);
      await call(owner.token, "DELETE", `${iam}/roleBindings/${owner.binding}`);
    });

    it("organizations see the name of a user who has made a request there", async () => {
      await bindPerson(person.uid);
      // A request elsewhere, or one about nothing in particular, accepts nothing.
      await call(person.token, "GET", `${iam}/groups/${person.home}`);
      await call(person.token, "GET", `${iam}/groups`);
      assert.doesNotMatch(JSON.stringify(await shownOf(person.uid)), /some body/);
      await call(person.token, "GET", `${iam}/groups/${stranger}`);
      const [first, second] = (await shownOf(person.uid)) as { name: string; email: string }[];
      assert.deepEqual([first?.name, second?.email], ["some body", "person@example.org"]);
    });

    it("an organization sees the name of a user who has signed in for it, and other organizations do not", async () => {
      await bindPerson(person.uid);
      const { token = "" } = await signIn(person.sub, { scope: stranger });
      assert.notEqual(token, "");
      assert.match(JSON.stringify(await shownOf(person.uid)), /some body/);
      const other = await addGroup(server, null, "other");
      const elsewhere = await addCaller(server, other, ownerRole.uid);
      const bound = await call(elsewhere.token, "POST", `${iam}/roleBindings/${other}`, {
        identityUid: person.uid,
        roleUid: viewerRole.uid,
      });
      assert.deepEqual(bound.identity, { uid: person.uid });
    });

    it("organizations do not see the name of a user who has deleted their account", async () => {
      await bindPerson(person.uid);
      await call(person.token, "DELETE", `/auth/v1/delete/${person.uid}`);
      const changes = `/gatehouse/changes/v1/changes?kind=role_bindings&parent=`;
      const [deleted] = (await call(owner.token, "GET", changes + stranger)).changes;
      assert.equal(deleted.before.identity.uid, person.uid);
      assert.deepEqual([deleted.after, deleted.actorUid, deleted.actorClaims], [undefined, undefined, {}]);
      assert.doesNotMatch(JSON.stringify(deleted), /person-|example\.org|Auth/);
      // The log still names the user where the user was known.
      const known = (await call(await server.tokenOf(server.ownerUid), "GET", changes + person.home)).changes;
      assert.ok(
        known.some(({ actorUid, after }: { actorUid: string; after?: object }) => actorUid === person.uid && !after),
      );
    });

    it("organizations do not see who deleted an identity that was bound elsewhere", async () => {
      const other = await addGroup(server, null, "other");
      const admin = await addCaller(server, other, ownerRole.uid);
      const bound = await addCaller(server, other, viewerRole.uid);
      await bind(server, stranger, bound.uid, viewerRole.uid);
      await call(admin.token, "DELETE", `${iam}/identities/${bound.uid}`);
      const changes = `/gatehouse/changes/v1/changes?kind=role_bindings&parent=`;
      const [deleted] = (await call(owner.token, "GET", changes + stranger)).changes;
      assert.deepEqual(
        [deleted.before.identity.uid, deleted.actorUid, deleted.actorClaims],
        [bound.uid, undefined, {}],
      );
      const [own] = (await call(admin.token, "GET", changes + other)).changes;
      assert.equal(own.actorUid, admin.uid);
    });

    it("users see their own name", async () => {
      await bindPerson(person.uid, ownerRole.uid);
      const { roleBindings } = await call(person.token, "GET", `${iam}/roleBindings?group=${stranger}`);
      assert.ok(roleBindings.some(({ identity }: { identity: { name?: string } }) => identity.name === "some body"));
    });

    describe("names", () => {
      let own: string;
      let theirs: string;
      beforeEach(async () => {
        const create = async (token: string, parent: string) =>
          (await call(token, "POST", `${iam}/groups/${parent}`, { name: "team" })).uid as string;
        own = await create(person.token, person.home);
        theirs = await create(owner.token, stranger);
        await bindPerson(person.uid, ownerRole.uid);
      });
      const named = async (query: string) =>
        (await call(person.token, "GET", `${iam}/${query}`)).groups.map(({ uid }: { uid: string }) => uid);

      it("names in a sign-in's scope, a parent and lists are those of organizations that the person has accepted", async () => {
        const { token = "", error } = await signIn(person.sub, { scope: "team" });
        assert.deepEqual(decodeJwt<{ gatehouse: object }>(token || assert.fail(error)).gatehouse, { scopes: [own] });
        const child = await call(person.token, "POST", `${iam}/groups/team`, { name: "child" });
        assert.ok(child.uid.startsWith(`${own}/`));
        assert.deepEqual(await named("groups?name=team"), [own]);
        // A filter by uid finds the resource.
        assert.deepEqual(await named(`groups?name=team&uidp.childrenOf=${stranger}`), [theirs]);
        assert.ok((await named("groups?page_size=200")).includes(theirs));
        await addRole(server, stranger, []);
        const roles = await call(person.token, "GET", `${iam}/roles?name=custom`);
        assert.deepEqual(roles.roles ?? [], []);
      });

      it("names are found by an identity, which accepts no organization, wherever it may list", async () => {
        const { token } = await addCaller(server, stranger, ownerRole.uid);
        const { groups } = await call(token, "GET", `${iam}/groups?name=team`);
        assert.deepEqual(
          groups.map(({ uid }: { uid: string }) => uid),
          [theirs],
        );
      });

      it("names in an organization are found once the user has accepted it", async () => {
        await call(person.token, "GET", `${iam}/groups/${theirs}`);
        assert.deepEqual((await named("groups?name=team")).sort(), [own, theirs].sort());
        assert.match((await signIn(person.sub, { scope: "team" })).error ?? "", /several groups have the name/);
        const ambiguous = await rest(server.url, person.token, "POST", `${iam}/groups/team`, { name: "child" });
        assert.equal(ambiguous.status, 400);
      });

      it("names in an organization that the user did not accept are unknown", async () => {
        assert.match((await signIn(person.sub, { scope: "stranger" })).error ?? "", /no group has the name/);
        assert.deepEqual(await named("groups?name=stranger"), []);
        const refused = await rest(server.url, person.token, "POST", `${iam}/groups/stranger`, { name: "child" });
        assert.equal(refused.status, 400);
      });
    });
  });
}
