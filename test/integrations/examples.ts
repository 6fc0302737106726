// `npm run suites -- examples`: the programs of examples/ are built and run by the commands of its README, with a real server. Not a part of
// `npm test`: they need compilers, and packages of other registries.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { blocksOf } from "../documentation/blocks.ts";
import { missingPrograms } from "../documentation/missing-programs.ts";
import { type IdentityProvider, startIdentityProvider } from "../harness/identity-provider.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addWorkload } from "../security/tree.ts";

/** The languages, with the commands that build and run their programs. */
const languages = readFileSync("examples/README.md", "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [build, run] = blocksOf(section);
    const needs = build!.attributes.get("needs")!.split(" ");
    return { name: section.slice(0, section.indexOf("\n")), build: build!.text, run: run!.text, needs };
  });

const patienceMs = 60_000;

describe("the examples", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-examples-"));
  let server: TestServer;
  let provider: IdentityProvider;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    server = await startTestServer();
    provider = await startIdentityProvider(["example"]);
    const identity = await addWorkload(server, provider.issuer, "example");
    const file = path.join(folder, "token");
    writeFileSync(file, `${await provider.issueToken("example", server.url)}\n`);
    env = {
      ...process.env,
      PATH: `${path.resolve("node_modules/.bin")}:${process.env.PATH}`,
      NO_PROXY: "127.0.0.1",
      GATEHOUSE_URL: server.url,
      IDENTITY: identity,
      TOKEN_FILE: file,
    };
  });

  after(async () => {
    await provider?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function createGroup(name: string): Promise<string> {
    const target = `/iam/v2beta1/groups/${server.groupUid}`;
    const { status, body } = await rest(server.url, server.ownerToken, "POST", target, { name });
    assert.equal(status, 200, JSON.stringify(body));
    return body.uid;
  }

  for (const { name, build, run, needs } of languages) {
    const missing = missingPrograms(needs);
    const skip = missing.length > 0 && `${missing.join(", ")} not installed`;
    it(`${name} exchanges a token, lists groups and follows changes`, { skip }, async () => {
      const built = spawnSync("bash", ["-ec", build], { env, encoding: "utf8" });
      assert.equal(built.status, 0, built.stderr);
      const child = spawn("bash", ["-ec", run], { env, stdio: ["ignore", "pipe", "pipe"] });
      const exited = once(child, "exit");
      const output = collect(child);
      try {
        await output.until("following example.org");
        assert.ok(output.text().includes(`${server.groupUid} example.org\n`));
        const group = await createGroup(`made-for-${name.toLowerCase()}`);
        await output.until(`/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup ${group}`);
      } finally {
        child.kill("SIGKILL");
        await exited;
      }
    });
  }
});

/** Collects what a process prints. */
function collect({
  stdout,
  stderr,
}: {
  readonly stdout: NodeJS.ReadableStream;
  readonly stderr: NodeJS.ReadableStream;
}) {
  let text = "";
  for (const stream of [stdout, stderr])
    stream.on("data", (chunk) => {
      text += String(chunk);
    });
  return {
    text: () => text,
    async until(line: string): Promise<void> {
      const signal = AbortSignal.timeout(patienceMs);
      while (!text.includes(`${line}\n`)) {
        const isOver = await Promise.race([once(stdout, "data", { signal }), once(stdout, "end", { signal })]).then(
          ([chunk]) => chunk === undefined,
          () => true,
        );
        if (isOver && !text.includes(`${line}\n`)) assert.fail(`it does not print ${JSON.stringify(line)} but ${text}`);
      }
    },
  };
}
