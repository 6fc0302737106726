// Tests starts of the server on data of another mode, or that it cannot use.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import pino from "pino";
import { openDevelopment } from "../../src/server/development/development.ts";
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
    assert.deepEqual([code, stdout], [2, "Starting Gatehouse…\n"]);
    assert.match(stderr, /dev: the data is not that of a development server; choose another data directory/);
    for (const name of ["owner-token", "secrets-key"]) assert.equal(existsSync(path.join(data.path, name)), false);

    const second = await serve(data.path, ...production);
    await second.said(/issuer +https:\/\/iam\.test\n(?:.*\n)*.*unencrypted/);
    await stopped(second);
  });

  it("does not start where another development server runs, whose token goes on", async () => {
    using data = dataDirectory();
    const first = await serve(data.path, "--dev");
    await first.said(/owner-token/);
    const { code, stdout, stderr } = await (await serve(data.path, "--dev")).finished;
    assert.deepEqual([code, stdout], [2, "Starting Gatehouse…\n"]);
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
    assert.deepEqual([code, stdout], [2, "Starting Gatehouse…\n"]);
    assert.match(stderr, /data-dir: \/.*owner-token cannot be written: EISDIR/);
  });

  it("a development server does not respond before the file with the owner's token is there", async () => {
    using data = dataDirectory();
    const server = await serve(data.path, "--dev");
    let status = 0;
    while (status === 0) {
      status = await fetch(`${server.url}/readyz`).then(
        (reply) => reply.status,
        () => 0,
      );
      if (status === 0) await setImmediate();
    }
    const files = ["owner-token", "owner-registry-token"].map((name) => existsSync(path.join(data.path, name)));
    assert.deepEqual([status, files], [200, [true, true]]);
    await stopped(server);
  });

  describe("once it runs", () => {
    /** Development mode on a server in this process, with a clock and timers that stand still until they are told. */
    async function openStill(t: TestContext) {
      const server = await startEmptyServer();
      const log = keptLog();
      let now = Date.now();
      t.mock.timers.enable({ apis: ["setInterval"] });
      const development = await openDevelopment(server.config, server.server, pino(log.stream), () => now);
      t.after(async () => {
        await development[Symbol.asyncDispose]();
        t.mock.timers.reset();
        await server[Symbol.asyncDispose]();
      });
      const token = () => (existsSync(development.tokenFile) ? readFileSync(development.tokenFile, "utf8") : "");
      return {
        log,
        token,
        file: development.tokenFile,
        /** Lets the clock go on, and then timers, for five minutes at most, until something is over. */
        async sleep(ms: number, isOver = () => true) {
          now += ms;
          for (let looks = 0; looks === 0 || !isOver(); looks++) {
            assert.ok(looks < 60, "nothing was done in five minutes");
            t.mock.timers.tick(5000);
            await setTimeout(20);
          }
        },
      };
    }

    it("renews the token by the clock, as after a machine slept", async (t) => {
      const { token, sleep, file } = await openStill(t);
      const first = token();
      await sleep(29 * 60_000);
      assert.equal(token(), first);
      await sleep(12 * 60 * 60_000, () => token() !== first);
      const second = token();
      // A clock that was wrong, and is put right.
      await sleep(-24 * 60 * 60_000, () => token() !== second);
      rmSync(file);
      await sleep(0, () => token() !== "");
    });

    it("goes on when the token cannot be renewed, logs it once, and tries again", async (t) => {
      const { token, sleep, file, log } = await openStill(t);
      const first = token();
      mkdirSync(`${file}.new`);
      for (let turn = 0; turn < 3; turn++) await sleep(31 * 60_000, () => log.text() !== "");
      const lines = log
        .text()
        .match(/owner-token cannot be written.*"msg":"renewing the development owner's tokens failed"/g);
      assert.deepEqual([lines?.length, token()], [1, first]);
      rmSync(`${file}.new`, { recursive: true });
      await sleep(0, () => token() !== first);
    });
  });
});
