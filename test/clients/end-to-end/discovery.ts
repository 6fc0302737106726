// The discovery document, read by strict libraries of Python and Go over TLS. Not a part of `npm test`: they come from PyPI and
// the Go module proxy, and are skipped where Python or Go is missing.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { freePort } from "../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { certificate, certificateKey } from "../../transport/certificate.ts";

const here = import.meta.dirname;
const venv = path.resolve(here, "../../../.cache/discovery-python");
const packages = ["authlib==1.9.10", "oic==1.7.0", "requests==2.34.2"];

/** Returns the reason why Python's libraries cannot be tried; undefined if they can. */
function missingPython(): string | undefined {
  const python = path.join(venv, "bin/python");
  const isThere = () => spawnSync(python, ["-c", "import authlib, oic, requests"], { stdio: "ignore" }).status === 0;
  if (isThere()) return undefined;
  if (!existsSync(python) && spawnSync("python3", ["-m", "venv", venv], { stdio: "ignore" }).status !== 0)
    return "skipped: it needs Python with venv (apt-get install python3-venv)";
  spawnSync(python, ["-m", "pip", "install", "--quiet", ...packages], { stdio: "inherit" });
  return isThere() ? undefined : `skipped: PyPI cannot be reached for ${packages.join(" ")}`;
}

function missingGo(): string | undefined {
  const { status } = spawnSync("go", ["version"], { stdio: "ignore" });
  return status === 0 ? undefined : "skipped: it needs Go (apt-get install golang)";
}

describe("the discovery document, over TLS", () => {
  let server: TestServer;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-discovery-"));
    const [tlsCert, tlsKey] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
    writeFileSync(tlsCert, certificate);
    writeFileSync(tlsKey, certificateKey, { mode: 0o600 });
    server = await startTestServer({ settings: { tlsCert, tlsKey, listen: `127.0.0.1:${await freePort()}` } });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns the output of a program that is called with issuer, audience and token. */
  async function printed(command: string, args: readonly string[], cwd: string): Promise<string> {
    const file = path.join(folder, "cert.pem");
    const env = { ...process.env, SSL_CERT_FILE: file, REQUESTS_CA_BUNDLE: file };
    const { baseUrl } = server.config;
    const { stdout } = await promisify(execFile)(command, [...args, baseUrl, baseUrl, server.ownerToken], { env, cwd });
    return stdout;
  }

  it("is accepted by authlib and pyoidc", { skip: missingPython() ?? false }, async () => {
    assert.equal(await printed(path.join(venv, "bin/python"), ["discovery.py"], here), server.ownerUid);
  });

  it("is accepted by go-oidc", { skip: missingGo() ?? false }, async () => {
    const folderOfGo = path.join(here, "go-oidc");
    // Before the certificate is all that Go trusts.
    await promisify(execFile)("go", ["mod", "download"], { cwd: folderOfGo });
    assert.equal(await printed("go", ["run", "."], folderOfGo), server.ownerUid);
  });
});
