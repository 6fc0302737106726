// The rest of the program's manners: its settings, questions at a terminal, completion.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type Caller, homeEnvironment, startCaller } from "./caller.ts";
import { environmentOf, launcher, start } from "./process.ts";

let caller: Caller;
describe("the program in a shell", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  let homes = 0;
  /** Returns an empty home. */
  function newHome(): Record<string, string> & { HOME: string } {
    const home = path.join(caller.home, `home-${homes++}`);
    return { ...homeEnvironment(home), HOME: home };
  }

  describe("gatehouse config", () => {
    it("sets, shows, gets and removes a setting, and keeps comments", async () => {
      const environment = newHome();
      const file = path.join(environment.HOME, "config", "gatehouse", "config.yaml");
      const config = (...args: string[]) => caller.runWith(environment, "config", ...args);
      assert.equal((await config("set", "default.group", "example.org")).code, 0);
      writeFileSync(file, `# mine\n${readFileSync(file, "utf8")}`);
      assert.equal((await config("set", "output.format", "id")).code, 0);
      assert.equal((await config("get", "default.group")).stdout, "example.org\n");
      assert.match(
        (await config("view")).stdout,
        /^default\.group +example\.org +the group for commands without --parent/m,
      );
      assert.equal((await config("unset", "output.format")).stderr, `Written to ${file}.\n`);
      assert.equal((await config("get", "output.format")).code, 1);
      assert.match(readFileSync(file, "utf8"), /^# mine\n/);
      const wrong = await config("set", "default.grup", "x");
      assert.equal(wrong.code, 2);
      assert.match(
        wrong.stderr,
        /there is no setting "default\.grup"\n {2}Did you mean default\.group\?\n {2}Settings are platform\.api,/,
      );
    });

    it("says that there is nothing to remove, in a section that is there and in one that is not", async () => {
      const environment = newHome();
      const config = (...args: string[]) => caller.runWith(environment, "config", ...args);
      const file = path.join(environment.HOME, "config", "gatehouse", "config.yaml");
      assert.equal((await config("unset", "platform.api")).code, 0);
      assert.ok(!existsSync(file));
      await config("set", "default.group", "example.org");
      for (const key of ["platform.api", "default.identity-provider"]) {
        const { code, stderr } = await config("unset", key);
        assert.deepEqual([code, stderr], [0, `${key} is not set.\n`]);
      }
      assert.equal((await config("get", "default.group")).stdout, "example.org\n");
    });

    const wrong: [key: string, value: string, said: RegExp][] = [
      [
        "platform.api",
        "gatehouse.test",
        /^gatehouse: platform\.api: "gatehouse\.test" is not an http or https address\n/,
      ],
      [
        "platform.api",
        "https://a:b@c.test",
        /^gatehouse: platform\.api: an address must have no user name and no password/,
      ],
      [
        "platform.registry",
        "https://r.test",
        /^gatehouse: platform\.registry: "https:\/\/r\.test" is not a host such as /,
      ],
      ["output.format", "xml", /^gatehouse: output\.format: "xml" is not one of table, wide, /],
      ["default.group", "", /^gatehouse: default\.group: must not be empty\n.*config unset default\.group/],
    ];
    for (const [key, value, said] of wrong) {
      it(`does not set ${key} to ${JSON.stringify(value)}`, async () => {
        const environment = newHome();
        const { code, stderr } = await caller.runWith(environment, "config", "set", key, value);
        assert.match(stderr, said);
        assert.equal(code, 2);
        assert.equal((await caller.runWith(environment, "config", "get", key)).code, 1);
      });
    }

    it("default.group is the parent of what is created without one", async () => {
      const environment = newHome();
      await caller.runWith(environment, "config", "set", "default.group", "example.org");
      const created = await caller.runWith(environment, "iam", "groups", "create", "by-default", "-o", "id");
      assert.match(created.stdout, new RegExp(`^${caller.server.groupUid}/[0-9a-f]{16}\n$`));
    });
  });

  describe("at a terminal", () => {
    /** Runs a command with a terminal of its own, and types these keys at its first question. */
    async function atTerminal(keys: string, ...args: string[]): Promise<{ text: string; code: number | null }> {
      const command = [process.execPath, launcher, ...args].map((word) => `'${word}'`).join(" ");
      const child = spawn("script", ["-qec", command, "/dev/null"], { env: environmentOf(caller.environment) });
      let text = "";
      child.stdout.on("data", (chunk) => {
        const asked = text.includes("[y/N]");
        text += chunk;
        if (!asked && text.includes("[y/N]")) child.stdin.write(keys);
      });
      const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
      return { text, code };
    }

    const onLinux = { skip: process.platform !== "linux" };
    const deletion = ["iam", "groups", "delete", "asked"];

    it("a deletion asks, and anything but yes leaves everything as it is", onLinux, async () => {
      const { uid } = await caller.json("iam", "groups", "create", "asked", "--parent", "example.org");
      for (const keys of ["n\n", "\u0004"]) {
        const { text, code } = await atTerminal(keys, ...deletion);
        assert.match(text, /Delete group asked .* \[y\/N\][\s\S]*^gatehouse: nothing was done/m);
        assert.equal(code, 1);
      }
      assert.equal((await caller.json("iam", "groups", "describe", uid)).name, "asked");
      assert.match((await atTerminal("y\n", ...deletion)).text, new RegExp(`Deleted group ${uid}`));
      assert.equal((await caller.run("iam", "groups", "describe", uid)).code, 1);
    });

    it("Ctrl-C at a question ends the program as it does elsewhere", onLinux, async () => {
      await caller.json("iam", "groups", "create", "asked", "--parent", "example.org");
      const { text, code } = await atTerminal("\u0003", ...deletion);
      assert.equal(code, 128 + constants.signals.SIGINT);
      assert.doesNotMatch(text, /gatehouse:/);
      assert.equal((await caller.run("iam", "groups", "describe", "asked")).code, 0);
    });

    it("a progress bar does not hide the cursor, because a killed program could not restore it", onLinux, async () => {
      const file = path.join(caller.home, "advisory.json");
      writeFileSync(file, "{}");
      const { text } = await atTerminal("", "advisories", "import", file, "--group", "example.org");
      assert.match(text, /importing/);
      assert.ok(!text.includes("\u001b[?25l"));
    });
  });

  describe("a reader that is gone", () => {
    const cases: [args: string[], closed: "stdout" | "stderr", code: number][] = [
      [["--help"], "stdout", 0],
      [["iam", "groups", "list"], "stdout", 0],
      [["no-such-command"], "stderr", 2],
    ];
    for (const [args, closed, code] of cases) {
      it(`of ${closed} ends ${args.join(" ")} quietly with ${code}`, async () => {
        const { child, finished } = start(args, caller.environment);
        child[closed]?.destroy();
        const { stdout, stderr, ...ended } = await finished;
        assert.deepEqual([ended.code, stdout, stderr], [code, "", ""]);
      });
    }
  });

  describe("completion", () => {
    const line = (script: string) =>
      new Promise<string>((resolve) => {
        const child = spawn("bash", ["--norc", "-c", script], { env: environmentOf(caller.environment) });
        let text = "";
        child.stdout.on("data", (chunk) => {
          text += chunk;
        });
        child.once("close", () => resolve(text));
      });

    it("completes commands, flags and their values in bash", async () => {
      const complete = (words: string) => {
        const list = words.split(" ");
        return line(`
        gatehouse() { '${process.execPath}' '${launcher}' "$@"; }
        # What the package bash-completion brings: the words of the line, colons and all.
        _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD cur=\${COMP_WORDS[COMP_CWORD]}; }
        source <(gatehouse completion bash)
        COMP_WORDS=(${list.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${list.length - 1}
        COMP_LINE='${words}'; COMP_POINT=${words.length}
        $(complete -p gatehouse | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        printf '%s\\n' "\${COMPREPLY[@]}"`);
      };
      assert.match(await complete("gatehouse iam role-"), /^role-bindings/);
      assert.match(await complete("gatehouse iam groups list --rec"), /^--recursive/);
      assert.match(await complete("gatehouse iam groups list -o ya"), /^yaml/);
    });

    for (const shell of ["bash", "zsh", "fish"]) {
      it(`prints a script for ${shell}`, async () => {
        const { code, stdout } = await caller.run("completion", shell);
        assert.equal(code, 0);
        assert.match(stdout, new RegExp(`${shell} completion for gatehouse`));
      });
    }

    it("knows no other shell", async () => {
      assert.equal((await caller.run("completion", "tcsh")).code, 2);
    });
  });
});
