// The process of an emulator: what it prints, its files, and how it ends.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { startEmulator } from "../../../packages/client/src/testing.ts";
import { freePort } from "../../harness/postgres.ts";
import { type Running, start } from "../process.ts";

const ready = /^(\{.*\})\n/;

describe("gatehouse emulator", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-test-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: string[]): Running => start(["emulator", ...args], { TMPDIR: folder });
  const readyLine = async (running: Running) => JSON.parse((await running.said(ready))[1]!);

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    it(`leaves no file after ${signal}, with requests in progress`, async () => {
      const running = run();
      const { url, issuer, adminToken, pid } = await readyLine(running);
      assert.deepEqual([issuer, pid], [url, running.child.pid]);
      assert.equal(readdirSync(folder).length, 1);
      const headers = { authorization: `Bearer ${adminToken}` };
      const requests = Array.from({ length: 20 }, () =>
        fetch(`${url}/emulator/v1/tenants`, { method: "POST", headers }).catch(() => {}),
      );
      await requests[0];
      running.child.kill(signal);
      assert.equal((await running.finished).code, 0);
      assert.deepEqual(readdirSync(folder), []);
      await Promise.all(requests);
    });

  it("removes the files of one that was killed, and keeps those of one that runs", async () => {
    const [killed, running] = [run(), run()];
    await Promise.all([killed, running].map(readyLine));
    killed.child.kill("SIGKILL");
    await killed.finished;
    assert.equal(readdirSync(folder).length, 2);
    const next = run();
    const { url } = await readyLine(next);
    assert.ok((await fetch(`${url}/healthz`)).ok);
    assert.equal(readdirSync(folder).length, 2);
    for (const { child, finished } of [running, next]) {
      child.kill();
      await finished;
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  it("listens where it is told to, on loopback only", async () => {
    const port = await freePort();
    const running = run("--listen", `127.0.0.1:${port}`);
    assert.equal((await readyLine(running)).url, `http://127.0.0.1:${port}`);
    const second = await run("--listen", `127.0.0.1:${port}`).finished;
    assert.match(second.stderr, new RegExp(`127\\.0\\.0\\.1:${port} is taken by another program`));
    running.child.kill();
    await running.finished;
    const { code, stderr } = await run("--listen", "0.0.0.0:9999").finished;
    assert.equal(code, 2);
    assert.match(stderr, /listen: development mode serves loopback addresses only/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it("reads no settings from variables", async () => {
    const running = start(["emulator"], {
      TMPDIR: folder,
      GATEHOUSE_BASE_URL: "https://gatehouse.example.com",
      GATEHOUSE_DATABASE_URL: "postgres://nowhere.example.com/x",
      HTTPS_PROXY: "http://nowhere.example.com",
    });
    const { url, issuer } = await readyLine(running);
    assert.equal(issuer, url);
    running.child.kill();
    assert.deepEqual((await running.finished).stderr, "");
  });
});

describe("startEmulator", () => {
  it("names the program that it does not find", async () => {
    await assert.rejects(
      startEmulator({ command: ["gatehouse-that-is-not-there"] }),
      /there is no program gatehouse-that-is-not-there; startEmulator\(\{ command/,
    );
  });

  it("says that the program ended before it served", async () => {
    await assert.rejects(startEmulator({ command: [process.execPath, "-e", "process.exit(3)"] }), /exit code 3/);
  });
});
