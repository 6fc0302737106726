// How the server starts on data that is not its own, or that it cannot use.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import pino from "pino";
import { openDevelopment } from "../../src/development.ts";
import { keptLog } from "../harness/kept-log.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startEmptyServer } from "../harness/server.ts";
import { dataDirectory, type Running, run, start } from "./process.ts";

async function serve(dataDir: string, ...args: string[]): Promise<Running & { readonly url: string }> {
  const listen = `127.0.0.1:${await freePort()}`;
  const running = start(["serve", "--data-dir", dataDir, "--listen", listen, "--log-level", "warn", ...args]);
  return { ...running, url: `http://${listen}` };
}

async function stopped({ child, finished }: Running): Promise<void> {
  child.kill("SIGTERM");
  assert.equal((await finished).code, 0);
}

describe("serve --dev", () => {
  it("leaves production data as it is", async () => {
    using data = dataDirectory();
    const owner = ["--organization", "acme", "--issuer", "https://idp.test", "--subject", "alice"];
    assert.equal((await run(["bootstrap", "--data-dir", data.path, ...owner])).code, 0);
    const production = ["--base-url", "https://iam.test"];
    const first = await serve(data.path, ...production);
    await first.said(/secrets/);
    await stopped(first);

    const { code, stdout, stderr } = await (await serve(data.path, "--dev")).finished;
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /dev: the data is not that of a development server; choose another data directory/);
    for (const name of ["owner-token", "secrets-key"]) assert.equal(existsSync(path.join(data.path, name)), false);

    const second = await serve(data.path, ...production);
    await second.said(/issuer +https:\/\/iam\.test\n(?:.*\n)*.*in the clear/);
    await stopped(second);
  });

  it("does not start where another development server runs, whose token goes on", async () => {
    using data = dataDirectory();
    const first = await serve(data.path, "--dev");
    await first.said(/owner-token/);
    const { code, stdout, stderr } = await (await serve(data.path, "--dev")).finished;
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /data-dir: another development server runs on /);
    const token = readFileSync(path.join(data.path, "owner-token"), "utf8");
    assert.equal((await rest(first.url, token, "GET", "/iam/v2beta1/groups")).status, 200);
    await stopped(first);
    const next = await serve(data.path, "--dev");
    await next.said(/owner-token/);
    await stopped(next);
  });

  it("ends when the owner's token cannot be written, and names the file", async () => {
    using data = dataDirectory();
    mkdirSync(path.join(data.path, "owner-token.new"));
    const { code, stdout, stderr } = await (await serve(data.path, "--dev")).finished;
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /data-dir: \/.*owner-token cannot be written: EISDIR/);
  });

  it("goes on when the token cannot be renewed, and logs it", async (t) => {
    await using server = await startEmptyServer();
    const log = keptLog();
    t.mock.timers.enable({ apis: ["setInterval"] });
    using development = await openDevelopment(server.config, server.server, pino(log.stream));
    rmSync(development.tokenFile);
    mkdirSync(`${development.tokenFile}.new`);
    t.mock.timers.tick(60 * 60 * 1000);
    t.mock.timers.reset();
    while (log.text() === "") await setImmediate();
    assert.match(log.text(), /owner-token cannot be written.*"msg":"the owner's tokens could not be renewed"/);
  });
});
