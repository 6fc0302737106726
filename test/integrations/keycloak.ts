// `npm run suites -- keycloak`: docs/integrations/keycloak.md with a real Keycloak, at whose page a person signs in with a browser. Not a part of
// `npm test`: Keycloak comes from Maven, has 180 MB, and takes a minute to start.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { openChromium } from "../browser/chromium.ts";
import { blocksOf } from "../documentation/blocks.ts";
import { missingPrograms } from "../documentation/missing-programs.ts";
import { signInUrl } from "../harness/browser.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const version = "26.7.3";
const downloads = path.resolve(".cache/keycloak");
const keycloak = path.join(downloads, `keycloak-${version}`);
const patienceMs = 240_000;

const missing = missingPrograms(["java", "mvn", "unzip"]);
if (missing.length > 0) {
  console.error(`suite keycloak is skipped: it needs programs that are not here: ${missing.join(", ")}`);
  process.exit(0);
}

/** Gets Keycloak from Maven; false if it cannot be had. */
function download(): boolean {
  if (existsSync(keycloak)) return true;
  mkdirSync(downloads, { recursive: true });
  const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${version}:zip`;
  const maven = spawnSync("mvn", ["-q", "dependency:copy", artifact, `-DoutputDirectory=${downloads}`]);
  if (maven.status !== 0) return false;
  const archive = path.join(downloads, `keycloak-quarkus-dist-${version}.zip`);
  execFileSync("unzip", ["-q", archive, "-d", downloads]);
  rmSync(archive);
  return true;
}
if (!download()) {
  console.error(`suite keycloak is skipped: Maven does not have Keycloak ${version}`);
  process.exit(0);
}

const secrets = { ADMIN_PASSWORD: "of the administrator", CLIENT_SECRET: "of the client", ALICE_PASSWORD: "of Alice" };
const blocks = blocksOf(readFileSync("docs/integrations/keycloak.md", "utf8")).filter(
  ({ language }) => language === "sh",
);

describe("Keycloak as login provider", () => {
  const home = mkdtempSync(path.join(tmpdir(), "gatehouse-keycloak-"));
  const running = new AsyncDisposableStack();
  let server: TestServer;
  let issuer = "";
  let subject = "";

  /** Runs a block of the page. */
  function run(text: string, url: string): string {
    const commands = text
      .replaceAll("https://keycloak.example.com", url)
      .replaceAll("https://gatehouse.example.com", server?.url ?? "");
    const PATH = `${path.join(keycloak, "bin")}:${process.env.PATH}`;
    return execFileSync("bash", ["-ec", commands], {
      env: { ...process.env, ...secrets, PATH, HOME: home, KC_OPTS: `-Duser.home=${home}` },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    });
  }

  before(async () => {
    const url = await startKeycloak(running);
    const exported = blocks.find(({ text }) => text.includes("GATEHOUSE_LOGIN_ISSUER"))!.text;
    const names = ["ISSUER", "CLIENT_ID", "CLIENT_SECRET"].map((name) => `"$GATEHOUSE_LOGIN_${name}"`).join(" ");
    const lines = run(`${exported}\nprintf '%s\\n' ${names}`, url).trim().split("\n");
    issuer = lines[0]!;
    const [loginIssuer = "", loginClientId = "", loginClientSecret = ""] = lines;
    server = running.use(await startTestServer({ settings: { loginIssuer, loginClientId, loginClientSecret } }));
    for (const { text, attributes } of blocks) {
      if (!attributes.has("needs")) continue;
      const printed = run(text, url);
      if (text.includes("get users")) subject = printed.trim();
    }
  });

  after(async () => {
    await running.disposeAsync();
    rmSync(home, { recursive: true, force: true });
  });

  it("a token of Keycloak has the subject of the user", () => {
    assert.match(subject, /^[0-9a-f-]{36}$/);
  });

  it("signs a person in with a browser, and says that the address is verified", async () => {
    const received = Promise.withResolvers<URL>();
    const receiver = createServer((request, response) => {
      const url = new URL(request.url!, "http://localhost");
      response.end("signed in");
      if (url.pathname === "/callback") received.resolve(url);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => receiver.listen(port, "localhost", resolve));
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      await page.goto(signInUrl(server.url, { redirect: `http://localhost:${port}/callback?token=true&error=true` }));
      await page.locator("#username").fill("alice");
      await page.locator("#password").fill(secrets.ALICE_PASSWORD);
      await page.locator("#kc-login").click();
      const { searchParams } = await received.promise;
      const me = await rest(server.url, searchParams.get("token")!, "GET", "/auth/v1/ok");
      assert.deepEqual(
        [me.status, me.body.subject, me.body.email],
        [200, userUid(issuer, subject), "alice@example.org"],
      );
    } finally {
      await browser.close();
      receiver.close();
    }
  });
});

/** Starts a Keycloak with a database in memory, and returns its address. */
async function startKeycloak(running: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ["start-dev", "--http-host=127.0.0.1", `--http-port=${port}`, "--db=dev-mem", "--cache=local"];
  const child = spawn(path.join(keycloak, "bin/kc.sh"), args, {
    env: {
      ...process.env,
      KC_BOOTSTRAP_ADMIN_USERNAME: "admin",
      KC_BOOTSTRAP_ADMIN_PASSWORD: secrets.ADMIN_PASSWORD,
      JAVA_OPTS_KC_HEAP: "-Xmx512m",
    },
    // The script starts Java as a process of its own, which ends with the group.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const exited = once(child, "exit");
  running.defer(async () => {
    if (child.exitCode === null) process.kill(-child.pid!, "SIGTERM");
    await exited;
  });
  const patience = AbortSignal.timeout(patienceMs);
  while (child.exitCode === null && !patience.aborted) {
    const response = await fetch(`${url}/realms/master`, { signal: patience }).catch(() => undefined);
    if (response?.status === 200) return url;
    await sleep(250);
  }
  throw new Error(`Keycloak does not start: ${output}`);
}
