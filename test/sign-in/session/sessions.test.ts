// The sessions of browsers: two cookies that only the session endpoints accept, and short tokens for the API.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { userUid } from "../../../src/services/iam/users/user-uid.ts";
import { signInLimits } from "../../../src/sign-in/limits.ts";
import { type Session, sessionsOfPerson } from "../../../src/sign-in/session/sessions.ts";
import type { RefreshStore } from "../../../src/sts/refresh.ts";
import { answersOf, type Browser, newBrowser, signInAs, signInUrl, type Visit } from "../../harness/browser.ts";
import { databases } from "../../harness/databases.ts";
import { keptLog } from "../../harness/kept-log.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { viewerRole } from "../../security/tree.ts";

const page = "/console/groups?open=1";

after(stopPostgres);

for (const database of databases) {
  describe(`sessions of browsers, ${database}`, () => {
    let server: TestServer;
    const log = keptLog();
    let aheadMs = 0;
    before(async () => {
      server = await startTestServer({ database, log: log.stream, clock: () => Date.now() + aheadMs });
    });
    after(() => server[Symbol.asyncDispose]());
    // One address may start so many sign-ins in a second.
    beforeEach(() => {
      aheadMs += 1000;
    });

    const at = (name: string) => `${server.url}/oauth/session/${name}`;
    const bodyOf = ({ text }: Visit) => JSON.parse(text);

    /** Signs a person in with a browser, and returns the browser and where it ended. */
    async function signIn(name: string, browser = newBrowser()): Promise<{ browser: Browser; last: Visit }> {
      let started = await browser.post(at("sign-in"), { page });
      if (started.status === 429) {
        // All tests have one address, which may start `signInsPerSecond`.
        await setTimeout(Number(started.headers.get("retry-after")) * 1000);
        started = await browser.post(at("sign-in"), { page });
      }
      assert.equal(started.status, 200, started.text);
      const chooser = await browser.visit(bodyOf(started).url);
      let last = await browser.request(`${chooser.url.origin}${chooser.url.pathname}?name=${name}`);
      for (let location = last.headers.get("location"); location; location = last.headers.get("location")) {
        const next = new URL(location, last.url).href;
        if (next.includes("/console/")) break;
        last = await browser.request(next);
      }
      return { browser, last };
    }

    const tokenOf = async (browser: Browser) => bodyOf(await browser.post(at("token"))).token as string;
    const listOf = async (browser: Browser) =>
      bodyOf(await browser.post(at("list"))).sessions as { id: string; isCurrent: boolean; isBrowser: boolean }[];
    const callsApi = async (token: string) => (await rest(server.url, token, "GET", "/auth/v1/ok")).status;

    it("begin with a sign-in that opens a page of the console, whose address has no secret", async () => {
      const { browser, last } = await signIn("first");
      assert.equal(last.status, 303);
      assert.equal(last.headers.get("location"), server.url + page);
      assert.equal(last.headers.get("referrer-policy"), "no-referrer");
      const issued = bodyOf(await browser.post(at("token")));
      const { body } = await rest(server.url, issued.token, "GET", "/auth/v1/ok");
      assert.equal(body.subject, userUid(`${server.config.baseUrl}/development/login`, "first"));
      const lifeMs = Date.parse(issued.expireTime) - server.clock();
      assert.ok(lifeMs > 0 && lifeMs <= signInLimits.browserTokenMs, String(lifeMs));
    });

    it("sessions of browsers have cookies that no script reads, no other site sends, and no other path gets", async () => {
      const { last } = await signIn("cookies");
      const lines = last.headers.getSetCookie().filter((line) => !line.startsWith("gatehouse-login"));
      const port = server.config.port;
      assert.deepEqual(
        lines.map((line) => line.replace(/=[^;]+/, "=…")),
        [
          `gatehouse-session-${port}=…; Path=/oauth/session; HttpOnly; SameSite=Strict; Max-Age=604800`,
          `gatehouse-browser-${port}=…; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800`,
        ],
      );
    });

    it("sessions of browsers do not open the API: cookies alone are 401, and so is their token as a bearer token", async () => {
      const { browser } = await signIn("cookie-alone");
      const cookie = [...browser.cookies.values()].map(({ name, value }) => `${name}=${value}`).join("; ");
      const session = [...browser.cookies.values()].find(({ name }) => name.startsWith("gatehouse-session"))!.value;
      for (const path of ["/iam/v2beta1/groups", "/auth/v1/ok"]) {
        const origin = server.url;
        assert.equal((await fetch(server.url + path, { headers: { cookie, origin } })).status, 401);
        assert.equal((await rest(server.url, session, "GET", path)).status, 401);
      }
      const refreshed = await fetch(`${server.url}/sts/exchange_refresh_token`, {
        method: "POST",
        headers: { authorization: `Bearer ${session}` },
        body: new URLSearchParams({ aud: server.config.baseUrl }),
      });
      assert.equal(refreshed.status, 403);
      assert.equal((await browser.post(at("token"))).status, 200, "the attempt ended the session");
    });

    it("give tokens to several tabs, again and again, and after a response that was lost", async () => {
      const { browser } = await signIn("tabs");
      const replies = await Promise.all(Array.from({ length: 8 }, () => browser.post(at("token"))));
      assert.deepEqual(
        replies.map(({ status }) => status),
        Array(8).fill(200),
      );
    });

    it("sessions that a user ends are in the audit log of the user's organizations, with the client's address", async () => {
      const invites = `/iam/v2beta1/groupInvites/${server.groupUid}`;
      const wanted = { roleUid: viewerRole.uid, ttl: "600s", singleUse: true };
      const { body: invite } = await rest(server.url, server.ownerToken, "POST", invites, wanted);
      await signInAs("leaver", signInUrl(server.url, { invite: invite.code }));
      const { browser } = await signIn("leaver");
      await signIn("leaver");
      assert.equal(bodyOf(await browser.post(at("revoke-others"))).revoked, 1);
      assert.equal((await browser.post(at("sign-out"))).status, 200);
      const uid = userUid(`${server.config.baseUrl}/development/login`, "leaver");
      const query = new URLSearchParams({ parent: server.groupUid, kind: "session_ends" });
      // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
      let found: any[] = [];
      while (found.length < 2) {
        const { body } = await rest(server.url, server.ownerToken, "GET", `/gatehouse/changes/v1/changes?${query}`);
        found = body.changes.filter((entry: { actorUid?: string }) => entry.actorUid === uid);
        await setTimeout(100);
      }
      const seen = found.map(({ method, after }) => [method, after.check, after.outcome, after.client]);
      assert.deepEqual(seen.toSorted(), [
        ["/oauth/session/revoke", "session_revoked", "allowed", "127.0.0.1"],
        ["/oauth/session/sign-out", "signed_out", "allowed", "127.0.0.1"],
      ]);
    });

    it("serve pages of their own origin only", async () => {
      const { browser } = await signIn("origin");
      const origins = [undefined, "null", "https://evil.example", `${server.url}.evil.example`, "http://localhost:1"];
      for (const name of ["sign-in", "token", "list", "revoke", "revoke-others", "sign-out"])
        for (const origin of origins) {
          const cookie = [...browser.cookies.values()].map((one) => `${one.name}=${one.value}`).join("; ");
          const headers = { cookie, ...(origin !== undefined && { origin }) };
          const reply = await fetch(at(name), { method: "POST", headers, body: "{}" });
          assert.equal(reply.status, 403, `${name} of ${origin}`);
          assert.deepEqual(reply.headers.getSetCookie(), []);
          assert.equal(reply.headers.get("access-control-allow-credentials"), null);
        }
      assert.equal((await browser.request(at("token"))).status, 405);
      assert.equal((await browser.post(at("token"))).status, 200);
    });

    it("lead to no other site after a sign-in", async () => {
      const pages = [
        "",
        "/",
        "/console",
        "/consoles/x",
        "console/",
        "//evil.example/console/",
        "https://evil.example/console/",
        "/docs/api/../../oauth",
        "/docs/apis",
        "/docs/",
        "/console/../oauth",
        "/console/%2e%2e/oauth",
        "/console/..\\..\\oauth",
        "\\\\evil.example/console/",
        "javascript:alert(1)//console/",
        `/console/${"x".repeat(2100)}`,
      ];
      for (const wanted of pages) {
        const reply = await newBrowser().post(at("sign-in"), { page: wanted });
        assert.equal(reply.status, 400, wanted);
        assert.match(reply.text, /page: must be a path below \/console\//);
      }
      const inOauth = await newBrowser().request(
        `${server.url}/oauth?redirect=${encodeURIComponent(server.url + page)}x`,
      );
      assert.doesNotMatch(inOauth.headers.get("set-cookie") ?? "", /gatehouse-session/);
    });

    it("reject a body that is not an object of texts, and name the parameter that is wrong", async () => {
      const cases: readonly (readonly [unknown, RegExp])[] = [
        [[], /body: must be a JSON object/],
        [{ page, invite: 7 }, /invite: must be a text/],
        [{ page, identity: "nonsense" }, /identity: must be a uid/],
        [{ page, audience: "https://elsewhere.example" }, /audience/],
      ];
      for (const [body, message] of cases) {
        const reply = await newBrowser().post(at("sign-in"), body);
        assert.equal(reply.status, 400);
        assert.match(reply.text, message);
      }
    });

    it("sessions of browsers cannot be planted in another browser: by a login that someone else started, nor by its cookie", async () => {
      const attacker = newBrowser();
      const started = bodyOf(await attacker.post(at("sign-in"), { page }));
      const chooser = await attacker.visit(started.url);
      let last = await attacker.request(`${chooser.url.origin}${chooser.url.pathname}?name=attacker`);
      while (!last.headers.get("location")?.includes("/oauth/callback"))
        last = await attacker.request(new URL(last.headers.get("location")!, last.url).href);
      const victim = newBrowser();
      const refused = await victim.visit(last.headers.get("location")!);
      assert.equal(refused.status, 400);
      assert.equal(victim.cookies.size, 0);

      const { browser } = await signIn("attacker");
      const [planted] = [...browser.cookies].filter(([, { name }]) => name.startsWith("gatehouse-session"));
      victim.cookies.set(...planted!);
      assert.equal((await victim.post(at("token"))).status, 401);
      const { browser: own } = await signIn("victim");
      own.cookies.set("planted too", { ...planted![1] });
      assert.equal((await own.post(at("token"))).status, 401, "two session cookies are ambiguous");
    });

    it("sessions of browsers are new at every sign-in, which ends the session that the browser had", async () => {
      const { browser } = await signIn("again");
      const [old] = await listOf(browser);
      const before = new Map(browser.cookies);
      await signIn("again", browser);
      const sessions = await listOf(browser);
      assert.equal(sessions.length, 1);
      assert.notEqual(sessions[0]!.id, old!.id);
      browser.cookies.clear();
      for (const [key, cookie] of before) browser.cookies.set(key, cookie);
      assert.equal((await browser.post(at("token"))).status, 401);
    });

    it("end when the person signs out, and the browser forgets them", async () => {
      const { browser } = await signIn("leaver");
      const cookies = new Map(browser.cookies);
      assert.equal((await browser.post(at("sign-out"))).status, 200);
      assert.deepEqual(
        [...browser.cookies.values()].filter(({ name }) => /^gatehouse-(session|browser)/.test(name)),
        [],
      );
      for (const [key, cookie] of cookies) browser.cookies.set(key, cookie);
      assert.equal((await browser.post(at("token"))).status, 401);
      assert.equal((await browser.post(at("sign-out"))).status, 200, "signing out again succeeds");
    });

    it("list the sessions of the person alone, and end one or all others", async () => {
      const [first, second, third] = await Promise.all([1, 2, 3].map(async () => (await signIn("many")).browser));
      const program = answersOf(await signInAs("many", signInUrl(server.url, { create_refresh_token: "true" })));
      const { browser: stranger } = await signIn("stranger");
      const all = await listOf(first!);
      assert.deepEqual(all.map(({ isBrowser }) => isBrowser).sort(), [false, true, true, true]);
      assert.equal(all.filter(({ isCurrent }) => isCurrent).length, 1);
      const own = (await listOf(second!)).find(({ isCurrent }) => isCurrent)!;

      assert.equal((await stranger.post(at("revoke"), { id: own.id })).status, 404);
      assert.equal((await second!.post(at("token"))).status, 200);
      assert.equal((await first!.post(at("revoke"), { id: own.id })).status, 200);
      assert.equal((await second!.post(at("token"))).status, 401);

      assert.deepEqual(bodyOf(await first!.post(at("revoke-others"))), { revoked: 2 });
      assert.equal((await third!.post(at("token"))).status, 401);
      const refreshed = await fetch(`${server.url}/sts/exchange_refresh_token`, {
        method: "POST",
        headers: { authorization: `Bearer ${program.refresh_token}` },
        body: new URLSearchParams({ aud: server.config.baseUrl }),
      });
      assert.equal(refreshed.status, 403);
      assert.equal((await listOf(first!)).length, 1);
      assert.equal((await stranger.post(at("token"))).status, 200);
    });

    it("sessions end when the account is deleted", async () => {
      const { browser } = await signIn("deleted");
      const uid = userUid(`${server.config.baseUrl}/development/login`, "deleted");
      const token = await tokenOf(browser);
      assert.equal((await rest(server.url, token, "DELETE", `/auth/v1/delete/${uid}`)).status, 200);
      assert.equal((await browser.post(at("token"))).status, 401);
    });

    it("end after a day without use, and after a week in any case", async () => {
      try {
        const { browser: idle } = await signIn("idle");
        const { browser: busy } = await signIn("busy");
        const token = await tokenOf(idle);
        aheadMs += signInLimits.browserTokenMs + 60_000;
        assert.equal(await callsApi(token), 401, "the API token is short");
        for (let days = 0; days < 6; days++) {
          aheadMs += signInLimits.browserIdleMs - 3600_000;
          assert.equal((await busy.post(at("token"))).status, 200);
        }
        assert.equal((await idle.post(at("token"))).status, 401);
        aheadMs += signInLimits.browserIdleMs;
        assert.equal((await busy.post(at("token"))).status, 401);
      } finally {
        aheadMs = 0;
      }
    });

    it("sessions of browsers are limited to so many invalid attempts of one address", async () => {
      const seen = new Set<number>();
      for (let batch = 0; batch < 40 && !seen.has(429); batch++) {
        const attempts = Array.from({ length: 60 }, () => newBrowser().post(at("token")));
        for (const { status } of await Promise.all(attempts)) seen.add(status);
      }
      assert.deepEqual([...seen], [401, 429]);
    });

    it("leave no secret in the log", async () => {
      // The failures of the test before have been forgotten then.
      await setTimeout(1100);
      const { browser } = await signIn("quiet");
      const token = await tokenOf(browser);
      for (const { value } of browser.cookies.values()) assert.ok(!log.text().includes(value));
      assert.ok(!log.text().includes(token.split(".")[2]!));
    });
  });
}

describe("the sessions of one person", () => {
  it("the sessions of one person are not those of another person with the same subject at another issuer", async () => {
    const familyOf = (iss: string) =>
      ({
        id: iss,
        identityUid: "i",
        createTime: 1,
        expireTime: 3,
        signIn: { act: { iss, sub: "ann" } },
      }) as unknown as Session;
    const families = ["https://one.test", "https://two.test"].map(familyOf);
    const refreshStore = { listOf: async () => families } as unknown as RefreshStore;
    const found = await sessionsOfPerson({ refreshStore, clock: () => 2 }, families[0]!);
    assert.deepEqual(found, [families[0]]);
  });
});
