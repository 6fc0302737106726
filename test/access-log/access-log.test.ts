// Sign-ins, token exchanges, denials and key rotations in the audit log, over the wire.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { logKeyRotation } from "../../src/access-log/key-rotations.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { sweep } from "../../src/storage/sweep.ts";
import { answersOf, newBrowser, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { stoppedClock, type TurnableClock } from "../security/ground.ts";
import { addCaller, addGroup, viewerRole } from "../security/tree.ts";
import { client, loginSettings, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { context } from "../storage/fixtures.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";

after(stopPostgres);

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
type Entry = any;

for (const database of databases) {
  describe(`the audit of access on ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let clock: TurnableClock;
    before(async () => {
      upstream = await startUpstream();
      clock = stoppedClock();
      server = await startTestServer({ database, clock: clock.read, settings: loginSettings(upstream) });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    /** Returns the entries of a kind that the owner sees, once there are so many: they are written soon, and not at once. */
    async function entries(kind: string, wanted: (entry: Entry) => boolean, count = 1): Promise<Entry[]> {
      const query = new URLSearchParams({ parent: server.groupUid, kind });
      for (;;) {
        const { body } = await rest(server.url, server.ownerToken, "GET", `/gatehouse/changes/v1/changes?${query}`);
        const found = body.changes.filter(wanted);
        if (found.length >= count) return found;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }

    it("records a denial, with repetitions in one entry", async () => {
      const group = await addGroup(server, server.groupUid);
      const viewer = await addCaller(server, server.groupUid, viewerRole.uid);
      const tries = [group, server.groupUid, `${server.groupUid}/0123456789abcdef`];
      for (const uid of tries) {
        const { status } = await rest(server.url, viewer.token, "DELETE", `/iam/v2beta1/groups/${uid}`);
        assert.equal(status, 403);
      }
      const byViewer = ({ actorUid }: Entry) => actorUid === viewer.uid;
      const [first] = await entries("denials", byViewer);
      assert.equal(first.method, "/chainguard.platform.iam.v2beta1.GroupsService/DeleteGroup");
      assert.deepEqual([first.resourceUid, first.groupUid], [group, group]);
      assert.match(first.requestId, /^[0-9a-f]{32}$/);
      assert.deepEqual(
        [first.after.outcome, first.after.count, first.after.reason, first.after.capability, first.after.client],
        ["denied", 1, "PERMISSION_DENIED", "groups.delete", "127.0.0.1"],
      );
      assert.equal(first.before, undefined);
      clock.advance(60_000);
      const [last] = await entries("denials", byViewer, 2);
      assert.equal(last.after.count, 2);
    });

    it("records a denial elsewhere in the caller's organization only, and that of a stranger nowhere", async () => {
      const other = await addOrganization();
      const viewer = await addCaller(server, server.groupUid, viewerRole.uid);
      await rest(server.url, viewer.token, "DELETE", `/iam/v2beta1/groups/${other.groupUid}`);
      const [entry] = await entries("denials", ({ actorUid }) => actorUid === viewer.uid);
      assert.deepEqual([entry.resourceUid, entry.groupUid], [other.groupUid, server.groupUid]);
      const query = new URLSearchParams({ parent: other.groupUid, kind: "denials" });
      const { body } = await rest(server.url, other.token, "GET", `/gatehouse/changes/v1/changes?${query}`);
      assert.deepEqual(body.changes, []);
    });

    it("records what a user does in organizations that they have accepted, and in no others", async () => {
      const uid = userUid(upstream.issuer, "bound");
      upstream.behaviour.claims = { sub: "bound" };
      const visit = async () => answersOf(await visitAs({})).token ?? assert.fail("not signed in");
      await visit();
      const binding = { identityUid: uid, roleUid: viewerRole.uid };
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, binding);
      const path = `/iam/v2beta1/groups/${server.groupUid}`;
      const byPerson = ({ actorUid }: Entry) => actorUid === uid;
      const token = await visit();
      assert.equal((await rest(server.url, token, "DELETE", path)).status, 403);
      assert.equal((await rest(server.url, token, "GET", path)).status, 200);
      clock.advance(60_000);
      assert.equal((await rest(server.url, await visit(), "DELETE", path)).status, 403);
      assert.equal((await entries("denials", byPerson)).length, 1);
      assert.equal((await entries("sign_ins", byPerson)).length, 1);
    });

    it("records the sign-in by which a user accepts the organization", async () => {
      upstream.behaviour.claims = { sub: "accepting" };
      const uid = userUid(upstream.issuer, "accepting");
      assert.ok(answersOf(await visitAs({})).token);
      const binding = { identityUid: uid, roleUid: viewerRole.uid };
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, binding);
      assert.ok(answersOf(await visitAs({ scope: server.groupUid })).token);
      const found = await entries("sign_ins", ({ actorUid }) => actorUid === uid);
      assert.deepEqual(
        found.map(({ groupUid }) => groupUid),
        [server.groupUid],
      );
    });

    it("records allowed and denied exchanges, the latter with the failed check", async () => {
      const key = keyPair("ES256");
      await using issuer = await startIssuer(key);
      const claimMatch = { issuer: issuer.url, subject: "workload" };
      const path = `/iam/v2beta1/identities/${server.groupUid}`;
      const { body: identity } = await rest(server.url, server.ownerToken, "POST", path, { name: "ci", claimMatch });
      const now = Math.floor(Date.now() / 1000);
      const exchange = async (uid: string, changes: object = {}) => {
        const claims = { iss: issuer.url, sub: "workload", aud: server.config.baseUrl, iat: now, exp: now + 600 };
        const token = await signOutside(key, { ...claims, ...changes });
        const query = new URLSearchParams({ aud: server.config.baseUrl, identity: uid });
        return (await rest(server.url, token, "GET", `/sts/exchange?${query}`)).status;
      };
      assert.equal(await exchange(identity.uid), 200);
      assert.equal(await exchange(identity.uid, { sub: "other" }), 403);
      assert.equal(await exchange(identity.uid, { exp: now - 600, iat: now - 1200 }), 403);
      // Of an identity that does not exist nobody is told.
      assert.equal(await exchange(`${server.groupUid}/0123456789abcdef`), 403);
      const found = await entries("token_exchanges", ({ resourceUid }) => resourceUid === identity.uid, 3);
      const seen = found.map(({ actorUid, after }) => [after.outcome, after.check, actorUid, after.issuer]);
      assert.deepEqual(seen.toSorted(), [
        ["allowed", undefined, identity.uid, issuer.url],
        ["denied", "exp", undefined, issuer.url],
        ["denied", "sub", undefined, issuer.url],
      ]);
      const all = await entries("token_exchanges", () => true);
      assert.equal(all.length, found.length);
      assert.equal(all.find(({ after }) => after.check === "sub").after.subject, "other");
    });

    it("records the exchange of a user in the organizations that know them, and in no others", async () => {
      const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret };
      const own = { name: "exchanges", defaultRole: viewerRole.uid, oidc };
      const providers = `/iam/v2beta1/identityProviders/${server.groupUid}`;
      const { body: provider } = await rest(server.url, server.ownerToken, "POST", providers, own);
      upstream.behaviour.claims = { sub: "exchanging" };
      assert.ok(answersOf(await visitAs({ idp_id: provider.uid, client_id: "" })).token);
      const uid = userUid(upstream.issuer, "exchanging");
      const other = await addOrganization();
      const binding = { identityUid: uid, roleUid: viewerRole.uid };
      await rest(server.url, other.token, "POST", `/iam/v2beta1/roleBindings/${other.groupUid}`, binding);
      const token = await upstream.idToken({ sub: "exchanging" });
      const query = new URLSearchParams({ aud: server.config.baseUrl, identity_provider: provider.uid });
      const { status, body } = await rest(server.url, token, "GET", `/sts/exchange?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      const [entry] = await entries("token_exchanges", ({ actorUid }) => actorUid === uid);
      assert.deepEqual(
        [entry.after.outcome, entry.resourceUid, entry.groupUid, entry.after.subject],
        ["allowed", uid, server.groupUid, "exchanging"],
      );
      const elsewhere = new URLSearchParams({ parent: other.groupUid, kind: "token_exchanges" });
      const { body: strange } = await rest(
        server.url,
        other.token,
        "GET",
        `/gatehouse/changes/v1/changes?${elsewhere}`,
      );
      assert.deepEqual(strange.changes, []);
    });

    it("records the reuse of a refresh token with the address of the client, and without an actor", async () => {
      upstream.behaviour.claims = { sub: "reusing" };
      const answers = answersOf(await visitAs({ create_refresh_token: "true" }));
      const uid = userUid(upstream.issuer, "reusing");
      const binding = { identityUid: uid, roleUid: viewerRole.uid };
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, binding);
      await rest(server.url, answers.token, "GET", `/iam/v2beta1/groups/${server.groupUid}`);
      const refresh = () =>
        rest(server.url, answers.refresh_token, "POST", `/sts/exchange_refresh_token?aud=${server.config.baseUrl}`);
      assert.equal((await refresh()).status, 200);
      assert.equal((await refresh()).status, 403);
      const [entry] = await entries("session_ends", ({ resourceUid }) => resourceUid === uid);
      assert.deepEqual(
        [entry.actorUid, entry.groupUid, entry.after.outcome, entry.after.check, entry.after.client],
        [undefined, server.groupUid, "denied", "refresh_token_reused", "127.0.0.1"],
      );
    });

    it("records an export of resources with its actor and the address of the client", async () => {
      const group = await addGroup(server, server.groupUid);
      const path = `/gatehouse/apply/v1/groups/${group}:exportResources`;
      const { status, body } = await rest(server.url, server.ownerToken, "GET", path);
      assert.equal(status, 200, JSON.stringify(body));
      const [entry] = await entries("resource_exports", () => true);
      assert.deepEqual([entry.actorUid, entry.resourceUid, entry.after.client], [server.ownerUid, group, "127.0.0.1"]);
    });

    it("records the sign-in of a user who accepts an invite, with the user as actor", async () => {
      const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
      const { body: invite } = await rest(server.url, server.ownerToken, "POST", path, {
        roleUid: viewerRole.uid,
        ttl: "60s",
        singleUse: true,
      });
      upstream.behaviour.claims = { sub: "guest" };
      const answers = answersOf(await visitAs({ invite: invite.code }));
      assert.ok(answers.token, JSON.stringify(answers));
      const uid = userUid(upstream.issuer, "guest");
      const [signIn] = await entries("sign_ins", ({ actorUid }) => actorUid === uid);
      assert.deepEqual([signIn.after.outcome, signIn.actorClaims.sub, signIn.resourceUid], ["allowed", "guest", uid]);
      assert.equal(signIn.method, "/oauth/callback");
      const [binding] = await entries("role_bindings", ({ actorUid }) => actorUid === uid);
      assert.equal(binding.after.identity.uid, uid);
      const [used] = await entries("group_invites", ({ actorUid, after }) => actorUid === uid && !after);
      assert.equal(used.resourceUid, invite.uid);
    });

    it("records sign-ins at the identity provider of an organization, with the failed check", async () => {
      const path = `/iam/v2beta1/identityProviders/${server.groupUid}`;
      const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret };
      const { body: provider } = await rest(server.url, server.ownerToken, "POST", path, {
        name: "own",
        defaultRole: viewerRole.uid,
        oidc,
      });
      assert.ok(provider.uid, JSON.stringify(provider));
      upstream.behaviour.claims = { sub: "member" };
      assert.ok(answersOf(await visitAs({ idp_id: provider.uid, client_id: "" })).token);
      upstream.behaviour.claims = { sub: "member", nonce: "another" };
      assert.equal(answersOf(await visitAs({ idp_id: provider.uid, client_id: "" })).token, undefined);
      const method = `/oauth/callback/${provider.uid}`;
      const found = await entries("sign_ins", (entry) => entry.method === method, 2);
      const seen = found.map(({ after, resourceUid }) => [after.outcome, resourceUid]);
      assert.deepEqual(seen.toSorted(), [
        ["allowed", userUid(upstream.issuer, "member")],
        ["denied", provider.uid],
      ]);
      assert.equal(found.find(({ after }) => after.outcome === "denied").after.client, "127.0.0.1");
    });

    it("does not reveal to an organization by which provider of another one a user signed in", async () => {
      const other = await addOrganization();
      const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret };
      const own = { name: "own", defaultRole: viewerRole.uid, oidc };
      const providers = `/iam/v2beta1/identityProviders/${other.groupUid}`;
      const { body: provider } = await rest(server.url, other.token, "POST", providers, own);
      const invites = `/iam/v2beta1/groupInvites/${server.groupUid}`;
      const invite = { roleUid: viewerRole.uid, ttl: "600s", singleUse: true };
      const { body: invited } = await rest(server.url, server.ownerToken, "POST", invites, invite);
      upstream.behaviour.claims = { sub: "of-two" };
      const come = { idp_id: provider.uid, client_id: "" };
      assert.ok(answersOf(await visitAs({ ...come, invite: invited.code })).token);
      const ofPerson = ({ actorUid }: Entry) => actorUid === userUid(upstream.issuer, "of-two");
      for (const kind of ["role_bindings", "group_invites", "sign_ins"]) {
        const [entry] = await entries(kind, ofPerson);
        assert.equal(entry.method, "/oauth/callback", kind);
        assert.doesNotMatch(JSON.stringify(entry), new RegExp(other.groupUid), kind);
      }
      const query = new URLSearchParams({ parent: other.groupUid, kind: "sign_ins" });
      const { body } = await rest(server.url, other.token, "GET", `/gatehouse/changes/v1/changes?${query}`);
      assert.equal(body.changes.find(ofPerson).method, `/oauth/callback/${provider.uid}`);
    });

    it("records rotations of signing keys in the organizations of the operators", async () => {
      const key = { kid: "kid-1", algorithm: "RS256", privateJwk: "secret", createTime: 1, retireTime: null };
      await server.server.database.write(context, (tx) => logKeyRotation(tx, key, clock.read()));
      const [entry] = await entries("signing_keys", ({ resourceUid }) => resourceUid === "kid-1");
      assert.deepEqual(Object.keys(entry.after).toSorted(), ["algorithm", "kid", "othersRetireTime"]);
      assert.doesNotMatch(JSON.stringify(entry), /secret/);
    });

    it("is deleted after its retention, and changes are not", async () => {
      const year = 365 * 24 * 60 * 60 * 1000;
      const keeping = {
        registryEventMs: year,
        retiredKeyMs: year,
        nodeMs: year,
        countMs: year,
        usageMs: year,
        accessRecordMs: year,
        imageUseMs: 0,
        eventMs: year,
        changeMs: undefined,
        accessMs: 1000,
        seenTokenMs: 1000,
      };
      await entries("denials", () => true);
      clock.advance(120_000);
      const at = { ...context, time: clock.read() };
      await sweep(server.server.database, at, keeping, new AbortController().signal);
      for (const [kind, isThere] of Object.entries({
        denials: false,
        sign_ins: false,
        token_exchanges: false,
        groups: true,
      })) {
        const query = new URLSearchParams({ parent: server.groupUid, kind });
        const { body } = await rest(
          server.url,
          await server.tokenOf(server.ownerUid),
          "GET",
          `/gatehouse/changes/v1/changes?${query}`,
        );
        assert.equal(body.changes.length > 0, isThere, kind);
      }
    });

    async function addOrganization(): Promise<{ groupUid: string; token: string }> {
      const { body } = await rest(server.url, server.ownerToken, "POST", "/iam/v2beta1/groups/", { name: "other" });
      return { groupUid: body.uid, token: server.ownerToken };
    }

    async function visitAs(parameters: Record<string, string>) {
      const browser = newBrowser();
      const { headers } = await browser.request(signInUrl(server.url, parameters));
      const back = upstream.authorize(new URL(headers.get("location") ?? assert.fail("the browser was not sent on")));
      return await browser.visit(back);
    }
  });
}
