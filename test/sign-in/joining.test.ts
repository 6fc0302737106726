// Before a sign-in accepts an invite or an organization, a page asks the person, and a visit changes nothing.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { findRow } from "../../src/storage/collection/rows.ts";
import { groupInviteCollection, identityCollection } from "../../src/storage/iam/collections.ts";
import { isMember } from "../../src/storage/iam/memberships.ts";
import {
  answerForm,
  type Browser,
  type JoinAnswer,
  newBrowser,
  questionOf,
  signInUrl,
  type Visit,
} from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type TurnableClock, turnableClock } from "../security/ground.ts";
import { addCaller, addGroup, ownerRole, viewerRole } from "../security/tree.ts";
import { client, loginSettings, startUpstream, type Upstream } from "./openid-client.ts";

const iam = "/iam/v2beta1";
let people = 0;

for (const database of databases) {
  describe(`the question whether a person joins, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let clock: TurnableClock;
    /** A strange organization with an owner, and the subject and uid of a person who has never been there. */
    let organization: string;
    let owner: Awaited<ReturnType<typeof addCaller>>;
    let sub: string;
    let person: string;

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
      organization = await addGroup(server, null, "stranger");
      owner = await addCaller(server, organization, ownerRole.uid);
      sub = `person-${database}-${people++}`;
      person = userUid(upstream.issuer, sub);
    });

    async function call(method: string, path: string, body?: object, token = owner.token) {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }
    const invite = (changes: object = {}) =>
      call("POST", `${iam}/groupInvites/${organization}`, { roleUid: viewerRole.uid, ttl: "3600s", ...changes });
    const bindPerson = () =>
      call("POST", `${iam}/roleBindings/${organization}`, { identityUid: person, roleUid: viewerRole.uid });
    const addProvider = () =>
      call("POST", `${iam}/identityProviders/${organization}`, {
        name: "own",
        defaultRole: viewerRole.uid,
        oidc: { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret },
      });

    /** Signs in at a provider that asks nothing, as a visit to any page can make a browser do. Returns where the browser ends. */
    async function visit(parameters: Record<string, string>, browser: Browser): Promise<Visit> {
      // An address may begin 20 sign-ins a second.
      clock.advance(200);
      upstream.behaviour.claims = { sub, name: "Some Body", email: "some@example.org" };
      const url = new URL(signInUrl(server.url, parameters));
      if (parameters.idp_id) url.searchParams.delete("client_id");
      const begun = await browser.request(url.href);
      const there = begun.headers.get("location") ?? assert.fail(begun.text);
      return await browser.request(upstream.authorize(new URL(there)));
    }

    /** Signs in and stays at the question. */
    async function ask(parameters: Record<string, string>) {
      const browser = newBrowser({ answer: "none" });
      const end = await visit(parameters, browser);
      const address = questionOf(end) ?? assert.fail(`no question: ${end.headers.get("location")}`);
      return { browser, address, page: await browser.request(address.href) };
    }
    const answerWith = (browser: Browser, page: Visit, answer: string) =>
      browser.send(page.url.origin + page.url.pathname, answerForm(page, answer));
    const signIn = async (parameters: Record<string, string>, answer: JoinAnswer) =>
      parametersOf(await visit(parameters, newBrowser({ answer })));

    /** Returns the stored state of the user, and the organization's grants to the user. */
    const stateOf = async () => ({
      isMember: await isMember(server.server.database.session, { identityUid: person, groupUid: organization }),
      isRegistered: ((await findRow(server.server.database.session, identityCollection, person))?.issuer ?? "") !== "",
      bindings: (await call("GET", `${iam}/roleBindings?identity=${person}`)).roleBindings.map(
        ({ role }: { role: { name: string } }) => role.name,
      ),
      invites: (await call("GET", `${iam}/groupInvites`)).groupInvites.length,
    });

    /** Everything by which a visit to a page can lead a browser into an organization. */
    const ways: readonly [string, () => Promise<Record<string, string>>, RegExp][] = [
      ["an invite", async () => ({ invite: (await invite({ singleUse: true })).code }), /You are invited/],
      [
        "a scope",
        async () => {
          await bindPerson();
          return { scope: organization };
        },
        /has given you a role/,
      ],
      ["the organization's provider", async () => ({ idp_id: (await addProvider()).uid }), /login provider of an org/],
    ];

    for (const [way, arrangeIt, shown] of ways) {
      it(`a visit with ${way} shows a page and changes nothing`, async () => {
        const parameters = await arrangeIt();
        const before = await stateOf();
        const { browser, page, address } = await ask(parameters);
        assert.equal(page.status, 200);
        assert.match(page.text, shown);
        assert.match(page.text, /viewer/);
        assert.match(page.text, /a program on this computer \(localhost:1\)/);
        assert.match(page.text, /Some Body/);
        assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
        assert.equal(page.headers.get("cache-control"), "no-store");
        await browser.request(address.href);
        assert.deepEqual(await stateOf(), before);
      });

      it(`"Join" accepts what ${way} offers, and later sign-ins ask nothing`, async () => {
        const parameters = await arrangeIt();
        assert.ok((await signIn(parameters, "join")).token);
        const { isMember: hasJoined, bindings } = await stateOf();
        assert.deepEqual([hasJoined, bindings], [true, ["viewer"]]);
        const { invite: _, ...later } = parameters;
        assert.ok((await signIn(later, "none")).token);
      });

      it(`"Not now" changes nothing that ${way} offers`, async () => {
        const parameters = await arrangeIt();
        const before = await stateOf();
        const end = await signIn(parameters, "not_now");
        const now = await stateOf();
        assert.deepEqual({ ...now, isRegistered: before.isRegistered }, before);
        // A person with an invite signs in without it; other sign-ins are for the organization.
        assert.equal(end.token !== undefined, way === "an invite");
        if (way !== "an invite") assert.match(end.error ?? "", /organization that you have not joined/);
        assert.ok(questionOf(await visit(parameters, newBrowser({ answer: "none" }))), "it is asked again");
      });
    }

    it("shows the name of an organization with its invite, and who made it", async () => {
      const { code } = await invite();
      const { page } = await ask({ invite: code });
      assert.match(page.text, /<strong>stranger<\/strong>/);
      assert.match(page.text, /<dt>Invited by<\/dt><dd>identity<\/dd>/);
    });

    it("shows only the uid of an organization that is not verified, unless an invite proves that the person may know it", async () => {
      await bindPerson();
      const { page } = await ask({ scope: organization });
      assert.doesNotMatch(page.text, /stranger/);
      assert.match(page.text, new RegExp(organization));
    });

    it("speaks German to a browser that prefers it", async () => {
      const { code } = await invite();
      const { browser, address } = await ask({ invite: code });
      const page = await browser.send(address.href, { headers: { "accept-language": "de-CH,de;q=0.9,en;q=0.8" } });
      assert.match(page.text, /<html lang="de">/);
      assert.match(page.text, /Beitreten/);
    });

    it("lets a program at an IPv6 address have its token", async () => {
      const { code } = await invite();
      const { page } = await ask({ invite: code, redirect: "http://[::1]:1/callback?token=true" });
      assert.match(page.headers.get("content-security-policy") ?? "", /form-action 'self' http:$/);
    });

    it(`"Decline" deletes the role bindings that wait, and the organization does not learn who did it`, async () => {
      await bindPerson();
      await signIn({ scope: organization }, "decline");
      assert.deepEqual((await stateOf()).bindings, []);
      const { changes } = await call("GET", `/gatehouse/changes/v1/changes?parent=${organization}&kind=role_bindings`);
      const [deletion] = changes.filter(({ after }: { after?: object }) => !after);
      assert.deepEqual([deletion.actorUid ?? "", deletion.actorClaims ?? {}], ["", {}]);
    });

    it(`"Decline" uses up an invite for one person, and no other`, async () => {
      const [single, many] = [await invite({ singleUse: true }), await invite()];
      for (const { code } of [single, many]) assert.ok((await signIn({ invite: code }, "decline")).token);
      const session = server.server.database.session;
      assert.equal(await findRow(session, groupInviteCollection, single.uid), undefined);
      assert.ok(await findRow(session, groupInviteCollection, many.uid));
    });

    it("asks nothing for an invite whose role the person has, and does not use it up", async () => {
      const first = await invite();
      await signIn({ invite: first.code }, "join");
      const second = await invite({ singleUse: true });
      assert.ok((await signIn({ invite: second.code }, "none")).token);
      assert.ok(await findRow(server.server.database.session, groupInviteCollection, second.uid));
    });

    it("asks again when the invite gives another role than the page has shown", async () => {
      const made = await invite();
      const { browser, page } = await ask({ invite: made.code });
      await call("PATCH", `${iam}/groupInvites/${made.uid}`, { roleUid: ownerRole.uid });
      const end = await answerWith(browser, page, "join");
      const next = questionOf(end) ?? assert.fail(`not asked again: ${end.headers.get("location")}`);
      assert.match((await browser.request(next.href)).text, /owner/);
      assert.deepEqual((await stateOf()).bindings, []);
    });

    describe("security: an answer", () => {
      let asked: Awaited<ReturnType<typeof ask>>;
      beforeEach(async () => {
        asked = await ask({ invite: (await invite({ singleUse: true })).code });
      });
      const unchanged = async () => {
        const { isMember: hasJoined, bindings, invites } = await stateOf();
        assert.deepEqual({ hasJoined, bindings, invites }, { hasJoined: false, bindings: [], invites: 1 });
      };
      const form = (page: Visit, headers: Record<string, string>, change = (body: string) => body): RequestInit => {
        const { body, headers: own, ...init } = answerForm(page, "join");
        return { ...init, body: change(String(body)), headers: { ...(own as Record<string, string>), ...headers } };
      };
      const target = () => `${server.url}/oauth/join`;

      it("an answer from a page of another site is rejected", async () => {
        for (const headers of [
          { origin: "https://evil.example" },
          { origin: "null" },
          { "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "same-site" },
        ]) {
          const { status } = await asked.browser.send(target(), form(asked.page, headers as Record<string, string>));
          assert.equal(status, 403, JSON.stringify(headers));
        }
        await unchanged();
      });

      it("an answer with a wrong secret, without one, or with two is rejected", async () => {
        for (const change of [
          (body: string) => body.replace(/sign_in=./, "sign_in=*"),
          () => "answer=join",
          (body: string) => `${body}&sign_in=x`,
        ]) {
          const { status } = await asked.browser.send(target(), form(asked.page, {}, change));
          assert.equal(status, 400);
        }
        await unchanged();
      });

      it("an answer from another browser is rejected, with its own cookies or without cookies", async () => {
        const other = await ask({ invite: (await invite()).code });
        for (const browser of [newBrowser({ answer: "none" }), other.browser])
          assert.equal((await browser.send(target(), form(asked.page, {}))).status, 400);
        assert.equal((await other.browser.request(asked.address.href)).status, 400);
        assert.deepEqual((await stateOf()).bindings, []);
      });

      it("an answer is accepted once", async () => {
        const [one, two] = await Promise.all([
          asked.browser.send(target(), form(asked.page, {})),
          asked.browser.send(target(), form(asked.page, {})),
        ]);
        assert.deepEqual([one.status, two.status].sort(), [303, 400]);
        assert.equal((await asked.browser.send(target(), form(asked.page, {}))).status, 400);
      });

      it("an answer by GET, or with another word, changes nothing", async () => {
        const query = String(answerForm(asked.page, "join").body);
        assert.equal((await asked.browser.request(`${target()}?${query}`)).status, 200);
        const reply = await asked.browser.send(
          target(),
          form(asked.page, {}, (body) => body.replace("join", "yes")),
        );
        assert.equal(reply.status, 400);
        await unchanged();
      });

      it("an answer as JSON is rejected, and so is one that is too long", async () => {
        const json = form(asked.page, { "content-type": "application/json" }, () => "{}");
        assert.ok((await asked.browser.send(target(), json)).status >= 400);
        const long = form(asked.page, {}, (body) => `${body}&x=${"x".repeat(5000)}`);
        assert.equal((await asked.browser.send(target(), long)).status, 413);
        await unchanged();
      });
    });
  });
}

/** Returns the parameters that a program finds in the address that the browser ends at. */
function parametersOf({ headers, text }: Visit): Record<string, string> {
  const location = headers.get("location") ?? assert.fail(text);
  assert.match(location, /^http:\/\/localhost:1\/callback/);
  return Object.fromEntries(new URL(location).searchParams);
}
