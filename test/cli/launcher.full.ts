// Under an older Node the program is a process of its own, and a parent that waits for the launcher sees its exit status.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { freePort } from "../harness/postgres.ts";
import { type Caller, startCaller } from "./caller.ts";
import { environmentOf, launcher } from "./process.ts";

let caller: Caller;

/** This Node, which says that it is an older one. */
const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })`;

function launch(...args: string[]) {
  const command = ["--import", `data:text/javascript,${encodeURIComponent(older)}`, launcher, ...args];
  return spawn(process.execPath, command, { env: environmentOf(caller.environment) });
}

describe("under an older Node", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  it("the exit code is that of the program", async () => {
    for (const [args, code] of [
      [["iam", "groups", "list"], 0],
      [["iam", "groups", "describe", "nowhere"], 1],
      [["iam", "groups", "list", "--odd"], 2],
    ] as const) {
      assert.deepEqual(await once(launch(...args), "close"), [code, null]);
    }
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`${signal} ends both, so a shell sees it`, async () => {
      const child = launch("auth", "login", "--headless");
      await once(child.stderr, "data");
      child.kill(signal);
      assert.deepEqual(await once(child, "close"), [null, signal]);
    });
  }

  it("a server does not outlive a launcher that is killed", async () => {
    const url = `127.0.0.1:${await freePort()}`;
    const child = launch("serve", "--dev", "--listen", url);
    while (!(await fetch(`http://${url}/healthz`).catch(() => undefined))) {
      assert.equal(child.exitCode, null);
      await setImmediate();
    }
    child.kill("SIGKILL");
    assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
    // Its output is the server's, too, and ends with it.
    await once(child, "close");
    await assert.rejects(fetch(`http://${url}/healthz`));
  });
});
