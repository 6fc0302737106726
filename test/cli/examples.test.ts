// Each page of the help has examples, and each example does what it says against a server.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, it } from "node:test";
import type { Command } from "commander";
import { examples } from "../../src/cli/examples.ts";
import { pathOf } from "../../src/cli/help.ts";
import { newProgram } from "../../src/cli/program.ts";
import { processShell } from "../../src/cli/shell.ts";
import { insertSampleRepos } from "../../src/server/development/samples/repos.ts";
import { addGroup } from "../security/tree.ts";
import { type Caller, startCaller, unsigned } from "./caller.ts";

/** All pages of the help that people are shown. */
async function pages(): Promise<{ program: Command; commands: Command[] }> {
  const program = await newProgram([], { ...processShell({}), stdout: new PassThrough() as never }, () => {});
  const below = (command: Command): Command[] => [
    command,
    ...command.createHelp().visibleCommands(command).flatMap(below),
  ];
  return { program, commands: below(program) };
}

/** The words of an example, as a shell reads them. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  assert.equal(words.shift(), "gatehouse", line);
  return words;
}

const lines = [...new Set(Object.values(examples).flat())].filter((line) => line.startsWith("gatehouse "));

describe("examples", () => {
  it("stand on every page of the help, and on no page that is not there", async () => {
    const { commands } = await pages();
    const shown = commands.map(pathOf).sort();
    assert.deepEqual(Object.keys(examples).sort(), shown);
    for (const command of commands) {
      let text = "";
      command.configureOutput({ writeOut: (some) => (text += some) }).outputHelp();
      for (const line of examples[pathOf(command)] ?? []) assert.ok(text.includes(`  $ ${line}\n`), line);
    }
  });

  it("are command lines that the program takes, and run the command whose page they are on", async () => {
    for (const [page, own] of Object.entries(examples)) {
      for (const line of own.filter((text) => text.startsWith("gatehouse "))) {
        const { program, commands } = await pages();
        let run = "";
        for (const command of commands)
          if (command.commands.length === 0 || command.name() === "pull-token")
            command.action(() => {
              run = pathOf(command);
            });
        await program.parseAsync(wordsOf(line), { from: "user" });
        assert.ok(page === "" || run === page || run.startsWith(`${page} `), `${line} runs ${run}`);
      }
    }
  });
});

describe("examples against a server", () => {
  /** They wait for a person, for another host, or for ever; or are about the data of a server of their own. */
  const elsewhere =
    /^gatehouse (auth (login|logout|configure-docker)|sts|registry|changes follow|serve|bootstrap|db|keys|config)/;
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-examples-"));
  const names = new Map([
    ["advisories.json", path.join(folder, "advisories.json")],
    ["secret.txt", path.join(folder, "secret.txt")],
  ]);
  let caller: Caller;
  before(async () => {
    caller = await startCaller({ settings: { termsDocuments: "terms-2026" } });
    const { server } = caller;
    await addGroup(server, server.groupUid, "engineering");
    await server.server.database.write({ actor: "", method: "test", requestId: "", time: Date.now() }, (tx) =>
      insertSampleRepos(tx, server.groupUid),
    );
    // SCIM needs two owners.
    const deputy = ["deputy", "--parent", "example.org", "--service-principal", "INGESTER", "--role", "owner"];
    await caller.run("iam", "identities", "create", ...deputy);
    writeFileSync(names.get("secret.txt")!, "secret");
    const affected = [
      {
        package: { ecosystem: "Alpine:v3.22", name: "openssl" },
        ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1" }] }],
      },
    ];
    writeFileSync(
      names.get("advisories.json")!,
      JSON.stringify({ id: "CVE-2030-1000001", modified: "2030-01-09T00:00:00Z", affected }),
    );
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const isCreating = (line: string) => /^gatehouse \S+ \S+ (create|accept)|advisories import/.test(line);
  const isEnding = (line: string) => /^gatehouse \S+ \S+ (delete|revoke)/.test(line);
  const runnable = lines.filter((line) => !elsewhere.test(line));
  const order = [
    ...runnable
      .filter(isCreating)
      .sort((a, b) => Number(b.includes("roles create")) - Number(a.includes("roles create"))),
    ...runnable.filter((line) => !isCreating(line) && !isEnding(line)),
    ...runnable.filter(isEnding).reverse(),
  ];

  /** What stands for a uid in an example. */
  async function uidFor(word: string): Promise<string> {
    const list = async (...args: string[]) => (await caller.json(...args, "list")).items;
    if (word === "INVITE") return (await list("iam", "invites"))[0].uid;
    const bindings = await list("iam", "role-bindings");
    return bindings.find(({ identity }: { identity: { name: string } }) => identity.name === "ci").uid;
  }

  for (const line of order) {
    it(line, async () => {
      const words: string[] = [];
      for (const word of wordsOf(line))
        words.push(["INVITE", "BINDING"].includes(word) ? await uidFor(word) : (names.get(word) ?? word));
      const { code, stderr } = await caller.run(...words);
      // What it asks is answered with no, which is exit code 1 of `can-i` alone.
      assert.equal(code, 0, `${line}: ${stderr}`);
    });
  }

  it("token.jwt is what sts debug takes", async () => {
    const file = path.join(folder, "token.jwt");
    writeFileSync(file, unsigned({ iss: "https://token.actions.githubusercontent.com", sub: "x" }));
    await caller.run(
      ...["iam", "identities", "create", "ci", "--parent", "example.org", "--service-principal", "INGESTER"],
    );
    const { code, stdout } = await caller.run("sts", "debug", "--identity", "ci", "--token-file", file);
    assert.deepEqual([code, /^CHECK/.test(stdout)], [1, true]);
  });
});

describe("documentation", () => {
  const sources = [
    ...["README.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { exclude: ["docs/decisions/**"] })],
    ...globSync("src/cli/**/*.ts", { exclude: ["src/cli/examples.ts"] }),
  ];
  it("names commands and flags that there are, as do the hints of the program", async () => {
    const { program } = await pages();
    const wrong = sources.flatMap((file) =>
      commandLinesOf(readFileSync(file, "utf8"))
        .filter((line) => !isCommandLine(program, line))
        .map((line) => `${file}: ${line}`),
    );
    assert.deepEqual(wrong, []);
  });
});

/** What stands between backquotes, and behind the prompt of a block. */
function commandLinesOf(text: string): string[] {
  const blocks = [...text.matchAll(/^(?:\$ )(gatehouse .*(?:\\\n.*)*)/gm)].map(([, line = ""]) =>
    line.replace(/\\\n\s*/g, ""),
  );
  const words = [...text.matchAll(/\\?`(gatehouse [^`\n]+?)\\?`/g)].map(([, line = ""]) => line);
  // Of what is put together when the program runs, the words are not known here.
  return [...blocks, ...words]
    .filter((line) => !line.startsWith("gatehouse ${"))
    .map((line) => line.replace(/ [|>#].*$/, "").replace(/ -o \w+/, ""));
}

/** Whether the words before the first argument name a command, and it has the flags. */
function isCommandLine(program: Command, line: string): boolean {
  let command = program;
  const flags: string[] = [];
  for (const word of line.split(/\s+/).slice(1)) {
    if (word.startsWith("--")) flags.push(word.replace(/[=\]].*$/, "").replace(/[.,]$/, ""));
    else if (command.commands.length > 0 && /^[a-z]/.test(word) && flags.length === 0) {
      const inner = command.commands.find((candidate) => candidate.name() === word.replace(/[,.]$/, ""));
      if (!inner) return false;
      command = inner;
    }
  }
  return flags.every((flag) => flag === "--help" || command.options.some(({ long }) => long === flag));
}
