// A development server ends with what started it, and one whose data was replaced leaves the new data alone.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { freePort } from "../harness/postgres.ts";
import { dataDirectory, environmentOf, launcher, start } from "./process.ts";

const quoted = (args: readonly string[]) => args.map((arg) => `'${arg}'`).join(" ");

/** Runs a shell command as a process that a test can end, under another process that is in the way of nothing. */
const keeper = 'require("node:child_process").spawn(process.argv[1], process.argv.slice(2), { stdio: "inherit" })';

function startUnder(parent: string, args: readonly string[]): ChildProcess {
  const server = [process.execPath, launcher, ...args];
  const commands: Record<string, readonly string[]> = {
    "a program": [process.execPath, "-e", keeper, ...server],
    "a program that uses a shell": [process.execPath, "-e", keeper, "sh", "-c", `${quoted(server)}; exit 0`],
    "two shells of a program": [
      process.execPath,
      "-e",
      keeper,
      "sh",
      "-c",
      `sh -c "${quoted(server)}; exit 0"; exit 0`,
    ],
    "npm start": ["npm", "start", "--", ...args.slice(2)],
  };
  const [program = "", ...rest] = commands[parent]!;
  return spawn(program, rest, {
    env: environmentOf({ PATH: process.env.PATH ?? "" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

describe("a development server ends when what started it is killed", () => {
  for (const parent of ["a program", "a program that uses a shell", "two shells of a program", "npm start"])
    it(`a server started by ${parent} ends with it`, async () => {
      using data = dataDirectory();
      const address = `127.0.0.1:${await freePort()}`;
      const child = startUnder(parent, ["serve", "--dev", "--listen", address, "--data-dir", data.path]);
      child.stdout?.resume();
      child.stderr?.resume();
      while (!(await fetch(`http://${address}/healthz`).catch(() => undefined))) {
        assert.equal(child.exitCode, null);
        await setImmediate();
      }
      child.kill("SIGKILL");
      // Its output is the server's, too, and ends with it.
      await once(child, "close");
      await assert.rejects(fetch(`http://${address}/healthz`));
    });
});

describe("a development server whose data directory was replaced", () => {
  it("a server whose data directory was replaced writes no tokens into the new one", async () => {
    using data = dataDirectory();
    const address = `127.0.0.1:${await freePort()}`;
    const server = start(["serve", "--dev", "--listen", address, "--data-dir", data.path]);
    await server.said(/Authorization: Bearer/);
    rmSync(data.path, { recursive: true });
    mkdirSync(data.path);
    assert.match(
      await server.logged(/renewing the development owner's tokens failed/),
      /the database file was deleted, moved or replaced/,
    );
    assert.equal(existsSync(`${data.path}/owner-token`), false);
    server.child.kill("SIGTERM");
    await server.finished;
  });
});
