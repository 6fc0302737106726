// Sign-in of people on the command line, with the provider of development mode and a browser that follows links.
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { newBrowser, signInAs } from "../harness/browser.ts";
import { basic, getToken, service } from "../registry/sign-in.ts";
import { type Caller, cachePath, homeEnvironment, startCaller, unsigned, writeCache } from "./caller.ts";
import { type Finished, start } from "./process.ts";

let caller: Caller;
describe("sign-in of people on the command line", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  let homes = 0;
  /** Returns a home of a user who is not signed in. */
  function newHome(): Record<string, string> & { HOME: string } {
    const home = path.join(caller.home, `login-${homes++}`);
    return { ...homeEnvironment(home), HOME: home, GATEHOUSE_URL: caller.server.url };
  }

  /** Returns a token of the server that has expired. */
  function expired(audience = caller.server.url, issuer = caller.server.url): string {
    return unsigned({ iss: issuer, aud: audience, exp: 1_700_000_000 });
  }

  /** Runs a login; a browser goes wherever it says. */
  async function login(
    environment: Record<string, string>,
    browse: (address: string) => Promise<unknown>,
    ...args: string[]
  ): Promise<Finished> {
    const running = start(["auth", "login", "-o", "json", ...args], environment);
    let text = "";
    const visited = new Map<string, Promise<unknown>>();
    running.child.stderr?.on("data", (chunk) => {
      text += chunk;
      for (const [, address = ""] of text.matchAll(/^ {2}(http:\S+)\n/gm))
        if (!visited.has(address)) visited.set(address, browse(address));
    });
    const finished = await running.finished;
    await Promise.all(visited.values());
    return finished;
  }

  describe("gatehouse auth login with a browser", () => {
    it("receives the token, stores it with a refresh token, and shows a page without either", async () => {
      const environment = newHome();
      const browser = newBrowser();
      let shown = "";
      const { code, stdout, stderr } = await login(
        environment,
        async (address) => {
          const { url, text } = await signInAs("alice", address, browser);
          shown = `${url.href} ${text}`;
        },
        "--no-browser",
      );
      assert.equal(code, 0, stderr);
      const token = readFileSync(cachePath(environment.HOME, caller.server.url), "utf8");
      assert.equal(decodeJwt(token).sub, JSON.parse(stdout).identity);
      assert.match(shown, /^http:\/\/localhost:\d+\/ .*You are signed in/s);
      assert.ok(!`${shown} ${stdout} ${stderr}`.includes(token));
      const refresh = cachePath(environment.HOME, caller.server.url, "refresh-token");
      assert.equal((statSync(refresh).mode & 0o777).toString(8), "600");
      const status = await caller.runWith({ ...environment, GATEHOUSE_TOKEN: "" }, "auth", "status", "-o", "json");
      assert.match(JSON.parse(status.stdout).signedInAs, /^alice \(/);
    });

    it("renews a token that has expired, once: a used refresh token is invalid", async () => {
      const environment = { ...newHome(), GATEHOUSE_TOKEN: "" };
      const { url } = caller.server;
      await login(environment, (address) => signInAs("alice", address), "--no-browser");
      const before = readFileSync(cachePath(environment.HOME, url, "refresh-token"), "utf8");
      writeCache(environment.HOME, url, expired());
      assert.equal((await caller.runWith(environment, "auth", "status")).code, 0);
      assert.notEqual(readFileSync(cachePath(environment.HOME, url, "refresh-token"), "utf8"), before);
      writeCache(environment.HOME, url, expired());
      writeCache(environment.HOME, url, before, "refresh-token");
      const again = await caller.runWith(environment, "auth", "status");
      assert.equal(again.code, 1);
      assert.match(again.stderr, /expired at .*\n.*gatehouse auth login/);
    });

    it("is renewed once by commands that run at once, and the next time again", async () => {
      const environment = { ...newHome(), GATEHOUSE_TOKEN: "" };
      await login(environment, (address) => signInAs("alice", address), "--no-browser");
      for (let time = 0; time < 2; time++) {
        writeCache(environment.HOME, caller.server.url, expired());
        const commands = [1, 2, 3, 4].map(() => caller.runWith(environment, "auth", "status"));
        for (const { code, stderr } of await Promise.all(commands)) assert.equal(code, 0, stderr);
      }
    });

    it("is renewed at the issuer, as the platform's SDK asks for a token: by issuer and audience alone", async () => {
      const environment = { ...newHome(), GATEHOUSE_TOKEN: "" };
      const { url } = caller.server;
      await login(environment, (address) => signInAs("alice", address), "--no-browser");
      writeCache(environment.HOME, url, expired());
      const elsewhere = { ...environment, GATEHOUSE_URL: "https://api.invalid" };
      const asked = await caller.runWith(elsewhere, "auth", "token", "--issuer", url, "--audience", url);
      assert.equal(asked.code, 0, asked.stderr);
      assert.equal(decodeJwt(asked.stdout).aud, url);
      const wrong = await caller.runWith(elsewhere, "auth", "token", "--issuer", "issuer.test");
      assert.deepEqual(
        [wrong.code, wrong.stderr],
        [2, 'gatehouse: "issuer.test" is not an http or https address\n  It is named with --issuer.\n'],
      );
    });

    it("for the registry: the helper's token is renewed by a refresh token of its own, and is for the registry alone", async () => {
      const environment = { ...newHome(), GATEHOUSE_TOKEN: "" };
      const { url } = caller.server;
      const flags = ["--no-browser", "--audience", url, "--audience", service];
      const { code, stdout, stderr } = await login(environment, (address) => signInAs("alice", address), ...flags);
      assert.equal(code, 0, stderr);
      assert.equal(JSON.parse(stdout).items.length, 2);
      const refreshTokens = () =>
        [url, service].map((audience) => readFileSync(cachePath(environment.HOME, audience, "refresh-token"), "utf8"));
      const [ofApi, ofRegistry] = refreshTokens();
      assert.notEqual(ofApi, ofRegistry);
      writeCache(environment.HOME, service, expired(service));
      const { stdout: token } = await caller.runWith(environment, "auth", "token", "--audience", service);
      assert.equal(decodeJwt(token).aud, service);
      assert.equal((await getToken(url, basic("_token", token), [])).status, 200);
      assert.equal(refreshTokens()[0], ofApi);
      assert.notEqual(refreshTokens()[1], ofRegistry);
    });

    it("for the registry: is not renewed by a refresh token that is stored with another server's token, or without a token", async () => {
      const environment = { ...newHome(), GATEHOUSE_TOKEN: "" };
      const flags = ["--no-browser", "--audience", service];
      await login(environment, (address) => signInAs("alice", address), ...flags);
      const file = cachePath(environment.HOME, service, "refresh-token");
      const before = readFileSync(file, "utf8");
      const print = () => caller.runWith(environment, "auth", "token", "--audience", service);
      const other = "https://api.prod.example";
      // An expired token of another audience would be that of a name which shares the folder.
      for (const token of [expired(service, other), expired("other"), ""]) {
        writeCache(environment.HOME, service, token);
        const { code, stdout, stderr } = await print();
        assert.deepEqual([code, stdout], [1, ""]);
        assert.match(stderr, /there is no token for registry\.gatehouse\.internal/);
        assert.equal(stderr.includes(`is of ${other}, not of ${caller.server.url}`), token === expired(service, other));
        assert.equal(readFileSync(file, "utf8"), before);
      }
      writeCache(environment.HOME, service, expired(service));
      assert.equal(decodeJwt((await print()).stdout).aud, service);
    });

    it("--no-refresh stores no refresh token", async () => {
      const environment = newHome();
      await login(environment, (address) => signInAs("alice", address), "--no-browser", "--no-refresh");
      assert.ok(existsSync(cachePath(environment.HOME, caller.server.url)));
      assert.ok(!existsSync(cachePath(environment.HOME, caller.server.url, "refresh-token")));
    });

    it("a sign-in with an invite code gets its role", async () => {
      const invite = await caller.json("iam", "invites", "create", "--parent", "example.org", "--role", "viewer");
      const environment = { ...newHome(), GATEHOUSE_TOKEN: "" };
      const done = await login(
        environment,
        (address) => signInAs("invited", address),
        "--no-browser",
        "--invite-code",
        invite.code,
      );
      assert.equal(done.code, 0, done.stderr);
      const listed = await caller.runWith(environment, "iam", "groups", "list", "-o", "id");
      assert.equal(listed.stdout, `${caller.server.groupUid}\n`);
      const status = JSON.parse((await caller.runWith(environment, "auth", "status", "-o", "json")).stdout);
      const { items } = await caller.json(
        "changes",
        "list",
        "--parent",
        "example.org",
        "--kind",
        "role_bindings",
        "--limit",
        "1",
      );
      assert.equal(items[0].after.identityUid ?? items[0].after.identity.uid, status.identity);
      assert.equal(items[0].actorUid, status.identity);
      assert.equal(items[0].actorClaims.sub, "invited");
    });

    it("a stored token is renewed once when the server rejects it before it has expired, as one that a retired key has signed", async () => {
      const environment = { ...newHome(), GATEHOUSE_TOKEN: "" };
      const { url } = caller.server;
      const read = (kind?: string) => readFileSync(cachePath(environment.HOME, url, kind), "utf8");
      const refused = () => unsigned({ iss: url, aud: url, sub: "someone", exp: Math.floor(Date.now() / 1000) + 3600 });
      await login(environment, (address) => signInAs("invited", address), "--no-browser");
      for (const args of [
        ["iam", "groups", "list"],
        ["whoami"],
        ["auth", "status"],
        ["api", "GET", "/auth/v1/ok"],
        ["iam", "groups", "describe", "nowhere"],
      ]) {
        const refresh = read("refresh-token");
        writeCache(environment.HOME, url, refused());
        const { code, stderr } = await caller.runWith(environment, ...args);
        assert.equal(code, args[2] === "describe" ? 1 : 0, stderr);
        assert.ok(!stderr.includes("Sign in"), stderr);
        assert.notEqual(decodeJwt(read()).sub, "someone");
        assert.notEqual(read("refresh-token"), refresh);
        // The renewed token is good, and nothing is renewed any more.
        const renewed = read("refresh-token");
        assert.equal((await caller.runWith(environment, "iam", "groups", "list")).code, 0);
        assert.equal(read("refresh-token"), renewed);
      }
      // An invalid refresh token, no refresh token, and a token that is not the cache's: the error is reported once.
      writeCache(environment.HOME, url, refused());
      for (const kept of ["x".repeat(40), ""]) {
        writeCache(environment.HOME, url, kept, "refresh-token");
        const failed = await caller.runWith(environment, "iam", "groups", "list");
        assert.match(failed.stderr, /Sign in with `gatehouse auth login`/);
        assert.equal(failed.code, 1);
      }
      const given = await caller.runWith({ ...environment, GATEHOUSE_TOKEN: refused() }, "iam", "groups", "list");
      assert.equal(given.code, 1);
    });

    it("--org-name overrides any configured provider, and is rejected with another one", async () => {
      const environment = newHome();
      const provider = `${caller.server.groupUid}/${"0".repeat(16)}`;
      await caller.runWith(environment, "config", "set", "default.identity-provider", provider);
      const asked: (string | null)[] = [];
      const browse = async (address: string) => {
        asked.push(new URL(address).searchParams.get("idp_id"));
        await signInAs("alice", address);
      };
      const refused = await login(environment, browse, "--no-browser", "--org-name", "nobody.example");
      assert.match(refused.stderr, /no verified organization of this name/);
      await login(environment, browse, "--no-browser");
      assert.deepEqual(asked, ["nobody.example", provider]);
      const both = await login(environment, browse, "--org-name", "nobody.example", "--identity-provider", provider);
      assert.equal(both.code, 2);
      assert.match(both.stderr, /--org-name.*cannot be used with.*--identity-provider/);
    });

    it("shows the reason when the server rejects a sign-in", async () => {
      const refused = await login(
        newHome(),
        (address) => signInAs("alice", address),
        "--no-browser",
        "--audience",
        "https://elsewhere.example",
      );
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /not signed in: .*audience/);
    });

    it("takes no token from a page that does not know its state", async () => {
      const environment = newHome();
      const done = await login(
        environment,
        async (address) => {
          const redirect = new URL(new URL(address).searchParams.get("redirect") ?? "");
          redirect.searchParams.set("token", "planted");
          // As many characters as the state has, and as many of two bytes.
          for (const state of ["0".repeat(32), "é".repeat(32)]) {
            redirect.searchParams.set("state", state);
            const refused = await fetch(redirect);
            assert.equal(refused.status, 404);
            // The command line goes on waiting, and says nothing of it.
            assert.match(await refused.text(), /not the sign-in that the command line waits for/);
          }
          await signInAs("alice", address);
        },
        "--no-browser",
      );
      assert.equal(done.code, 0, done.stderr);
      assert.notEqual(readFileSync(cachePath(environment.HOME, caller.server.url), "utf8"), "planted");
    });
  });

  it("gatehouse auth login --headless: signed in on another device, with the same code in view on both", async () => {
    const environment = newHome();
    let shown = "";
    const { code, stderr } = await login(
      environment,
      async (address) => {
        const browser = newBrowser();
        const page = await browser.visit(address);
        shown = /code is <code>([^<]+)<\/code>/.exec(page.text)?.[1] ?? "none";
        const onward = /class="action" href="([^"]+)"/.exec(page.text)?.[1] ?? "";
        await signInAs("bob", onward.replaceAll("&#38;", "&"), browser);
      },
      "--headless",
    );
    assert.equal(code, 0, stderr);
    // RFC 8628 §6.1: to be read aloud, without regard to case, and without vowels that would make words.
    assert.match(shown, /^[B-DF-HJ-NP-TV-XZ]{4}(-[B-DF-HJ-NP-TV-XZ]{4}){2}$/);
    assert.ok(stderr.includes(`The page must show the code ${shown}.`));
    const token = readFileSync(cachePath(environment.HOME, caller.server.url), "utf8");
    assert.match(String((decodeJwt(token).act as { sub: string }).sub), /^bob$/);
  });
});
