// The bundle that `npm run build` makes: it serves on its own, on both databases and over every transport.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { createClient } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { Health } from "../../gen/health/v1/health_pb.ts";
import { answersOf, signInAs, signInUrl } from "../harness/browser.ts";
import { loadedBy } from "../harness/loaded-modules.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";

/** The chunks that the help of the program loads, the help of resources, and completion. */
const helpChunks = ["examples", "rolldown-runtime", "start"];
const resourceChunks = [...helpChunks, "resources"];
const completionChunks = [...resourceChunks, "answer"];

describe("the bundle", () => {
  const servers: ChildProcess[] = [];
  let folder = "";
  let url = "";
  let token = "";

  before(async () => {
    // Below the root of the project: native packages stay in its node_modules.
    mkdirSync(".cache", { recursive: true });
    folder = mkdtempSync(path.resolve(".cache", "bundle 50% #-"));
    execFileSync(process.execPath, ["build/bundle.js", path.join(folder, "dist")], { stdio: "pipe" });
    ({ url, token } = await serve("sqlite"));
  });

  after(async () => {
    for (const server of servers.filter(({ exitCode }) => exitCode === null)) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
    await stopPostgres();
  });

  /** Starts a development server. */
  async function serve(data: string, ...options: string[]) {
    const port = await freePort();
    const directory = path.join(folder, data);
    const args = ["serve", "--dev", "--listen", `127.0.0.1:${port}`, "--data-dir", directory, ...options];
    const server = spawn(process.execPath, [path.join(folder, "dist/gatehouse.js"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    servers.push(server);
    const log = text(server.stderr);
    let printed = "";
    for await (const part of server.stdout) {
      printed += part;
      if (printed.includes("owner-token")) break;
    }
    assert.match(printed, /owner-token/, server.exitCode === null ? "nothing about a token" : await log);
    return { url: `http://127.0.0.1:${port}`, token: readFileSync(path.join(directory, "owner-token"), "utf8") };
  }

  it("names no file of the machine that it was built on", () => {
    for (const name of readdirSync(path.join(folder, "dist/chunks"))) {
      const code = readFileSync(path.join(folder, "dist/chunks", name), "utf8");
      assert.ok(!code.includes(path.resolve("src")) && !code.includes(path.resolve("node_modules")), name);
    }
  });

  it("loads few chunks for help and completion, without TLS and cryptography, and two files for the version", () => {
    const gatehouse = path.join(folder, "dist/gatehouse.js");
    for (const [args, expected] of [
      [["--help"], helpChunks],
      [["iam", "groups", "--help"], resourceChunks],
      [["complete", "--", "iam", "groups", "l"], completionChunks],
    ] as const) {
      const { files, slowBuiltins } = loadedBy(gatehouse, args);
      const chunks = files.flatMap((url) => /[/]chunks[/](.*)-.{8}[.]js$/.exec(url)?.[1] ?? []);
      assert.deepEqual([chunks.sort(), slowBuiltins], [[...expected].sort(), []], args.join(" "));
    }
    assert.equal(loadedBy(gatehouse, ["--version"]).files.length, 2);
  });

  it("lists without the server, and a list in ASCII without tables of Unicode", () => {
    const environment = { GATEHOUSE_URL: url, GATEHOUSE_TOKEN: token };
    const { files } = loadedBy(path.join(folder, "dist/gatehouse.js"), ["iam", "groups", "list"], environment);
    assert.deepEqual(
      files.filter((file) => /[/](?:server|drizzle|string-width)-.{8}[.]js$/.test(file)),
      [],
    );
  });

  it("serves every version of the API, and what a request loads", async () => {
    for (const route of ["/iam/v2beta1/groups", "/iam/v2/groups", "/iam/v1/groups"]) {
      assert.equal((await rest(url, token, "GET", route)).status, 200, route);
    }
    for (const name of ["v2beta1", "v1"])
      assert.equal((await rest(url, undefined, "GET", `/openapi/${name}.json`)).body.openapi, "3.1.0");
    assert.equal((await rest(url, "e30.e30.e30", "GET", `/sts/exchange?aud=${url}`)).status, 403);
    assert.match(await (await fetch(`${url}/metrics`)).text(), /^process_cpu_seconds_total /m);
  });

  it("the bundle signs users in", async () => {
    const answers = answersOf(await signInAs("owner", signInUrl(url)));
    assert.equal((await rest(url, answers.token, "GET", "/auth/v1/ok")).body.email, "owner@example.org");
  });

  it("the bundle serves every transport", async () => {
    const headers = { authorization: `Bearer ${token}` };
    for (const sendCompression of [null, compressionGzip]) {
      const options = { baseUrl: url, compressMinBytes: 0, ...(sendCompression ? { sendCompression } : {}) };
      const transports = [createGrpcTransport(options), createConnectTransport({ ...options, httpVersion: "1.1" })];
      for (const transport of transports) {
        const { totalCount } = await createClient(GroupsService, transport).listGroups({}, { headers });
        assert.equal(totalCount, 4n);
        await assert.rejects(createClient(GroupsService, transport).listGroups({}), /unauthenticated/);
        const { status } = await createClient(Health, transport).check({});
        assert.equal(status, 1);
      }
    }
  });

  it("the bundle serves from PostgreSQL", async () => {
    const other = await serve("postgres", "--database-url", await newPostgresDatabase());
    const { status, body } = await rest(other.url, other.token, "GET", "/iam/v2beta1/groups");
    assert.deepEqual([status, body.totalCount], [200, "4"]);
  });

  it("runs commands of the client", () => {
    const gatehouse = path.join(folder, "dist/gatehouse.js");
    const environment = { ...process.env, GATEHOUSE_URL: url, GATEHOUSE_TOKEN: token };
    const output = execFileSync(process.execPath, [gatehouse, "iam", "groups", "list"], {
      env: environment,
      encoding: "utf8",
    });
    assert.match(output, /example\.org/);
  });
});
