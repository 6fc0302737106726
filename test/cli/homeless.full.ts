// A container may run with an arbitrary uid: without HOME, and without an entry in the system's list of users.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { type Caller, startCaller } from "./caller.ts";
import { dataDirectory, launcher } from "./process.ts";

/** No system has a user with this id. */
const uid = 1_234_567_890;
const skip =
  ((process.platform === "win32" || process.getuid?.() !== 0) && "only root can take another uid") ||
  (!isOpenToOthers(path.dirname(process.execPath)) && "the folder of the checkout is closed to other users");

function isOpenToOthers(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return folder === path.dirname(folder) || isOpenToOthers(path.dirname(folder));
}

describe("the command line without HOME and without an entry of the user", { skip }, () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller[Symbol.asyncDispose]());

  async function runHomeless(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const env = { PATH: process.env.PATH, GATEHOUSE_URL: caller.server.url, ...environment };
    const child = spawn(process.execPath, [launcher, ...args], { env, uid, gid: uid, cwd: "/", stdio: "pipe" });
    child.stdin.end();
    const code = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, stdout, stderr };
  }

  const token = () => ({ GATEHOUSE_TOKEN: caller.server.ownerToken });

  it("runs what needs no file of the user", async () => {
    for (const args of [["--version"], ["version"], ["config", "view"], ["config", "get-contexts"]]) {
      const { code, stderr } = await runHomeless(args);
      assert.equal(code, 0, `${args}: ${stderr}`);
    }
    const listed = await runHomeless(["iam", "groups", "list", "-o", "json"], token());
    assert.equal(listed.code, 0, listed.stderr);
    assert.deepEqual(Object.keys(JSON.parse(listed.stdout)), ["items"]);
    const unknown = await runHomeless(["iam", "groups", "list"]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /not signed in to/);
    assert.equal((await runHomeless(["auth", "logout"])).code, 0);
  });

  const writing: readonly (readonly [args: readonly string[], hint: RegExp])[] = [
    [["config", "set", "default.group", "acme"], /Set HOME or XDG_CONFIG_HOME\./],
    [["auth", "login", "--no-browser"], /Set HOME, or XDG_CACHE_HOME for the token cache\./],
    [["auth", "configure-docker"], /Set HOME, or name a directory with --helper-dir\./],
  ];
  for (const [args, hint] of writing)
    it(`\`${args.join(" ")}\` says what to set`, async () => {
      using folder = dataDirectory();
      const settings = path.join(folder.path, "gatehouse");
      mkdirSync(settings);
      writeFileSync(path.join(settings, "config.yaml"), "platform: {registry: registry.example.org}\n");
      for (const place of [folder.path, settings]) chmodSync(place, 0o755);
      const variables = args[0] === "config" ? {} : { XDG_CONFIG_HOME: folder.path };
      const { code, stderr } = await runHomeless(args, variables);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /you have no home directory/);
      assert.match(stderr, hint);
    });
});
