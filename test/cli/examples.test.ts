// Each page of the help has examples, and each example does what it says against a server.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, it } from "node:test";
import type { Command } from "commander";
import { examples } from "../../src/cli/examples.ts";
import { pathOf } from "../../src/cli/help.ts";
import { newProgram } from "../../src/cli/program.ts";
import { processShell } from "../../src/cli/shell.ts";
import { startDevelopmentServer } from "../documentation/development-server.ts";
import { openSession, type ShellSession } from "../documentation/session.ts";
import { freePort } from "../harness/postgres.ts";
import { isQuick } from "../harness/quick.ts";
import { unsigned } from "./caller.ts";

/** Returns all pages of the help that people are shown. */
async function pages(): Promise<{ program: Command; commands: Command[] }> {
  const program = await newProgram([], { ...processShell({}), stdout: new PassThrough() as never }, () => {});
  const below = (command: Command): Command[] => [
    command,
    ...command.createHelp().visibleCommands(command).flatMap(below),
  ];
  return { program, commands: below(program) };
}

/** Returns the words of an example, as a shell reads them. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  assert.equal(words.shift(), "gatehouse", line);
  return words;
}

const lines = [...new Set(Object.values(examples).flat())].filter((line) => line.startsWith("gatehouse "));

describe("examples", () => {
  it("every page of the help has examples, and every example has a page", async () => {
    const { commands } = await pages();
    const shown = commands.map(pathOf).sort();
    assert.deepEqual(Object.keys(examples).sort(), shown, "the pages of src/cli/examples.ts");
    for (const command of commands) {
      let text = "";
      command.configureOutput({ writeOut: (some) => (text += some) }).outputHelp();
      for (const line of examples[pathOf(command)] ?? []) assert.ok(text.includes(`  $ ${line}\n`), line);
    }
  });

  it("examples are valid command lines, and run the command of their page", async () => {
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

describe("examples against a development server", { skip: isQuick }, () => {
  // These are for a person, for another host, run without end, or make data of their own.
  const isSkipped = (line: string) =>
    /^gatehouse (auth (login|configure-docker)|iam memberships (accept|decline|leave)|iam access-requests (create|approve|deny|acknowledge|cancel|end)|iam access-reviews (create Workloads|decide)|iam users (describe|remove)|registry|changes follow|serve|emulator|bootstrap|db copy --to postgres:)/.test(
      line,
    );
  // These create what others need, delete it, or end the tokens and change the defaults of the session.
  const isCreating = (line: string) => /^gatehouse \S+ \S+ (create|accept)|advisories import/.test(line);
  const isEnding = (line: string) => /^gatehouse \S+ \S+ (delete|revoke)/.test(line);
  const isLast = (line: string) => /^gatehouse (config|keys|auth logout)/.test(line);
  const setsOwn = (line: string) => Number(line.includes("config set"));
  const createsRole = (line: string) => Number(line.includes("roles create"));

  const running = new AsyncDisposableStack();
  let session: ShellSession;
  before(async () => {
    const address = `127.0.0.1:${await freePort()}`;
    session = running.use(openSession({ GATEHOUSE_URL: `http://${address}` }));
    const settings = { termsDocuments: "terms-2026", eventDelivery: "off" };
    running.use(await startDevelopmentServer(path.join(session.folder, "data"), address, settings));
    const affected = [
      {
        package: { ecosystem: "Alpine:v3.22", name: "openssl" },
        ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1" }] }],
      },
    ];
    const files = {
      "secret.txt": "secret",
      "sbom.json": '{"bomFormat":"CycloneDX","specVersion":"1.6"}',
      "import-key.pub": generateKeyPairSync("x25519").publicKey.export({ type: "spki", format: "pem" }) as string,
      "token.jwt": unsigned({ iss: "https://token.actions.githubusercontent.com", sub: "x" }),
      "advisories.json": JSON.stringify({ id: "CVE-2030-1000001", modified: "2030-01-09T00:00:00Z", affected }),
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(path.join(session.folder, name), content);
  });
  after(() => running.disposeAsync());

  const runnable = lines.filter((line) => !isSkipped(line));
  const between = runnable.filter((line) => !isCreating(line) && !isEnding(line) && !isLast(line));
  const order = [
    ...runnable.filter(isCreating).sort((a, b) => createsRole(b) - createsRole(a)),
    ...between,
    ...runnable.filter(isEnding).reverse(),
    ...runnable.filter(isLast).sort((a, b) => setsOwn(b) - setsOwn(a)),
  ];

  let bindingUid = "";
  const bindingsOf = "gatehouse iam role-bindings list --identity ci";
  const attemptsOf = "gatehouse events subscriptions attempts https://hooks.example.com/in";
  for (const line of order) {
    it(line, async () => {
      // Of the two role bindings of the identity, the one whose role an example deletes in the end.
      if (line.includes("BINDING") && bindingUid === "")
        bindingUid = (await session.run(`${bindingsOf} --role tag-reader -o id`)).output.trim();
      // The names in capital letters stand for uids.
      const prepared = line
        .replace("INVITE", '"$(gatehouse iam invites list -o id | head -1)"')
        .replace("ATTEMPT", `"$(${attemptsOf} -o id | head -1)"`)
        .replace("EVENT", `"$(${attemptsOf} -o json --query 'items[0].eventId' | tr -d '"')"`)
        .replace("REVIEW", '"$(gatehouse iam access-reviews list -o id | head -1)"')
        .replace("BINDING", () => bindingUid);
      const { code, output } = await session.run(prepared);
      // The token is not one that the identity accepts, the host of the sink does not exist, no name was refused, and no registry
      // notifies of uses.
      const expected =
        /^gatehouse (sts debug|events subscriptions test|iam trust accept|images unused --for 90d$)/.test(line) ? 1 : 0;
      assert.equal(code, expected, `${line}: ${output}`);
    });
  }
});
