// Signing in and out, and what other programs get from it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { type IdentityProvider, startIdentityProvider } from "../harness/identity-provider.ts";
import { rest } from "../harness/rest.ts";
import { basic, getToken, service } from "../registry/sign-in.ts";
import {
  type Caller,
  cachePath,
  createWorkload,
  homeEnvironment,
  startCaller,
  unsigned,
  writeCache,
} from "./caller.ts";
import type { Finished } from "./process.ts";

let caller: Caller;
let provider: IdentityProvider;
let identity: string;
describe("signing in and out on the command line", () => {
  before(async () => {
    caller = await startCaller();
    provider = await startIdentityProvider(["ci"]);
    identity = await createWorkload(caller, provider.issuer);
  });
  after(async () => {
    await provider[Symbol.asyncDispose]();
    await caller[Symbol.asyncDispose]();
  });

  let homes = 0;
  /** Returns a home without a token. */
  function signedOut(): Record<string, string> & { HOME: string } {
    const home = path.join(caller.home, `auth-${homes++}`);
    mkdirSync(home);
    return { ...homeEnvironment(home), HOME: home, GATEHOUSE_TOKEN: "" };
  }

  describe("gatehouse auth login with an identity token", () => {
    it("stores the API token where the SDK looks for it, for its owner alone", async () => {
      const environment = signedOut();
      const file = path.join(environment.HOME, "identity-token");
      writeFileSync(file, `${await provider.issueToken("ci", caller.server.url)}\n`);
      const login = await caller.runWith(
        environment,
        "auth",
        "login",
        "--identity",
        identity,
        "--identity-token",
        file,
        "-o",
        "json",
      );
      assert.equal(login.code, 0, login.stderr);
      assert.equal(JSON.parse(login.stdout).identity, identity);
      const cached = cachePath(environment.HOME, caller.server.url);
      assert.equal((statSync(cached).mode & 0o777).toString(8), "600");
      assert.equal(decodeJwt(readFileSync(cached, "utf8")).sub, identity);
      const listed = await caller.runWith(environment, "iam", "groups", "list", "-o", "id");
      assert.equal(listed.stdout, `${caller.server.groupUid}\n`);
    });

    it("accepts the token itself, and a workload that names no identity is told to", async () => {
      const environment = signedOut();
      const token = await provider.issueToken("ci", caller.server.url);
      const named = ["--identity", identity, "--identity-token", token, "-o", "id"];
      const login = await caller.runWith(environment, "auth", "login", ...named);
      assert.deepEqual([login.code, login.stdout], [0, `${identity}\n`]);
      const unnamed = await caller.runWith(environment, "auth", "login", "--identity-token", token);
      assert.equal(unnamed.code, 1);
      assert.match(unnamed.stderr, /a workload names its identity, or a group in which it is/);
    });

    it("names the claim of a token that does not match, and stores nothing", async () => {
      const environment = signedOut();
      const token = await provider.issueToken("ci", "https://elsewhere.test");
      const login = await caller.runWith(
        environment,
        "auth",
        "login",
        "--identity",
        identity,
        "--identity-token",
        token,
      );
      assert.equal(login.code, 1);
      assert.match(login.stderr, /invalid "aud"/);
      assert.ok(!existsSync(cachePath(environment.HOME, caller.server.url)));
    });

    it("rejects a login without a terminal, token or other device", async () => {
      const { code, stderr } = await caller.runWith(signedOut(), "auth", "login");
      assert.equal(code, 2);
      assert.match(stderr, /there is no terminal.*\n.*--identity-token FILE.*--headless/);
    });
  });

  describe("gatehouse auth status, token, logout", () => {
    it("status shows the identity and the source of the token, and that the server accepts it", async () => {
      const status = await caller.json("auth", "status");
      assert.equal(status.identity, caller.server.ownerUid);
      assert.equal(status.source, "GATEHOUSE_TOKEN");
      assert.match((await caller.run("auth", "status")).stdout, /^SERVER +IDENTITY +SIGNED IN AS +AUDIENCE +EXPIRES\n/);
    });

    it("status fails for a token that the server rejects, unless it is not to ask", async () => {
      const claims = { sub: identity, aud: caller.server.url, exp: 4_000_000_000 };
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const bad = `${part({ alg: "RS256", kid: "x" })}.${part(claims)}.AAAA`;
      assert.equal((await caller.runWith({ GATEHOUSE_TOKEN: bad }, "auth", "status")).code, 1);
      assert.equal((await caller.runWith({ GATEHOUSE_TOKEN: bad }, "auth", "status", "--quick")).code, 0);
      assert.equal((await caller.runWith(signedOut(), "auth", "status")).code, 1);
    });

    it("status --audience shows the token for this audience only, and that the server was not asked", async () => {
      const { registryToken, ownerToken } = caller.server;
      const status = (token: string) =>
        caller.runWith(
          { ...signedOut(), GATEHOUSE_TOKEN: token },
          "auth",
          "status",
          "--audience",
          service,
          "-o",
          "json",
        );
      const shown = await status(registryToken);
      assert.equal(shown.code, 0, shown.stderr);
      assert.equal(JSON.parse(shown.stdout).audience, service);
      assert.ok(shown.stderr.startsWith("The server was not asked whether it takes this token"), shown.stderr);
      const other = await status(ownerToken);
      assert.equal(other.code, 1);
      assert.ok(
        other.stderr.includes(`there is no token for ${service}; GATEHOUSE_TOKEN is for another`),
        other.stderr,
      );
    });

    it("status --audience asks about a token for the API under any name of the API", async () => {
      const { url, registryToken } = caller.server;
      const named = await caller.run("auth", "status", "--audience", url);
      assert.deepEqual([named.code, named.stderr], [0, ""]);
      const environment = { ...signedOut(), GATEHOUSE_TOKEN: registryToken, GATEHOUSE_AUDIENCE: service };
      const refused = await caller.runWith(environment, "auth", "status", "--audience", service);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /is not for .*\n.*`gatehouse auth status --quick`/);
    });

    it("token prints the token without a newline", async () => {
      const { stdout, stderr, code } = await caller.run("auth", "token");
      assert.deepEqual([code, stdout, stderr], [0, caller.server.ownerToken, ""]);
    });

    it("token --audience prints one for that audience: from GATEHOUSE_TOKEN only if it says so", async () => {
      const { ownerUid, ownerToken, registryToken, url } = caller.server;
      const both = await caller.server.tokenOf(ownerUid, {}, url, service);
      const print = (token: string) =>
        caller.runWith({ ...signedOut(), GATEHOUSE_TOKEN: token }, "auth", "token", "--audience", service);
      for (const token of [registryToken, both]) assert.equal((await print(token)).stdout, token);
      for (const [token, why] of [
        [ownerToken, "; GATEHOUSE_TOKEN is for another audience"],
        ["", ""],
      ] as const) {
        const { code, stdout, stderr } = await print(token);
        assert.deepEqual([code, stdout], [1, ""]);
        assert.ok(stderr.includes(`there is no token for ${service}${why}\n`), stderr);
        assert.ok(stderr.includes(`\`gatehouse auth login --audience ${service}\``), stderr);
      }
    });

    it("token --audience takes nothing for an audience that has no place of its own in the cache", async () => {
      for (const audience of ["", ".", ".."]) {
        const { code, stderr } = await caller.runWith(signedOut(), "auth", "token", "--audience", audience);
        assert.equal(code, 2);
        assert.match(stderr, /is not an audience of a token/);
      }
    });

    it("login --audience may be repeated: a token of its own for each, or none at all; logout forgets all", async () => {
      const environment = signedOut();
      const { url } = caller.server;
      const token = await provider.issueToken("ci", url);
      const login = (...audiences: string[]) =>
        caller.runWith(
          environment,
          "auth",
          "login",
          "--identity",
          identity,
          "--identity-token",
          token,
          "-o",
          "json",
          ...audiences.flatMap((audience) => ["--audience", audience]),
        );
      const refused = await login(url, "https://elsewhere.test");
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /aud\[0\]: ".*" is not an accepted audience; accepted: http:/);
      assert.ok(!existsSync(cachePath(environment.HOME, url)));

      const { items } = JSON.parse((await login(url, service, url)).stdout);
      assert.deepEqual(
        items.map(({ audience }: { audience: string }) => audience),
        [url, service],
      );
      const kept = (audience: string) => readFileSync(cachePath(environment.HOME, audience), "utf8");
      assert.deepEqual([decodeJwt(kept(url)).aud, decodeJwt(kept(service)).aud], [url, service]);
      const printed = await caller.runWith(environment, "auth", "token", "--audience", service);
      assert.equal(printed.stdout, kept(service));
      assert.equal((await caller.runWith(environment, "iam", "groups", "list", "-o", "none")).code, 0);

      const only = await caller.runWith(environment, "auth", "logout", "--audience", service);
      assert.equal(only.stderr, `Signed out of ${service}.\n`);
      assert.deepEqual(
        [url, service].map((audience) => existsSync(cachePath(environment.HOME, audience))),
        [true, false],
      );
      await login(url, service);
      await caller.runWith(environment, "auth", "logout");
      assert.deepEqual(
        [url, service].map((audience) => existsSync(cachePath(environment.HOME, audience))),
        [false, false],
      );
    });

    it("logout removes both tokens of one server and no others, and names what it leaves", async () => {
      const environment = signedOut();
      for (const kind of ["oidc-token", "refresh-token"]) writeCache(environment.HOME, caller.server.url, "x", kind);
      const folderOf = (audience: string) => path.dirname(cachePath(environment.HOME, audience));
      const left = [
        `  ${folderOf("https://other.test")} (of https://other.test)`,
        `  ${folderOf("registry.test")} (does not say of which server)`,
      ];
      writeCache(environment.HOME, "https://other.test", unsigned({ iss: "https://other.test" }));
      writeCache(environment.HOME, "registry.test", "x", "refresh-token");
      const { code, stderr } = await caller.runWith(environment, "auth", "logout");
      const said = ["Tokens of unknown issuers were kept:", ...left];
      const hint = "`gatehouse auth logout --audience NAME` deletes the tokens for one audience.\n";
      assert.deepEqual([code, stderr], [0, [`Signed out of ${caller.server.url}.`, ...said, hint].join("\n")]);
      assert.ok(existsSync(cachePath(environment.HOME, "registry.test", "refresh-token")));
      await caller.runWith(environment, "auth", "logout", "--audience", "registry.test");
      assert.ok(!existsSync(cachePath(environment.HOME, "registry.test", "refresh-token")));
      assert.ok(!existsSync(cachePath(environment.HOME, caller.server.url)));
      assert.ok(!existsSync(cachePath(environment.HOME, caller.server.url, "refresh-token")));
      assert.ok(existsSync(cachePath(environment.HOME, "https://other.test")));
      assert.match((await caller.runWith(environment, "auth", "logout")).stderr, /There was no token/);
    });

    it("logout knows the other tokens by the issuer that the API's token names, those of other programs too", async () => {
      const environment = { ...signedOut(), GATEHOUSE_AUDIENCE: "https://iam.test" };
      const audiences = ["https://iam.test", service, "https:--iam.test/an_identity"];
      for (const audience of audiences) {
        const file = path.join(environment.HOME, "cache", "chainguard", audience.replace("://", ":--"), "oidc-token");
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, unsigned({ iss: "https://iam.test" }));
      }
      const { stderr } = await caller.runWith(environment, "auth", "logout");
      assert.equal(stderr, `Signed out of ${caller.server.url}.\n`);
      assert.ok(!existsSync(cachePath(environment.HOME, service)));
      assert.ok(
        !existsSync(path.join(path.dirname(cachePath(environment.HOME, audiences[0]!)), "an_identity", "oidc-token")),
      );
    });
  });

  describe("credentials for container tools", () => {
    it("a pull token is valid for its identity, which may pull and nothing else", async () => {
      const made = await caller.json(
        "auth",
        "pull-token",
        "--parent",
        "example.org",
        "--ttl",
        "24h",
        "--name",
        "robot",
      );
      const reply = await rest(
        caller.server.url,
        made.token,
        "POST",
        `/sts/exchange?aud=${caller.server.url}&identity=${made.uid}`,
      );
      assert.equal(reply.status, 200);
      const groups = await rest(caller.server.url, reply.body.token, "GET", "/iam/v2beta1/groups");
      assert.equal(groups.status, 200);
      const roles = await rest(caller.server.url, reply.body.token, "GET", "/iam/v2beta1/roles");
      assert.equal(roles.status, 403);
      const listed = await caller.json("auth", "pull-token", "list");
      assert.deepEqual(
        listed.items.map(({ uid }: { uid: string }) => uid),
        [made.uid],
      );
      assert.equal((await caller.json("auth", "pull-token", "list", "--expired")).items.length, 0);
      const text = await caller.run("auth", "pull-token", "create", "--parent", "example.org");
      assert.match(text.stdout, /^docker login REGISTRY --username "[0-9a-f/]{57}" --password "[\w.-]+"\n$/);
    });

    it("--save adds it to the file of container tools", async () => {
      const { environment, dockerConfig } = withRegistry({ auths: { "other.test": { auth: "eA==" } }, psFormat: "x" });
      const saved = await caller.runWith(
        environment,
        "auth",
        "pull-token",
        "--parent",
        "example.org",
        "--save",
        "-o",
        "none",
      );
      assert.equal(saved.code, 0, saved.stderr);
      const config = JSON.parse(readFileSync(dockerConfig, "utf8"));
      assert.deepEqual([config.psFormat, config.auths["other.test"]], ["x", { auth: "eA==" }]);
      assert.match(Buffer.from(config.auths["registry.test:5000"].auth, "base64").toString(), /^[0-9a-f/]{57}:ey/);
    });

    it("a pull token that cannot be kept, or not for so long, leaves no identity behind", async () => {
      const create = ["auth", "pull-token", "create", "--parent", "example.org", "--name", "nobody-has-it"];
      for (const [flags, reason] of [
        [["--save"], /config set platform\.registry HOST/],
        [["--ttl", "8761h"], /valid for 8760h at most, not for 8761h/],
        [["--ttl", "99999999999999d"], /valid for 8760h at most/],
      ] as const) {
        const { code, stderr } = await caller.run(...create, ...flags);
        assert.equal(code, 2);
        assert.match(stderr, reason);
      }
      const { items } = await caller.json("iam", "identities", "list", "--name", "nobody-has-it");
      assert.deepEqual(items, []);
    });

    it("configure-docker installs a helper that hands the token for the registry to this one registry", async () => {
      const { environment, dockerConfig } = withRegistry();
      const bin = path.join(environment.HOME, "bin");
      const configure = ["auth", "configure-docker", "--helper-dir", bin, "--audience", service];
      const configured = await caller.runWith(environment, ...configure);
      assert.equal(configured.code, 0, configured.stderr);
      assert.match(configured.stderr, /is not on the PATH/);
      const { credHelpers } = JSON.parse(readFileSync(dockerConfig, "utf8"));
      assert.deepEqual(credHelpers, { "registry.test:5000": "gatehouse" });
      const helper = path.join(bin, "docker-credential-gatehouse");
      // The owner's token is for the API: both say so, the helper where container tools look for it.
      const missing = `there is no token for ${service}; GATEHOUSE_TOKEN is for another audience\n  Sign in for it with \`gatehouse auth login --audience ${service}\``;
      assert.ok(configured.stderr.includes(missing), configured.stderr);
      const none = await ask(helper, "get", "registry.test:5000", environment);
      assert.equal(none.code, 1);
      assert.ok(none.stdout.includes(missing), none.stdout);

      const token = await provider.issueToken("ci", caller.server.url);
      const login = ["auth", "login", "--identity", identity, "--identity-token", token, "--audience", service];
      assert.equal((await caller.runWith(environment, ...login)).code, 0);
      assert.doesNotMatch((await caller.runWith(environment, ...configure)).stderr, /there is no token/);
      for (const host of ["registry.test:5000", "https://registry.test:5000", "eu.registry.test:5000"]) {
        const given = JSON.parse((await ask(helper, "get", host, environment)).stdout);
        assert.deepEqual([given.ServerURL, given.Username], [host, "_token"]);
        assert.equal(decodeJwt(given.Secret).aud, service);
        assert.equal((await getToken(caller.server.url, basic(given.Username, given.Secret), [])).status, 200);
      }
      for (const host of ["https://elsewhere.test", "otherregistry.test:5000", "registry.test"]) {
        const other = await ask(helper, "get", host, environment);
        assert.deepEqual([other.code, other.stdout], [1, "credentials not found in native keychain\n"]);
      }
    });

    describe("the credential helper", () => {
      const host = "registry.test:5000";
      const kept = () => unsigned({ iss: caller.server.url, aud: host });
      /** A helper of a home that is signed in, and asks it. */
      async function install() {
        const { environment } = withRegistry();
        writeCache(environment.HOME, host, kept());
        const bin = path.join(environment.HOME, "bin");
        await caller.runWith(environment, "auth", "configure-docker", "--helper-dir", bin);
        const helper = path.join(bin, "docker-credential-gatehouse");
        const run = (action: string, input = "", further = {}) =>
          ask(helper, action, input, { ...environment, ...further });
        return { run, environment };
      }
      const stored = (Username: string, Secret: string) => JSON.stringify({ ServerURL: host, Username, Secret });

      it("stores no password, and says on standard output how to sign in; the token that it gave is stored already", async () => {
        const { run } = await install();
        const { code, stdout } = await run("store", stored("_token", "another"));
        assert.equal(code, 1);
        assert.match(stdout, /cannot store a password for registry\.test:5000\n.*`gatehouse auth login --audience/);
        assert.equal((await run("store", stored("someone", kept()))).code, 1);
        assert.deepEqual(await run("store", stored("_token", kept())), { code: 0, stdout: "", stderr: "" });
        const malformed = await run("store", "{}");
        assert.deepEqual([malformed.code, /ServerURL, Username and Secret/.test(malformed.stdout)], [1, true]);
      });

      it("erases the token from the token cache, and says which other one it cannot remove", async () => {
        const { run, environment } = await install();
        const given = await run("erase", host, { GATEHOUSE_TOKEN: kept() });
        assert.equal(given.code, 1);
        assert.match(given.stdout, /cannot remove the token for registry\.test:5000, which is in GATEHOUSE_TOKEN/);
        for (let i = 0; i < 2; i++) assert.deepEqual(await run("erase", host), { code: 0, stdout: "", stderr: "" });
        assert.ok(!existsSync(cachePath(environment.HOME, host)));
        assert.equal((await run("erase", "elsewhere.test")).stdout, "credentials not found in native keychain\n");
      });

      it("lists the registry while there is a token for it", async () => {
        const { run } = await install();
        assert.deepEqual(JSON.parse((await run("list")).stdout), { [host]: "_token" });
        await run("erase", host);
        assert.deepEqual(JSON.parse((await run("list")).stdout), {});
      });

      it("says its version, and rejects an action that it does not know", async () => {
        const { run } = await install();
        assert.match((await run("version")).stdout, /^docker-credential-gatehouse \(gatehouse\) v\d+\.\d+/);
        const { code, stderr } = await run("constructor");
        assert.equal(code, 2);
        assert.match(stderr, /knows get, store, erase, list, version, not constructor/);
      });
    });

    it("the helper's token is for the host of the registry, unless the registry calls itself something else", async () => {
      const { environment } = withRegistry();
      const bin = path.join(environment.HOME, "bin");
      const kept = unsigned({ iss: caller.server.url, aud: "registry.test:5000" });
      writeCache(environment.HOME, "registry.test:5000", kept);
      const configured = await caller.runWith(environment, "auth", "configure-docker", "--helper-dir", bin);
      assert.doesNotMatch(configured.stderr, /there is no token/);
      const given = await ask(path.join(bin, "docker-credential-gatehouse"), "get", "registry.test:5000", environment);
      assert.equal(JSON.parse(given.stdout).Secret, kept);
      // Another server whose registry goes by the same name.
      writeCache(
        environment.HOME,
        "registry.test:5000",
        unsigned({ iss: "https://other.test", aud: "registry.test:5000" }),
      );
      const other = await ask(path.join(bin, "docker-credential-gatehouse"), "get", "registry.test:5000", environment);
      assert.equal(other.code, 1);
      assert.match(other.stdout, /oidc-token is of https:\/\/other\.test, not of /);
    });

    it("a command without the name of a registry is wrong usage, with a hint", async () => {
      const { code, stderr } = await caller.runWith(signedOut(), "auth", "configure-docker");
      assert.equal(code, 2);
      assert.match(stderr, /gatehouse config set platform\.registry HOST/);
    });
  });

  /** Returns a home that knows a registry and is signed in. */
  function withRegistry(config?: object) {
    const home = signedOut();
    const folder = path.join(home.HOME, "config", "gatehouse");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "config.yaml"), "platform:\n  registry: registry.test:5000\n");
    const docker = path.join(home.HOME, ".docker");
    mkdirSync(docker);
    const dockerConfig = path.join(docker, "config.json");
    if (config) writeFileSync(dockerConfig, JSON.stringify(config));
    return { environment: { ...home, GATEHOUSE_TOKEN: caller.server.ownerToken }, dockerConfig };
  }

  /** Starts a credential helper as container tools do: without our variables but for the token. */
  async function ask(helper: string, action: string, input: string, environment: NodeJS.ProcessEnv): Promise<Finished> {
    const child = spawn(helper, [action], { env: { ...process.env, ...environment, GATEHOUSE_URL: "" } });
    const texts = Promise.all([child.stdout.setEncoding("utf8").toArray(), child.stderr.setEncoding("utf8").toArray()]);
    child.stdin.end(input);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    const [stdout, stderr] = (await texts).map((chunks) => chunks.join(""));
    return { code, stdout: stdout ?? "", stderr: stderr ?? "" };
  }
});
