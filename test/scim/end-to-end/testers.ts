// Public testers of SCIM servers: scim2-tester by scim2-cli, and scim-sanity. Both must find no error.
import assert from "node:assert/strict";
import { type ExecFileException, execFile } from "node:child_process";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import type { TestServer } from "../../harness/server.ts";
import { openVenv } from "../../openapi/venv.ts";
import { createProvider, enableScim, type ScimClient, startProvisionedServer } from "../provisioning.ts";

const programs = await openVenv(path.join(import.meta.dirname, "requirements.txt"));
const skip = programs === undefined && "needs python3 with venv";

after(stopPostgres);

/** Runs a program of the environment. Returns its exit code and all that it printed. */
function run(name: string, parameters: readonly string[], variables: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH ?? "", NO_COLOR: "1", ...variables };
  return new Promise<{ code: number; text: string }>((resolve) => {
    const finish = (error: ExecFileException | null, out: string, errors: string) =>
      resolve({ code: Number(error?.code ?? 0), text: out + errors });
    execFile(path.join(programs!, name), parameters, { env, timeout: 120_000 }, finish);
  });
}

for (const database of databases) {
  describe(`testers of SCIM, ${database}`, { skip }, () => {
    let server: TestServer;
    let scim: ScimClient;
    before(async () => {
      server = await startProvisionedServer({ database });
      scim = await enableScim(server, await createProvider(server));
    });
    after(() => server[Symbol.asyncDispose]());

    it("scim2-tester finds no error", async () => {
      const headers = { SCIM_CLI_HEADERS: `Authorization: Bearer ${scim.token}` };
      const { code, text } = await run("scim2", ["-u", scim.endpoint, "test"], headers);
      const problems = text.split("\n").filter((line) => /^(?:ERROR|CRITICAL|DEVIATION|SKIPPED)/.test(line));
      assert.deepEqual(problems, [], text);
      assert.equal(code, 0, text);
      assert.ok((text.match(/^(?:SUCCESS|COMPLIANT|ACCEPTABLE)/gm)?.length ?? 0) > 100, text);
    });

    it("scim-sanity finds no error", async () => {
      const { code, text } = await run("scim-sanity", [
        "probe",
        scim.endpoint,
        "--token",
        scim.token,
        "--i-accept-side-effects",
      ]);
      assert.match(text, /\b28 passed, 3 skipped, 31 total/, text);
      assert.equal(code, 0, text);
    });
  });
}
