// schemathesis asks a server for everything that its OpenAPI documents offer, as owner, viewer and stranger: it fails at nothing,
// answers nothing that is not in the document, and grants only what the document allows.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, ownerRole, viewerRole } from "../security/tree.ts";
import { documents, withoutStreams } from "./documents.ts";
import { inServer } from "./further-calls.ts";
import { openVenv } from "./venv.ts";

const sources = path.join(import.meta.dirname, "schemathesis");
const place = path.resolve(import.meta.dirname, "../../.cache/schemathesis");
const checks = [
  "server_does_not_fail",
  "granted_is_allowed",
  "status_code_conformance",
  "answer_is_of_documented_type",
  "response_headers_conformance",
  "response_schema_conformance",
  "ignored_auth",
];
const runFile = promisify(execFile);

/**
 * The same requests in every run, by one worker: threads trip over a fault of CPython 3.11. How many examples the generator throws away,
 * such as lists of fifty uids, says nothing about the server.
 */
const bounds =
  "--seed 1 --workers 1 --max-examples 4 --generation-database none --suppress-health-check filter_too_much".split(" ");

/** Errors that precede authorization are tested with one actor only; v2 is v2beta1 under other paths. */
function phasesOf(name: string, actor: string): string {
  return actor === "owner" && name !== "/openapi/v2.json" ? "examples,coverage,fuzzing" : "examples,fuzzing";
}

describe("schemathesis", () => {
  let server: TestServer;
  const tokens = new Map<string, string>();
  before(async () => {
    mkdirSync(place, { recursive: true });
    server = await startTestServer();
    const other = await addGroup(server, null, "other");
    tokens.set("viewer", (await addCaller(server, server.groupUid, viewerRole.uid)).token);
    tokens.set("stranger", (await addCaller(server, other, ownerRole.uid)).token);
    tokens.set("owner", server.ownerToken);
  });
  after(() => server[Symbol.asyncDispose]());

  for (const name of documents.keys()) {
    for (const actor of ["stranger", "viewer", "owner"]) {
      it(`${name} as ${actor}`, async (t) => {
        const bin = await openVenv(path.join(sources, "requirements.txt"));
        if (bin === undefined) return t.skip("there is no Python with venv");
        const file = path.join(place, path.basename(name));
        writeFileSync(
          file,
          inServer(JSON.stringify(withoutStreams(documents.get(name)!)), server.groupUid, server.config.baseUrl),
        );
        const token = `Authorization: Bearer ${tokens.get(actor)}`;
        const args = ["run", file, "--url", server.url, "-H", token, "-c", checks.join(","), ...bounds];
        await run(path.join(bin, "st"), [
          ...args,
          "--phases",
          phasesOf(name, actor),
          "--continue-on-failure",
          "--no-color",
          "--warnings",
          "off",
        ]);
      });
    }
  }
});

async function run(program: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, SCHEMATHESIS_HOOKS: "checks", PYTHONPATH: sources };
  await runFile(program, args, { cwd: place, env, maxBuffer: 64 * 1024 * 1024 }).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout?.slice(-20_000) ?? String(error));
  });
}
