// From an empty database to an owner who works: the commands that `bootstrap` prints, as docs/operate/deploy.md has them, in production
// mode and with an ordinary OIDC provider, whose ID tokens are for the client.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { nextSteps } from "../../src/cli/next-steps.ts";
import { newBrowser } from "../harness/browser.ts";
import { freePort } from "../harness/postgres.ts";
import { type RealProvider, startRealProvider } from "../sign-in/real-provider.ts";
import { certificate } from "../transport/certificate.ts";
import { homeEnvironment } from "./caller.ts";
import { dataDirectory, type Finished, type Running, run, start } from "./process.ts";

describe("the first sign-in in production", () => {
  const home = dataDirectory();
  const trusted = getCACertificates("default");
  let provider: RealProvider;
  let listen: string;
  let environment: Record<string, string>;
  let server: Running | undefined;
  let bootstrapped: Finished;

  before(async () => {
    // Those of the program's own processes come from the environment.
    setDefaultCACertificates([...trusted, certificate]);
    const authority = path.join(home.path, "ca.pem");
    writeFileSync(authority, certificate);
    provider = await startRealProvider({ sendsIssuer: false, tls: true });
    listen = `127.0.0.1:${await freePort()}`;
    environment = {
      ...homeEnvironment(home.path),
      GATEHOUSE_BASE_URL: `http://${listen}/`,
      GATEHOUSE_LISTEN: listen,
      GATEHOUSE_LOGIN_CLIENT_SECRET: "the secret of this test",
      GATEHOUSE_SECRETS_KEY: randomBytes(32).toString("base64"),
      GATEHOUSE_PRIVATE_ISSUER_NETWORKS: "127.0.0.0/8",
      NODE_EXTRA_CA_CERTS: authority,
    };
  });
  after(async () => {
    server?.child.kill("SIGTERM");
    await server?.finished;
    await provider[Symbol.asyncDispose]();
    setDefaultCACertificates(trusted);
    home[Symbol.dispose]();
  });

  /** Returns the arguments of a command that was printed, with the id of the client. */
  function printed(name: string): string[] {
    const line = bootstrapped.stderr.split("\n").find((each) => each.startsWith(`  gatehouse ${name}`));
    assert.ok(line, bootstrapped.stderr);
    return line.trim().replace("CLIENT_ID", "gatehouse-client").split(" ").slice(1);
  }

  it("bootstrap prints the commands that come next, and what to register at the provider", async () => {
    const owner = ["--organization", "example.org", "--issuer", provider.issuer, "--subject", "alice"];
    // The secret of a client without an id does not configure a login provider.
    const { GATEHOUSE_LOGIN_CLIENT_SECRET: _, ...rest } = environment;
    bootstrapped = await run(["bootstrap", ...owner], rest);
    assert.equal(bootstrapped.code, 0, bootstrapped.stderr);
    const [, redirectUri = ""] = /with the redirect URI (\S+)\.$/m.exec(bootstrapped.stderr) ?? [];
    assert.equal(redirectUri, `http://${listen}/oauth/callback`);
    provider.register({
      clientId: "gatehouse-client",
      clientSecret: environment.GATEHOUSE_LOGIN_CLIENT_SECRET!,
      redirectUris: [redirectUri],
    });
  });

  it("the printed commands sign the owner in with a browser, and list the organizations", async () => {
    server = start(printed("serve"), environment);
    await server.said(/mode +production/);
    await signIn("alice");
    const url = printed("auth login").at(-1)!;
    const listed = await run(["iam", "organizations", "list", "--url", url], environment);
    assert.match(listed.stdout, /^example\.org\s/m, listed.stderr);
    const created = await run(
      ["iam", "folders", "create", "team", "--parent", "example.org", "--url", url],
      environment,
    );
    assert.equal(created.code, 0, created.stderr);
  });

  it("bootstrap --recover makes another person an owner of an organization, while its server runs", async () => {
    const [, uid = ""] = /^organization (\S+)$/m.exec(bootstrapped.stdout) ?? [];
    const { GATEHOUSE_LOGIN_CLIENT_SECRET: _, ...settings } = environment;
    const recover = (organization: string) =>
      run(
        ["bootstrap", "--recover", "--organization", organization, "--issuer", provider.issuer, "--subject", "bob"],
        settings,
      );
    const unknown = await recover("0".repeat(40));
    assert.match(unknown.stderr, /there is no organization with the uid/);
    assert.equal(unknown.code, 1);
    const recovered = await recover(uid);
    assert.equal(recovered.code, 0, recovered.stderr);
    assert.match(recovered.stdout, /^owner of example\.org: [0-9a-f]{40}\n$/);
    await signIn("bob");
    const url = printed("auth login").at(-1)!;
    const created = await run(
      ["iam", "folders", "create", "team of bob", "--parent", "example.org", "--url", url],
      environment,
    );
    assert.equal(created.code, 0, created.stderr);
    const changes = await run(
      ["changes", "list", "--parent", uid, "--kind", "role_bindings", "-o", "wide", "--url", url],
      environment,
    );
    assert.match(changes.stdout, /bootstrap/, changes.stderr);
  });

  async function signIn(subject: string): Promise<void> {
    const login = start([...printed("auth login"), "--no-browser"], environment);
    let address: string | undefined;
    login.child.stderr!.on("data", (chunk) => {
      address ??= /^ +(http:\S+)$/m.exec(String(chunk))?.[1];
    });
    while (address === undefined && login.child.exitCode === null) await setImmediate();
    const browser = newBrowser();
    provider.signIn(browser, subject);
    const end = await browser.visit(address ?? assert.fail((await login.finished).stderr));
    assert.match(end.text, /You are signed in/);
    assert.equal((await login.finished).code, 0);
  }
});

describe("what comes after bootstrap", () => {
  const owner = { issuer: "https://login.example.com", subject: "alice", baseUrl: "", loginIssuer: undefined };

  it("has names for what is not known yet", () => {
    const text = nextSteps(owner);
    assert.match(
      text,
      /^ {2}gatehouse serve --base-url BASE_URL --login-issuer https:\/\/login\.example\.com --login-client-id CLIENT_ID$/m,
    );
    assert.match(text, /^ {2}gatehouse auth login --url BASE_URL$/m);
  });

  it("repeats no setting that is there", () => {
    const known = { baseUrl: "https://iam.example.com", loginIssuer: owner.issuer };
    assert.match(nextSteps({ ...owner, ...known }), /^ {2}gatehouse serve$/m);
  });

  it("warns of an owner whom the login provider does not know", () => {
    const text = nextSteps({ ...owner, loginIssuer: `${owner.issuer}/` });
    assert.match(text, /^warning: people sign in at https:\/\/login\.example\.com\/, but the owner is a user of/m);
  });
});
