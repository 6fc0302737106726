// `npm run suites -- proxy`: responses that are sent before their request is whole, as clients of nginx and as curl see them. Not a part of
// `npm test`, since both come from Debian.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { isInstalled, type Nginx, type ProxySettings, proxySettings, startNginx } from "./nginx.ts";

const missing = [!isInstalled("nginx", "-v") && "nginx-light", !isInstalled("curl", "--version") && "curl"].filter(
  Boolean,
);
if (missing.length > 0) {
  console.error(`suite proxy is skipped: it needs programs that are not here: apt-get install ${missing.join(" ")}`);
  process.exit(0);
}

const run = promisify(execFile);
const sizes = { "50 kB": 50_000, "3 MB": 3_000_000, "10 MB": 10_000_000 };
const json = "content-type: application/json";

const refusals: readonly [status: number, method: string, target: string, least?: number][] = [
  [404, "PUT", "/nowhere"],
  [405, "PUT", "/iam/v2beta1/groups/x"],
  [401, "POST", "/iam/v2beta1/groups"],
  [400, "POST", "/iam/v2beta1/..%2f.."],
  [413, "POST", "/token", 100_000],
];

/** The ways of curl to send a body. */
const ways: Readonly<Record<string, readonly string[]>> = {
  "HTTP/1.1": ["--http1.1"],
  "HTTP/1.1, chunked": ["--http1.1", "-H", "transfer-encoding: chunked"],
  "HTTP/1.1, Connection: close, without waiting for 100": ["--http1.1", "-H", "connection: close", "-H", "expect:"],
  "HTTP/1.0": ["--http1.0"],
  h2c: ["--http2-prior-knowledge"],
};

describe("a response that is complete before its request", { concurrency: false }, () => {
  let server: TestServer;
  let nginx: Nginx;
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-bodies-"));
  before(async () => {
    server = await startTestServer();
    nginx = await startNginx(new URL(server.url));
    for (const [size, length] of Object.entries(sizes))
      writeFileSync(path.join(folder, size), Buffer.alloc(length, "a"));
  });
  after(async () => {
    await nginx[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [status, method, target, least = 0] of refusals)
    for (const [size] of Object.entries(sizes).filter(([, length]) => length >= least)) {
      for (const [way, options] of Object.entries(ways))
        it(`${status}, ${size}: curl over ${way}`, async () => {
          assert.equal(await curl(server.url, method, target, size, options), `${status}`);
        });
      for (const settings of Object.keys(proxySettings) as ProxySettings[])
        it(`${status}, ${size}: curl through nginx with ${settings}`, async () => {
          // nginx itself refuses a path that leads out of its root.
          const inside = target.replace("..%2f..", "a%2f..%2fb");
          assert.equal(await curl(nginx.urls[settings], method, inside, size, ["--http1.1"]), `${status}`);
        });
    }

  /** Returns the status that curl shows. */
  async function curl(url: string, method: string, target: string, size: string, options: readonly string[]) {
    const body = ["--data-binary", `@${path.join(folder, size)}`, "-H", json];
    const shown = ["-sS", "-o", path.join(folder, "response"), "-w", "%{http_code}", "-m", "20", "--path-as-is"];
    const { stdout } = await run("curl", [...shown, "-X", method, ...options, ...body, url + target]);
    return stdout;
  }
});
