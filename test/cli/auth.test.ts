// Signing in and out, and what other programs get from it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { type IdentityProvider, startIdentityProvider } from "../harness/identity-provider.ts";
import { rest } from "../harness/rest.ts";
import { type Caller, cachePath, homeEnvironment, startCaller, writeCache } from "./caller.ts";
import type { Finished } from "./process.ts";

let caller: Caller;
let provider: IdentityProvider;
let identity: string;
before(async () => {
  caller = await startCaller();
  provider = await startIdentityProvider(["ci"]);
  ({ uid: identity } = await caller.json(
    ...["iam", "identities", "create", "ci", "--parent", "example.org", "--role", "viewer"],
    ...["--identity-issuer", provider.issuer, "--subject", "ci"],
  ));
});
after(async () => {
  await provider[Symbol.asyncDispose]();
  await caller[Symbol.asyncDispose]();
});

let homes = 0;
/** A home without a token. */
function signedOut(): Record<string, string> & { HOME: string } {
  const home = path.join(caller.home, `auth-${homes++}`);
  mkdirSync(home);
  return { ...homeEnvironment(home), HOME: home, GATEHOUSE_TOKEN: "" };
}

describe("gatehouse auth login with an identity token", () => {
  it("from a file: keeps an API token where the SDK looks for it, for its owner alone", async () => {
    const environment = signedOut();
    const file = path.join(environment.HOME, "identity-token");
    writeFileSync(file, `${await provider.issueToken("ci", caller.server.url)}\n`);
    const login = await caller.runWith(
      environment,
      ...["auth", "login", "--identity", identity, "--identity-token", file, "-o", "json"],
    );
    assert.equal(login.code, 0, login.stderr);
    assert.equal(JSON.parse(login.stdout).identity, identity);
    const cached = cachePath(environment.HOME, caller.server.url);
    assert.equal((statSync(cached).mode & 0o777).toString(8), "600");
    assert.equal(decodeJwt(readFileSync(cached, "utf8")).sub, identity);
    const listed = await caller.runWith(environment, "iam", "groups", "list", "-o", "id");
    assert.equal(listed.stdout, `${caller.server.groupUid}\n`);
  });

  it("as it is, and without an identity: the only one that fits", async () => {
    const environment = signedOut();
    const token = await provider.issueToken("ci", caller.server.url);
    const login = await caller.runWith(environment, "auth", "login", "--identity-token", token, "-o", "id");
    assert.deepEqual([login.code, login.stdout], [0, `${identity}\n`]);
  });

  it("that does not fit: the claim is named, and nothing is kept", async () => {
    const environment = signedOut();
    const token = await provider.issueToken("ci", "https://elsewhere.test");
    const login = await caller.runWith(environment, "auth", "login", "--identity", identity, "--identity-token", token);
    assert.equal(login.code, 1);
    assert.match(login.stderr, /invalid "aud"/);
    assert.ok(!existsSync(cachePath(environment.HOME, caller.server.url)));
  });

  it("that is neither a file nor a token", async () => {
    const { code, stderr } = await caller.runWith(signedOut(), "auth", "login", "--identity-token", "/nowhere");
    assert.equal(code, 1);
    assert.match(stderr, /neither a file that can be read nor a token/);
  });

  it("is refused without a terminal when there is neither token nor other device", async () => {
    const { code, stderr } = await caller.runWith(signedOut(), "auth", "login");
    assert.equal(code, 2);
    assert.match(stderr, /there is no terminal.*\n.*--identity-token FILE.*--headless/);
  });
});

describe("gatehouse auth status, token, logout", () => {
  it("status says whose token is used, where it came from, and that the server takes it", async () => {
    const status = await caller.json("auth", "status");
    assert.equal(status.identity, caller.server.ownerUid);
    assert.equal(status.source, "GATEHOUSE_TOKEN");
    assert.match((await caller.run("auth", "status")).stdout, /^SERVER +IDENTITY +SIGNED IN AS +AUDIENCE +EXPIRES\n/);
  });

  it("status fails for a token that the server refuses, unless it is not to ask", async () => {
    const claims = { sub: identity, aud: caller.server.url, exp: 4_000_000_000 };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const bad = `${part({ alg: "RS256", kid: "x" })}.${part(claims)}.AAAA`;
    assert.equal((await caller.runWith({ GATEHOUSE_TOKEN: bad }, "auth", "status")).code, 1);
    assert.equal((await caller.runWith({ GATEHOUSE_TOKEN: bad }, "auth", "status", "--quick")).code, 0);
    assert.equal((await caller.runWith(signedOut(), "auth", "status")).code, 1);
  });

  it("token prints the token without a newline", async () => {
    const { stdout, stderr, code } = await caller.run("auth", "token");
    assert.deepEqual([code, stdout, stderr], [0, caller.server.ownerToken, ""]);
  });

  it("logout removes both tokens of one server and no others", async () => {
    const environment = signedOut();
    for (const kind of ["oidc-token", "refresh-token"]) writeCache(environment.HOME, caller.server.url, "x", kind);
    writeCache(environment.HOME, "https://other.test", "x");
    const { code, stderr } = await caller.runWith(environment, "auth", "logout");
    assert.deepEqual([code, stderr], [0, `Signed out of ${caller.server.url}.\n`]);
    assert.ok(!existsSync(cachePath(environment.HOME, caller.server.url)));
    assert.ok(!existsSync(cachePath(environment.HOME, caller.server.url, "refresh-token")));
    assert.ok(existsSync(cachePath(environment.HOME, "https://other.test")));
    assert.match((await caller.runWith(environment, "auth", "logout")).stderr, /There was no token/);
  });
});

describe("credentials for container tools", () => {
  it("a pull token is good for its identity, which may pull and nothing else", async () => {
    const made = await caller.json(
      ...["auth", "pull-token", "--parent", "example.org", "--ttl", "24h", "--name", "robot"],
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

  it("--save keeps it where container tools look, beside what is there", async () => {
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
      [["--ttl", "8761h"], /good for 8760h at most, not for 8761h/],
      [["--ttl", "99999999999999d"], /good for 8760h at most/],
    ] as const) {
      const { code, stderr } = await caller.run(...create, ...flags);
      assert.equal(code, 2);
      assert.match(stderr, reason);
    }
    const { items } = await caller.json("iam", "identities", "list", "--name", "nobody-has-it");
    assert.deepEqual(items, []);
  });

  it("configure-docker installs a helper that hands the token to this one registry", async () => {
    const { environment, dockerConfig } = withRegistry();
    const bin = path.join(environment.HOME, "bin");
    const configured = await caller.runWith(environment, "auth", "configure-docker", "--helper-dir", bin);
    assert.equal(configured.code, 0, configured.stderr);
    assert.match(configured.stderr, /is not on the PATH/);
    const { credHelpers } = JSON.parse(readFileSync(dockerConfig, "utf8"));
    assert.deepEqual(credHelpers, { "registry.test:5000": "gatehouse" });
    const helper = path.join(bin, "docker-credential-gatehouse");
    const given = await ask(helper, "get", "registry.test:5000", environment);
    assert.deepEqual(JSON.parse(given.stdout), {
      ServerURL: "registry.test:5000",
      Username: "_token",
      Secret: caller.server.ownerToken,
    });
    const other = await ask(helper, "get", "https://elsewhere.test", environment);
    assert.deepEqual([other.code, other.stdout], [1, "credentials not found in native keychain\n"]);
    assert.deepEqual(await ask(helper, "erase", "registry.test:5000", environment), {
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("without the name of a registry: wrong usage, with what to do", async () => {
    const { code, stderr } = await caller.runWith(signedOut(), "auth", "configure-docker");
    assert.equal(code, 2);
    assert.match(stderr, /gatehouse config set platform\.registry HOST/);
  });
});

/** A home that knows a registry and is signed in. */
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
