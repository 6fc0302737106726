// Sign-in under attack: other browsers, login providers that lie, replayed codes.

import assert from "node:assert/strict";
import { createDecipheriv, createPublicKey, diffieHellman, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { userCodeOf } from "../../src/sign-in/user-code.ts";
import { answersOf, type Browser, newBrowser, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { keptLog } from "../harness/kept-log.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { client, loginSettings, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { keyPair } from "../sts/outside.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { ownerRole, viewerRole } from "./tree.ts";

/** Returns a device without a browser, and its code. */
function newDevice() {
  const device = generateKeyPairSync("x25519");
  return { device, code: device.publicKey.export({ format: "jwk" }).x! };
}

for (const database of databases) {
  describe(`signing in under attack, ${database}`, () => {
    let upstream: Upstream;
    let server: TestServer;
    let clock: TurnableClock;
    const log = keptLog();
    before(async () => {
      upstream = await startUpstream();
      clock = turnableClock();
      server = await startTestServer({
        database,
        clock: clock.read,
        log: log.stream,
        settings: loginSettings(upstream),
      });
    });
    beforeEach(() => {
      for (const key of Object.keys(upstream.behaviour))
        delete upstream.behaviour[key as keyof typeof upstream.behaviour];
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    /** Begins a sign-in and answers the address at the provider. */
    async function begin(browser: Browser, parameters: Record<string, string> = {}): Promise<URL> {
      // The budget of an address is counted by the second.
      clock.advance(1000);
      const { headers, text } = await browser.request(signInUrl(server.url, parameters));
      return new URL(headers.get("location") ?? assert.fail(text));
    }

    async function signIn(parameters: Record<string, string> = {}): Promise<Record<string, string>> {
      const browser = newBrowser();
      const { headers } = await browser.request(upstream.authorize(await begin(browser, parameters)));
      const url = new URL(headers.get("location") ?? assert.fail("the browser was not sent on"));
      return Object.fromEntries(url.searchParams);
    }

    const refused = async (parameters: Record<string, string> = {}) => {
      const { token, error = "", status_code: status = "" } = await signIn(parameters);
      assert.equal(token, undefined);
      return `${status} ${error}`;
    };

    async function invite(groupInvite: object): Promise<string> {
      const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
      const invite = { roleUid: viewerRole.uid, ttl: "60s", ...groupInvite };
      return (await rest(server.url, await server.tokenOf(server.ownerUid), "POST", path, invite)).body.code;
    }

    const bindingsOf = async (subject: string) => {
      const identity = userUid(upstream.issuer, subject);
      const { body } = await rest(
        server.url,
        server.ownerToken,
        "GET",
        `/iam/v2beta1/roleBindings?identity=${identity}`,
      );
      return Number(body.totalCount);
    };

    const refresh = (url: string, token: string, aud: string) =>
      fetch(`${url}/sts/exchange_refresh_token`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ aud }),
      });

    it("the provider is asked with PKCE, state and nonce, and never twice with the same", async () => {
      const [one, other] = [await begin(newBrowser()), await begin(newBrowser())].map(
        ({ searchParams }) => searchParams,
      );
      assert.equal(one!.get("code_challenge_method"), "S256");
      assert.equal(one!.get("redirect_uri"), `${server.config.baseUrl}/oauth/callback`);
      for (const name of ["state", "nonce", "code_challenge"]) {
        assert.match(one!.get(name) ?? "", /^[\w-]{43}$/, name);
        assert.notEqual(one!.get(name), other!.get(name), name);
      }
    });

    it("another browser cannot finish what this one has begun, nor be made to", async () => {
      const [attacker, victim] = [newBrowser(), newBrowser()];
      const back = upstream.authorize(await begin(attacker));
      assert.equal((await victim.request(back)).status, 400);
      // With a login of its own under way neither.
      await begin(victim);
      assert.equal((await victim.request(back)).status, 400);
      // A cookie of the right name is not enough.
      const [own] = victim.cookies.values();
      for (const [key, { name }] of attacker.cookies) victim.cookies.set(key, { ...own!, name });
      assert.equal((await victim.request(back)).status, 400);
      assert.equal((await attacker.request(back)).status, 303);
    });

    it("X7: a callback works once, and a code twice redeemed is invalid_grant", async () => {
      const browser = newBrowser();
      const back = upstream.authorize(await begin(browser));
      const cookies = new Map(browser.cookies);
      const cookie = [...cookies.values()].map(({ name, value }) => `${name}=${value}`).join("; ");
      assert.equal((await fetch(back, { method: "HEAD", headers: { cookie } })).status, 405);
      assert.ok(new URL((await browser.request(back)).headers.get("location") ?? "").searchParams.get("token"));
      for (const [key, cookie] of cookies) browser.cookies.set(key, cookie);
      assert.equal((await browser.request(back)).status, 400);
      // The same code under a new state.
      const next = await begin(browser);
      const code = new URL(back).searchParams.get("code") ?? "";
      const callback = `${server.config.baseUrl}/oauth/callback?code=${code}&state=${next.searchParams.get("state")}`;
      const location = (await browser.request(callback)).headers.get("location") ?? "";
      assert.equal(new URL(location).searchParams.get("token"), null);
      assert.match(log.text(), /"check":"invalid_grant"/);
    });

    it("X7: one of eight concurrent callbacks of a sign-in reaches the provider and ends with a token", async () => {
      const browser = newBrowser();
      const back = upstream.authorize(await begin(browser));
      const eightTimes = (url: string) => Promise.all(Array.from({ length: 8 }, () => browser.request(url)));
      // Connections that are open already, so none is late.
      await eightTimes(`${server.url}/healthz`);
      const asked = upstream.asked.length;
      const replies = await eightTimes(back);
      assert.deepEqual(replies.map(({ status }) => status).sort(), [303, ...Array(7).fill(400)]);
      const tokens = replies.map(({ headers }) => new URL(headers.get("location") ?? "about:blank").searchParams);
      assert.equal(tokens.filter((each) => each.has("token")).length, 1);
      // The provider, too, may take a code more often than once.
      assert.equal(upstream.asked.slice(asked).filter((each) => each === "/token").length, 1);
    });

    it("X8: a code that was given for another sign-in does not redeem", async () => {
      const [one, other] = [newBrowser(), newBrowser()];
      const stolen = new URL(upstream.authorize(await begin(one))).searchParams.get("code") ?? "";
      upstream.behaviour.callback = { code: stolen };
      const end = await other.request(upstream.authorize(await begin(other)));
      const answers = new URL(end.headers.get("location") ?? "").searchParams;
      assert.deepEqual([answers.get("token"), answers.get("status_code")], [null, "403"]);
    });

    const lies: readonly [what: string, behaviour: (upstream: Upstream) => Upstream["behaviour"]][] = [
      ["is for another client", () => ({ claims: { aud: "another-client" } })],
      ["is of another issuer", () => ({ claims: { iss: "https://issuer.example" } })],
      ["has another nonce", () => ({ claims: { nonce: "x" } })],
      ["has no nonce", () => ({ claims: { nonce: undefined } })],
      ["has expired", () => ({ claims: { exp: 1 } })],
      ["has no subject", () => ({ claims: { sub: undefined } })],
      ["is signed by a stranger", () => ({ key: keyPair("RS256", "stranger") })],
      ["is signed by another algorithm", () => ({ key: keyPair("ES256") })],
      ["does not come", () => ({ token: { status: 200, body: { access_token: "x", token_type: "Bearer" } } })],
      ["comes with the issuer of another (RFC 9207)", () => ({ callback: { iss: "https://issuer.example" } })],
    ];
    for (const [what, behaviour] of lies) {
      it(`rejects an ID token that ${what}`, async () => {
        Object.assign(upstream.behaviour, behaviour(upstream));
        assert.match(await refused(), /^403 .*could not be verified/);
      });
    }

    it("T11: rejects NUL in a subject or a scope, and ignores an address with NUL", async () => {
      upstream.behaviour.claims = { sub: "a\0b" };
      assert.match(await refused(), /^403 .*subject/);
      upstream.behaviour.claims = { sub: "half", email: "a\0@example.org" };
      assert.ok((await signIn()).token);
      upstream.behaviour.claims = { sub: "scoped" };
      assert.match(await refused({ scope: "a\0b" }), /^403 .*no group has the name/);
      assert.equal(await (await fetch(`${server.url}/orgcheck?name=a%00b`)).json(), false);
    });

    it("J6: a provider whose discovery document names another issuer is not used", async () => {
      const other = await startUpstream();
      other.answers["/.well-known/openid-configuration"] = {
        ...(other.answers["/.well-known/openid-configuration"] as object),
        issuer: `${other.issuer}/`,
      };
      await using lying = await startTestServer({ settings: loginSettings(other) });
      const { headers } = await newBrowser().request(signInUrl(lying.url));
      assert.match(
        new URL(headers.get("location") ?? "").searchParams.get("error") ?? "",
        /login provider cannot be used/,
      );
      await other[Symbol.asyncDispose]();
    });

    it("an error of a provider is shown in our own words", async () => {
      upstream.behaviour.token = { status: 503, body: { error: "canary-upstream-text" } };
      assert.match(await refused(), /^503 .*does not answer/);
      delete upstream.behaviour.token;
      upstream.behaviour.callback = {
        code: undefined as never,
        error: "access_denied",
        error_description: "canary-text",
      };
      assert.match(await refused(), /^403 .*refused: access_denied$/);
      assert.doesNotMatch(log.text(), /canary-(upstream-)?text/);
    });

    it("rejects a sign-in that took too long", async () => {
      const browser = newBrowser();
      const back = upstream.authorize(await begin(browser));
      clock.advance(11 * 60_000);
      assert.equal((await browser.request(back)).status, 400);
    });

    for (const redirect of ["https://evil.example/callback", "http://localhost@evil.example/", ""]) {
      it(`a redirect to ${redirect || "nowhere"} stays on a page of ours`, async () => {
        const { status, headers, text } = await newBrowser().request(signInUrl(server.url, { redirect }));
        assert.equal(status, 400);
        assert.equal(headers.get("location"), null);
        assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/);
        assert.match(text, /redirect: must be an http address/);
      });
    }

    it("R4, X11: an invite is for the verified address that it names, to the letter, and until it expires", async () => {
      const code = await invite({ email: "person@example.org" });
      const others = [
        { email: "other@example.org" },
        { email: "PERSON@example.org" },
        { email: "person@EXAMPLE.org" },
        { email: "person@example.org." },
        { email: "person@evil@example.org" },
        { email: "pers\u043en@example.org" },
        { email_verified: false },
        { email_verified: "true" },
        { email: undefined },
      ];
      for (const [i, claims] of others.entries()) {
        upstream.behaviour.claims = { sub: `other-${i}`, ...claims };
        assert.match(await refused({ invite: code }), /^403 .*for another address/, JSON.stringify(claims));
        assert.equal(await bindingsOf(`other-${i}`), 0);
      }
      upstream.behaviour.claims = { sub: "invited" };
      assert.ok((await signIn({ invite: code })).token);
      assert.equal(await bindingsOf("invited"), 1);
      clock.advance(61_000);
      upstream.behaviour.claims = { sub: "late" };
      assert.match(await refused({ invite: code }), /^400 .*expired/);
      assert.equal(await bindingsOf("late"), 0);
      const { body } = await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/roleBindings?page_size=1");
      assert.ok(Number(body.totalCount) > 0);
    });

    it("R4: an invited user gets the role of the invite and no other", async () => {
      upstream.behaviour.claims = { sub: "guest" };
      const { token = "" } = await signIn({ invite: await invite({}) });
      assert.equal((await rest(server.url, token, "GET", `/iam/v2beta1/groups/${server.groupUid}`)).status, 200);
      const change = await rest(server.url, token, "PATCH", `/iam/v2beta1/groups/${server.groupUid}`, {
        description: "x",
      });
      assert.equal(change.status, 403);
    });

    it("the key id of an invite, which lists show, is not enough without the rest of its code", async () => {
      const code = await invite({});
      upstream.behaviour.claims = { sub: "guesser" };
      for (const guess of [code.slice(0, 32) + "0".repeat(64), code.slice(0, 95) + (code.endsWith("0") ? "1" : "0")])
        assert.match(await refused({ invite: guess }), /^400 Not found/);
      assert.equal(await bindingsOf("guesser"), 0);
    });

    it("X7: a single-use invite is gone after one use", async () => {
      const code = await invite({ singleUse: true });
      upstream.behaviour.claims = { sub: "first" };
      assert.ok((await signIn({ invite: code })).token);
      upstream.behaviour.claims = { sub: "second" };
      assert.match(await refused({ invite: code }), /^400 Not found/);
      assert.equal(await bindingsOf("second"), 0);
    });

    it("Q3: one of a hundred concurrent uses of a single-use invite succeeds", async () => {
      const code = await invite({ singleUse: true, roleUid: ownerRole.uid });
      const people = await Promise.all(Array.from({ length: 100 }, (_, i) => upstream.idToken({ sub: `racer-${i}` })));
      const replies = await Promise.all(
        people.map((one) => rest(server.url, one, "POST", "/auth/v1/register", { code })),
      );
      assert.deepEqual(
        [replies.filter(({ status }) => status === 200).length, new Set(replies.map(({ status }) => status))],
        [1, new Set([200, 404])],
      );
      const bound = await Promise.all(people.map((_, i) => bindingsOf(`racer-${i}`)));
      assert.equal(
        bound.reduce((sum, one) => sum + one),
        1,
      );
    });

    it("registration accepts only a token of the login provider with our audience", async () => {
      const register = async (token: string, body: object = {}) =>
        (await rest(server.url, token, "POST", "/auth/v1/register", body)).status;
      assert.equal(await register(await upstream.idToken({ sub: "registered" })), 200);
      assert.equal(await register(await upstream.idToken({ aud: "another-client" })), 403);
      assert.equal(await register(await upstream.idToken({ exp: 1 })), 403);
      assert.equal(await register(server.ownerToken), 403);
      assert.equal(await register("a.b.c"), 403);
      assert.equal((await rest(server.url, undefined, "POST", "/auth/v1/register", {})).status, 401);
      assert.equal(await register(await upstream.idToken(), { identityId: server.ownerUid }), 403);
    });

    it("X2: an ID token of the login provider is exchanged for its owner's identity, once that is registered", async () => {
      const exchange = async (claims: Record<string, unknown>) =>
        await rest(server.url, await upstream.idToken(claims), "POST", `/sts/exchange?aud=${server.config.baseUrl}`);
      assert.equal((await exchange({ sub: "not-yet" })).status, 403);
      await rest(server.url, await upstream.idToken({ sub: "by-now" }), "POST", "/auth/v1/register", {});
      const { status, body } = await exchange({ sub: "by-now" });
      assert.equal(status, 200);
      assert.equal(
        (await rest(server.url, body.token, "GET", "/auth/v1/ok")).body.subject,
        userUid(upstream.issuer, "by-now"),
      );
      assert.equal((await exchange({ sub: "by-now", aud: "another-client" })).status, 403);
    });

    it("a refresh token works once; a second use ends the session for everyone", async () => {
      const { refresh_token: first = "" } = await signIn({ create_refresh_token: "true" });
      const aud = server.config.baseUrl;
      const reply = await refresh(server.url, first, aud);
      const { refreshToken } = (await reply.json()) as { refreshToken: { token: string } };
      assert.equal((await refresh(server.url, first, aud)).status, 403);
      assert.equal((await refresh(server.url, refreshToken.token, aud)).status, 403);
    });

    it("at most one of two concurrent refreshes with one token succeeds, and the session ends", async () => {
      const { refresh_token: token = "" } = await signIn({ create_refresh_token: "true" });
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => refresh(server.url, token, server.config.baseUrl)),
      );
      const good = replies.filter(({ status }) => status === 200);
      assert.ok(good.length <= 1);
      for (const reply of good) {
        const { refreshToken } = (await reply.json()) as { refreshToken: { token: string } };
        assert.equal((await refresh(server.url, refreshToken.token, server.config.baseUrl)).status, 403);
      }
    });

    it("a refresh token ends thirty days after the sign-in, however often it was used", async () => {
      const aud = server.config.baseUrl;
      const { refresh_token: first = "" } = await signIn({ create_refresh_token: "true" });
      clock.advance(29 * 86_400_000);
      const { refreshToken } = (await (await refresh(server.url, first, aud)).json()) as {
        refreshToken: { token: string };
      };
      clock.advance(86_400_000);
      assert.equal((await refresh(server.url, refreshToken.token, aud)).status, 403);
    });

    it("T7: a refresh token, an invite code and an ID token are not API tokens, nor the reverse", async () => {
      const { token = "", refresh_token: refreshToken = "" } = await signIn({ create_refresh_token: "true" });
      const code = await invite({});
      for (const other of [refreshToken, code, await upstream.idToken()]) {
        assert.equal((await rest(server.url, other, "GET", "/auth/v1/ok")).status, 401);
      }
      for (const other of [token, code]) {
        assert.equal((await refresh(server.url, other, server.config.baseUrl)).status, 401);
      }
    });

    it("X12: an invite code is not a device code, nor the reverse", async () => {
      const code = await invite({});
      const { status } = await rest(server.url, undefined, "GET", `/sts/headless_sessions?code=${code}`);
      assert.equal(status, 404);
      const target = `${server.url}/oauth?headless_code=${code}`;
      assert.equal((await newBrowser().request(target)).status, 400);
      const { x } = generateKeyPairSync("x25519").publicKey.export({ format: "jwk" });
      assert.match(await refused({ invite: x! }), /^400 Not found/);
    });

    it("X7: a device gets one token for its code, which only it can decrypt", async () => {
      const { device, code } = newDevice();
      const poll = () => rest(server.url, undefined, "GET", `/sts/headless_sessions?code=${code}`);
      assert.equal((await poll()).status, 404);
      const ask = (browser: Browser) => browser.request(`${server.url}/oauth?headless_code=${code}`);
      const begin = async (browser: Browser) => {
        const asked = await ask(browser);
        for (const shown of [userCodeOf(code), code.slice(0, 8)])
          assert.match(asked.text, new RegExp(`<code>${shown}</code>`));
        const link = /<a class="action" href="([^"]+)"/.exec(asked.text)?.[1] ?? assert.fail(asked.text);
        const url = link.replace(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)));
        return upstream.authorize(new URL(url));
      };
      const [first, second] = [newBrowser(), newBrowser()];
      const [back, late] = [await begin(first), await begin(second)];
      // Neither the code nor the state stays in the address, and the page says the same when it is loaded again.
      const done = await first.visit(back);
      assert.deepEqual([done.status, done.url.href], [200, `${server.config.baseUrl}/oauth/done`]);
      assert.match(done.text, /You are signed in/);
      // A client that asks for the headers alone has no use for the token.
      assert.equal((await fetch(`${server.url}/sts/headless_sessions?code=${code}`, { method: "HEAD" })).status, 200);
      const polls = await Promise.all(Array.from({ length: 8 }, poll));
      assert.deepEqual(polls.map(({ status }) => status).sort(), [200, ...Array(7).fill(404)]);
      const { body, headers } = polls.find(({ status }) => status === 200)!;
      assert.equal(headers.get("cache-control"), "no-store");
      const x = Buffer.from(body.ecdhPublicKey, "base64").toString();
      const publicKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
      const bytes = Buffer.from(body.encryptedIdtoken, "base64");
      const key = diffieHellman({ privateKey: device.privateKey, publicKey });
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(-16));
      const token = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
      assert.equal(
        (await rest(server.url, token, "GET", "/auth/v1/ok")).body.subject,
        userUid(upstream.issuer, "person"),
      );
      assert.match((await second.request(late)).text, /the code of the device was used already/);
      // From now on, a user with this code gets the error before they sign in.
      assert.match((await ask(newBrowser())).text, /the code of the device was used already/);
      // A delivered session is as unknown as one that never existed.
      const { code: unknown } = newDevice();
      const asked = (one: string) => rest(server.url, undefined, "GET", `/sts/headless_sessions?code=${one}`);
      const [delivered, never] = [await asked(code), await asked(unknown)];
      assert.deepEqual([delivered.status, delivered.body.message], [404, never.body.message]);
      clock.advance(16 * 60_000);
      assert.equal((await poll()).status, 404);
    });

    it("rejects a key of small order as a code: anyone could compute its secret", async () => {
      const code = Buffer.alloc(32).toString("base64url");
      const browser = newBrowser();
      const asked = await browser.request(`${server.url}/oauth?headless_code=${code}`);
      const link = /<a class="action" href="([^"]+)"/.exec(asked.text)?.[1];
      if (link === undefined) return assert.equal(asked.status, 400);
      const url = link.replace(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)));
      assert.equal((await browser.request(upstream.authorize(new URL(url)))).status, 400);
    });

    it("one address can begin at most twenty sign-ins a second", async () => {
      clock.advance(5000);
      const replies = await Promise.all(Array.from({ length: 40 }, () => newBrowser().request(signInUrl(server.url))));
      const errors = replies.map(({ headers }) =>
        new URL(headers.get("location") ?? "").searchParams.get("status_code"),
      );
      assert.ok(errors.includes("429"));
      assert.ok(errors.includes(null));
    });

    it("L1: no token, code, state, cookie or secret is in the log", async () => {
      clock.advance(5000);
      const browser = newBrowser();
      const there = await begin(browser, { create_refresh_token: "true", invite: await invite({}) });
      const cookies = [...browser.cookies.values()].map(({ value }) => value);
      const back = upstream.authorize(there);
      const answers = answersOf(await browser.visit(back));
      const { code } = Object.fromEntries(new URL(back).searchParams);
      const reply = await refresh(server.url, answers.refresh_token!, server.config.baseUrl);
      assert.equal(reply.status, 200);
      const pair = await reply.json();
      const { token, refreshToken } = pair as { token: { token: string }; refreshToken: { token: string } };
      const hidden = [...cookies, code!, answers.token!, answers.refresh_token!, token.token, refreshToken.token];
      hidden.push(
        there.searchParams.get("state")!,
        there.searchParams.get("nonce")!,
        client.secret,
        "canary-access-token",
      );
      for (const secret of hidden) assert.ok(secret.length > 8, secret);
      log.assertNone(...hidden);
      assert.match(log.text(), /"event":"signed_in"/);
      const rows = await Promise.all(
        (["signIns", "refreshFamilies", "changes"] as const).map((name) =>
          server.server.database.session
            .prepared(`test.${name}`, (db, tables) => db.select().from(tables[name]))
            .execute(),
        ),
      );
      for (const secret of hidden) assert.ok(!JSON.stringify(rows).includes(secret), secret);
    });
  });
}

describe("a refresh repeats the checks of the sign-in", () => {
  /** Signs in at one server, and refreshes at another one on the same data. */
  async function acrossRestart(change: (settings: Record<string, string>, other: Upstream) => Record<string, string>) {
    await using upstream = await startUpstream();
    await using other = await startUpstream();
    const dataDir = mkdtempSync(path.join(tmpdir(), "gatehouse-test-"));
    const listen = `127.0.0.1:${await freePort()}`;
    const settings = {
      ...loginSettings(upstream),
      listen,
      databaseUrl: path.join(dataDir, "kept.db"),
      audiences: "registry.example",
      secretsKey: randomBytes(32).toString("base64"),
    };
    try {
      const first = await startTestServer({ settings });
      const browser = newBrowser();
      const begun = await browser.request(
        signInUrl(first.url, { create_refresh_token: "true", audience: "registry.example" }),
      );
      const end = await browser.visit(upstream.authorize(new URL(begun.headers.get("location") ?? "")));
      const token = answersOf(end).refresh_token ?? "";
      await first[Symbol.asyncDispose]();
      await using second = await startTestServer({ settings: change(settings, other) });
      const reply = await fetch(`${second.url}/sts/exchange_refresh_token`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ aud: "registry.example" }),
      });
      return reply.status;
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }

  it("X5: succeeds without changes, after a restart too", async () => {
    assert.equal(await acrossRestart((settings) => settings), 200);
  });

  it("X5: is denied with another login provider", async () => {
    assert.equal(await acrossRestart((settings, other) => ({ ...settings, ...loginSettings(other) })), 403);
  });

  it("X5: is denied with another client", async () => {
    assert.equal(await acrossRestart((settings) => ({ ...settings, loginClientId: "another" })), 403);
  });

  it("X5: is denied once the audience is no longer accepted", async () => {
    assert.equal(await acrossRestart((settings) => ({ ...settings, audiences: "" })), 403);
  });
});
