// OAuth libraries that know nothing of Gatehouse get tokens at the standard token endpoint. Not a part of `npm test`: they come from
// PyPI, npm and the Go module proxy, and are skipped where those or their languages are missing. openid-client is in
// test/sts/standard-token-endpoint.test.ts.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { decodeJwt } from "jose";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { keyPair, signOutside, startIssuer } from "../../sts/outside.ts";

const here = import.meta.dirname;
const cache = path.resolve(here, "../../../.cache");
const venv = path.join(cache, "oauth-python");
const python = path.join(venv, "bin/python");
const pythonPackages = ["authlib==1.9.10", "google-auth==2.63.0", "requests==2.34.2"];
const nodeFolder = path.join(cache, "oauth-node");
const nodePackage = "google-auth-library@11.3.4";

/** Runs a program. Returns whether it succeeded. */
function succeeds(command: string, args: readonly string[], output: "ignore" | "inherit" = "ignore"): boolean {
  return spawnSync(command, args, { stdio: output }).status === 0;
}

function missingPython(): string | undefined {
  const isThere = () => succeeds(python, ["-c", "import authlib, google.auth, requests"]);
  if (isThere()) return undefined;
  if (!existsSync(python) && !succeeds("python3", ["-m", "venv", venv]))
    return "skipped: it needs Python with venv (apt-get install python3-venv)";
  succeeds(python, ["-m", "pip", "install", "--quiet", ...pythonPackages], "inherit");
  return isThere() ? undefined : `skipped: PyPI cannot be reached for ${pythonPackages.join(" ")}`;
}

function missingNode(): string | undefined {
  const isThere = () => existsSync(path.join(nodeFolder, "node_modules/google-auth-library"));
  mkdirSync(nodeFolder, { recursive: true });
  if (!isThere()) succeeds("npm", ["install", "--silent", "--no-save", "--prefix", nodeFolder, nodePackage], "inherit");
  return isThere() ? undefined : `skipped: npm cannot be reached for ${nodePackage}`;
}

function missingGo(): string | undefined {
  return succeeds("go", ["version"]) ? undefined : "skipped: it needs Go (apt-get install golang)";
}

describe("OAuth libraries at the standard token endpoint", () => {
  const key = keyPair("ES256");
  let server: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let folder: string;
  let identity: string;
  before(async () => {
    server = await startTestServer();
    issuer = await startIssuer(key);
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-oauth-"));
    const { body } = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/identities/${server.groupUid}`, {
      name: "job",
      claimMatch: { issuer: issuer.url, subject: "job" },
    });
    identity = body.uid;
    const exp = Math.floor(Date.now() / 1000) + 600;
    const claims = { iss: issuer.url, sub: "job", aud: server.config.baseUrl, exp };
    writeFileSync(path.join(folder, "token"), await signOutside(key, claims));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await issuer[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Runs a program with base URL, identity and token file. Each line that it prints must be a token of the identity. */
  async function check(
    command: string,
    args: readonly string[],
    count: number,
    last: readonly string[] = [],
    cwd = here,
  ) {
    const env = { ...process.env, AUTHLIB_INSECURE_TRANSPORT: "1", NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
    const common = [server.config.baseUrl, identity, path.join(folder, "token")];
    const { stdout } = await promisify(execFile)(command, [...args, ...common, ...last], { cwd, env });
    const tokens = stdout.trim().split("\n");
    assert.equal(tokens.length, count, stdout);
    for (const token of tokens) assert.equal(decodeJwt(token).sub, identity);
  }

  it("google-auth and Authlib for Python get tokens", { skip: missingPython() ?? false }, () =>
    check(python, ["oauth_libraries.py"], 3),
  );

  it("google-auth-library for Node gets a token", { skip: missingNode() ?? false }, () =>
    check(process.execPath, ["google-auth-library.mjs"], 1, [nodeFolder]),
  );

  it("golang.org/x/oauth2 gets a token", { skip: missingGo() ?? false }, async () => {
    const folderOfGo = path.join(here, "go-oauth");
    await promisify(execFile)("go", ["mod", "download"], { cwd: folderOfGo });
    await check("go", ["run", "."], 1, [], folderOfGo);
  });
});
