// Tests of completion: its candidates, and the shells' verdict on its scripts.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { freePort } from "../harness/postgres.ts";
import { type Caller, homeEnvironment, startCaller, unsigned, writeCache } from "./caller.ts";
import { environmentOf, launcher, run } from "./process.ts";

let caller: Caller;
describe("completion in shells", () => {
  before(async () => {
    caller = await startCaller();
    for (const args of [
      ["iam", "groups", "create", "engineering", "--parent", "example.org"],
      ["iam", "groups", "create", "platform", "--parent", "example.org/engineering"],
      ["iam", "roles", "create", "two words", "--parent", "example.org", "--capabilities", "groups.list"],
      ["events", "subscriptions", "create", "https://hooks.test/$(id)", "--parent", "example.org"],
      ["events", "subscriptions", "create", "https://hooks.test/in", "--parent", "example.org"],
    ])
      assert.equal((await caller.run(...args)).code, 0, args.join(" "));
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  /** Returns the candidates for the last word, without descriptions, and the directive for the shell. */
  async function offered(environment: Record<string, string>, ...words: string[]): Promise<string[]> {
    const { code, stdout, stderr } = await caller.runWith(environment, "complete", "--", ...words);
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")[0]!);
  }

  describe("completion offers", () => {
    const cases: [words: string[], values: string[]][] = [
      [
        ["iam", "role-b"],
        ["role-bindings", ":4"],
      ],
      [
        ["iam", "groups", "list", "--rec"],
        ["--recursive", ":4"],
      ],
      [
        ["-o", "json", "iam", "groups", "li"],
        ["list", ":4"],
      ],
      [
        ["iam", "groups", "list", "-o", "ya"],
        ["yaml", ":4"],
      ],
      [
        ["iam", "groups", "list", "--output=ya"],
        ["--output=yaml", ":4"],
      ],
      [
        ["iam", "groups", "describe", "exam"],
        ["example.org", ":4"],
      ],
      [
        ["iam", "groups", "describe", "example.org/"],
        ["example.org/engineering", ":4"],
      ],
      [
        ["iam", "groups", "describe", "example.org/engineering/"],
        ["example.org/engineering/platform", ":4"],
      ],
      [
        ["iam", "folders", "describe", "e"],
        ["engineering", ":4"],
      ],
      [
        ["iam", "groups", "delete", "engineering", "plat"],
        ["platform", ":4"],
      ],
      [
        ["iam", "groups", "create", "--parent", "eng"],
        ["engineering", ":4"],
      ],
      [
        ["iam", "groups", "list", "--parent=eng"],
        ["--parent=engineering", ":4"],
      ],
      [
        ["iam", "roles", "describe", "view"],
        ["viewer", ":4"],
      ],
      [["iam", "roles", "describe", "two"], [":4"]],
      [
        ["iam", "identities", "create", "x", "--role", "viewer,edi"],
        ["viewer,editor", ":4"],
      ],
      [
        ["iam", "roles", "create", "x", "--capabilities", "groups.l"],
        ["groups.list", ":4"],
      ],
      [
        ["iam", "roles", "create", "x", "--capabilities", "groups.list,repo.li"],
        ["groups.list,repo.list", ":4"],
      ],
      [
        ["auth", "can-i", "groups.cr"],
        ["groups.create", ":4"],
      ],
      [
        ["auth", "can-i", "groups.create", "--group", "exam"],
        ["example.org", ":4"],
      ],
      [
        ["iam", "identities", "describe", "own"],
        ["owner", ":4"],
      ],
      [
        ["events", "subscriptions", "state", ""],
        ["https://hooks.test/in", ":4"],
      ],
      [
        ["config", "set", "platform.a"],
        ["platform.api", "platform.audience", ":4"],
      ],
      [["advisories", "import", ""], [":0"]],
      [["iam", "groups", "create", "-f", ""], [":0"]],
      [["iam", "groups", "create", ""], [":4"]],
      [["nonsense", ""], [":4"]],
      [["iam", "groups", "describe", "nowhere/"], [":4"]],
    ];
    for (const [words, values] of cases) {
      it(words.join(" "), async () => assert.deepEqual(await offered({}, ...words), values));
    }

    it("offers uids for the beginning of a uid, and for resources without names", async () => {
      const { groupUid } = caller.server;
      assert.ok((await offered({}, "iam", "groups", "describe", groupUid.slice(0, 8))).includes(groupUid));
      const bindings = (await caller.json("iam", "role-bindings", "list")).items;
      const values = await offered({}, "iam", "role-bindings", "describe", "");
      assert.deepEqual(values.toSorted(), [...bindings.map(({ uid }: { uid: string }) => uid), ":4"].toSorted());
    });

    it("offers names from the server that the command line names", async () => {
      const none = { GATEHOUSE_URL: `http://127.0.0.1:${await freePort()}` };
      const words = ["iam", "groups", "describe", "exam"];
      assert.deepEqual(await offered(none, ...words), [":4"]);
      assert.deepEqual(await offered(none, "--url", caller.server.url, ...words), ["example.org", ":4"]);
      assert.deepEqual(await offered(none, ...words.slice(0, -1), "--url", caller.server.url, "exam"), [
        "example.org",
        ":4",
      ]);
    });

    it("offers nothing, and renews no token, if nobody is signed in or the token has expired", async () => {
      const home = path.join(caller.home, "expired");
      const environment = { ...homeEnvironment(home), GATEHOUSE_TOKEN: "" };
      const words = ["iam", "groups", "describe", ""];
      assert.deepEqual(await offered(environment, ...words), [":4"]);
      const { url } = caller.server;
      writeCache(home, url, unsigned({ aud: url, iss: url, exp: 1 }));
      writeCache(home, url, "x".repeat(40), "refresh-token");
      assert.deepEqual(await offered(environment, ...words), [":4"]);
    });

    it("offers nothing after a while if the server does not respond", async () => {
      const { createServer } = await import("node:net");
      const silent = createServer((socket) => void socket.on("error", () => {})).listen(0, "127.0.0.1");
      try {
        const address = silent.address();
        const port = typeof address === "object" ? address?.port : 0;
        const environment = { ...caller.environment, GATEHOUSE_URL: `http://127.0.0.1:${port}` };
        const { code, stdout, stderr } = await run(["complete", "--", "iam", "groups", "describe", ""], environment);
        assert.deepEqual([code, stdout, stderr], [0, ":4\n", ""]);
      } finally {
        silent.close();
      }
    });
  });

  describe("the scripts of completion", () => {
    let environment: Record<string, string>;
    before(() => {
      const folder = path.join(caller.home, "bin");
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, "gatehouse"), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
      chmodSync(path.join(folder, "gatehouse"), 0o755);
      environment = environmentOf(caller.environment);
      environment.PATH = `${folder}:${process.env.PATH}`;
    });

    /** Runs a script in a shell. */
    async function inShell(shell: string, ...args: string[]) {
      const child = spawn(shell, args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      return { stdout, stderr, status };
    }

    const twice: Readonly<Record<string, string[]>> = {
      bash: ["--norc", "-euc", "source <(gatehouse completion bash); source <(gatehouse completion bash); echo done"],
      zsh: [
        "-f",
        "-c",
        "autoload -Uz compinit; compinit -D -u; source <(gatehouse completion zsh); source <(gatehouse completion zsh); echo done",
      ],
      fish: ["-N", "-c", "gatehouse completion fish | source; gatehouse completion fish | source; echo done"],
    };
    for (const [shell, args] of Object.entries(twice)) {
      const isMissing = spawnSync(shell, ["-c", "true"]).error !== undefined;
      it(`${shell} loads its script twice without output`, {
        skip: isMissing && `${shell} is not installed`,
      }, async () => {
        assert.deepEqual(await inShell(shell, ...args), { stdout: "done\n", stderr: "", status: 0 });
      });
    }

    const isFishMissing = spawnSync("fish", ["-c", "true"]).error !== undefined;
    it("the script for fish completes names", { skip: isFishMissing && "fish is not installed" }, async () => {
      const { stdout } = await inShell(
        "fish",
        "-N",
        "-c",
        'gatehouse completion fish | source; complete -C "gatehouse iam groups describe exam"',
      );
      assert.match(stdout, /^example\.org\t[0-9a-f]{40}$/m);
    });

    /** Returns the words of a line as bash splits it: also at colons and equals signs. */
    function bashWords(line: string): string[] {
      const words = line.match(/[^\s:=]+|[:=]+/g) ?? [];
      return /\s$/.test(line) ? [...words, ""] : words;
    }

    for (const [line, replies] of [
      ["gatehouse iam groups describe exam", ["example.org"]],
      ["gatehouse iam groups list --output=ya", ["yaml"]],
      ["gatehouse iam groups list --output=", ["table", "wide", "json", "yaml", "csv", "id", "name", "tree", "none"]],
      ["gatehouse events subscriptions describe https://hooks.test/i", ["//hooks.test/in"]],
      ["gatehouse events subscriptions describe ", ["https://hooks.test/in"]],
      ["gatehouse iam groups nonsense --x ", []],
    ] as const) {
      it(`bash completes ${line}, and runs nothing of what it meets`, async () => {
        const words = bashWords(line).map((word) => `'${word}'`);
        const script = `source <(gatehouse completion bash)
        COMP_LINE='${line}'; COMP_POINT=${line.length}; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}
        __gatehouse_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
        const { stdout, stderr } = await inShell("bash", "--norc", "-c", script);
        assert.deepEqual(
          stdout.split("\n").filter((word) => word !== ""),
          replies,
        );
        assert.equal(stderr.replace(/.*compopt.*\n/, ""), "");
      });
    }
  });
});
