// The bundle of the server: made of the sources, used while they are what they were, and in all its parts.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { createClient } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { GroupsService } from "../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { Health } from "../gen/health/v1/health_pb.ts";
import { answersOf, signInAs, signInUrl } from "./harness/browser.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "./harness/postgres.ts";
import { rest } from "./harness/rest.ts";

const packages = ".package-lock.json";
const askSnapshot =
  'import { currentBundle } from "./src/bundle/place.js"; process.stdout.write(currentBundle()?.snapshot ?? "none");';

/** Loads the main module of a bundle and prints what it asked of chance, the clock and the process meanwhile. */
const spy = `
  const asked = [];
  const watch = (owner, ownerName, ...names) => {
    for (const name of names) {
      const value = owner[name];
      const tell = () => { asked.push(ownerName + "." + name); return value; };
      if (typeof value !== "function") Object.defineProperty(owner, name, { get: tell });
      else owner[name] = (...args) => tell()(...args);
    }
  };
  const crypto = require("node:crypto");
  watch(crypto, "crypto", "randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID", "generateKeyPairSync");
  watch(Object.getPrototypeOf(crypto.webcrypto), "webcrypto", "getRandomValues", "randomUUID");
  watch(Math, "Math", "random");
  watch(Date, "Date", "now");
  watch(process, "process", "pid", "ppid", "cwd", "uptime");
  watch(require("node:os"), "os", "hostname", "homedir", "tmpdir", "cpus", "totalmem");
  require(process.argv[1]);
  process.stdout.write(asked.sort().join(" "));
`;

/** A clone at a place whose name is no plain URL: the sources copied, the packages linked. */
class Clone {
  root = mkdtempSync(path.join(tmpdir(), "gatehouse 50% #clone-"));

  constructor() {
    for (const name of ["src", "gen", "package.json"]) cpSync(name, this.at(name), { recursive: true });
    mkdirSync(this.at("node_modules"));
    for (const name of readdirSync("node_modules").filter((entry) => entry !== ".cache" && entry !== packages)) {
      symlinkSync(path.resolve("node_modules", name), this.at("node_modules", name));
    }
    cpSync(path.join("node_modules", packages), this.at("node_modules", packages), { preserveTimestamps: true });
  }

  at(...names: string[]): string {
    return path.join(this.root, ...names);
  }

  node(...args: string[]): string {
    return execFileSync(process.execPath, args, { cwd: this.root, encoding: "utf8", stdio: "pipe" });
  }

  /** Makes the bundle. A warning, such as why there is no snapshot, is a failure. */
  make(): void {
    const { status, stderr } = spawnSync(process.execPath, ["src/bundle/make.js"], {
      cwd: this.root,
      encoding: "utf8",
    });
    if (status !== 0 || stderr !== "") throw new Error(stderr);
  }

  async current(): Promise<string> {
    const { currentBundle } = await import(pathToFileURL(this.at("src/bundle/place.js")).href);
    return currentBundle()?.main ?? "none";
  }

  /** The snapshot that a process with these flags would begin with. */
  snapshot(...flags: string[]): string {
    return this.node(...flags, "--input-type=module", "--eval", askSnapshot);
  }

  /** The files that the bundle in use consists of, but for its snapshot. */
  async parts(): Promise<string[]> {
    const directory = path.dirname(await this.current());
    return readdirSync(directory)
      .filter((name) => !name.endsWith(".blob"))
      .map((name) => path.join(directory, name));
  }

  sources(): string[] {
    return Object.keys(this.record().inputs)
      .filter((name) => name.endsWith(".ts"))
      .map((name) => this.at(name));
  }

  /** What is recorded of the bundle in use. */
  record(): { readonly directory: string; readonly inputs: Record<string, unknown> } {
    return JSON.parse(readFileSync(this.at(".cache/bundle/current.json"), "utf8"));
  }

  move(): void {
    const moved = `${this.root}-moved`;
    renameSync(this.root, moved);
    this.root = moved;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Runs what changes a file, and gives the file its content and its time back. */
async function withChange(file: string, change: () => void, run: () => Promise<void>): Promise<void> {
  const [content, second] = [readFileSync(file), secondOf(file)];
  try {
    change();
    await run();
  } finally {
    writeFileSync(file, content);
    utimesSync(file, second, second);
  }
}

/** The time of a file in whole seconds, as stamps have it: `mtime` is rounded, and may be in the next second. */
function secondOf(file: string): number {
  return Math.floor(statSync(file).mtimeMs / 1000);
}

/** Makes files such that would end the server at once and look as they did; answers what gives them their content back. */
function breakFiles(files: readonly string[]): () => void {
  const whole = files.map((file) => [file, readFileSync(file), secondOf(file)] as const);
  const write = (content: (was: Buffer) => string | Buffer) => {
    for (const [file, was, second] of whole) {
      writeFileSync(file, content(was));
      utimesSync(file, second, second);
    }
  };
  write((was) => 'throw "source"'.padEnd(was.length));
  return () => write((was) => was);
}

after(stopPostgres);

describe("the bundle of the server", () => {
  const clone = new Clone();
  const servers: ChildProcess[] = [];

  before(async () => {
    assert.equal(await clone.current(), "none");
    clone.make();
  });

  after(() => clone.remove());

  async function stopServers(): Promise<void> {
    for (const server of servers.filter(({ exitCode }) => exitCode === null)) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
  }

  /** Starts a development server. */
  async function serve(data: string, ...options: string[]) {
    const port = await freePort();
    const args = ["serve", "--dev", "--listen", `127.0.0.1:${port}`, "--data-dir", data];
    const command = [clone.at("src/gatehouse.js"), ...args, ...options];
    const server = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"] });
    servers.push(server);
    const log = text(server.stderr);
    let printed = "";
    for await (const part of server.stdout) {
      printed += part;
      if (printed.includes("owner-token")) break;
    }
    assert.match(printed, /owner-token/, server.exitCode === null ? "nothing about a token" : await log);
    const token = readFileSync(path.join(data, "owner-token"), "utf8");
    return { server, log, url: `http://127.0.0.1:${port}`, token };
  }

  it("is what the sources say until one of them, a package or a file of its own changes", async () => {
    const bundle = await clone.current();
    assert.equal(path.basename(bundle), "main.cjs");
    const sources = [
      "src/server/server.ts",
      "gen/google/rpc/status_pb.ts",
      "src/bundle/build.js",
      `node_modules/${packages}`,
    ];
    for (const file of [...sources.map((name) => clone.at(name)), bundle]) {
      const changes = [() => appendFileSync(file, "\n"), () => utimesSync(file, 1, 1), () => rmSync(file)];
      for (const change of [...changes, () => truncateSync(file, 1)]) {
        await withChange(file, change, async () => assert.equal(await clone.current(), "none", file));
      }
      assert.equal(await clone.current(), bundle);
    }
  });

  it("is made anew when it is no longer that, and only then, and the one before stays for those who run it", async () => {
    const first = await clone.current();
    clone.make();
    assert.equal(await clone.current(), first);
    appendFileSync(clone.at("src/model/uid.ts"), "// more\n");
    clone.make();
    const second = await clone.current();
    assert.ok(second !== first && second !== "none");
    assert.ok(statSync(first).size > 0);
  });

  it("is not made of sources from the future", async () => {
    const file = clone.at("src/model/uid.ts");
    const second = secondOf(file);
    utimesSync(file, second, new Date("2100-01-01"));
    assert.throws(() => clone.make(), /has a time to come/);
    assert.equal(await clone.current(), "none");
    utimesSync(file, second, second);
  });

  it("has a snapshot for a process of the same Node with the same flags of V8", async () => {
    const snapshot = path.join(path.dirname(await clone.current()), "server.blob");
    assert.equal(clone.snapshot(), snapshot);
    assert.equal(clone.snapshot("--max-semi-space-size=8"), snapshot);
    assert.equal(clone.snapshot("--no-opt"), "none");
  });

  it("asks for nothing while it is loaded that would be that of the machine that made the snapshot", async () => {
    // By pino: the server gives its log both, and writes no times of nanoseconds.
    assert.equal(clone.node("--eval", spy, await clone.current()), "Date.now os.hostname process.pid");
  });

  describe("as a snapshot, with no source and no other part of it read", () => {
    let mend = () => {};

    before(async () => {
      mend = breakFiles([...clone.sources(), ...(await clone.parts())]);
    });

    after(async () => {
      await stopServers();
      mend();
    });

    whatIsServed();

    it("is passed over where something is to be imported first", () => {
      const imported = 'data:text/javascript,console.log("imported")';
      assert.throws(() => clone.node("--import", imported, "src/gatehouse.js", "serve", "--help"), /source/);
    });

    it("knows the process that it runs in", async () => {
      const { server, log } = await serve(clone.at("another"));
      server.kill("SIGTERM");
      await once(server, "exit");
      const pids = (await log)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).pid);
      assert.deepEqual([...new Set(pids)], [server.pid]);
    });
  });

  describe("wherever the clone is moved, and with no source read", () => {
    before(() => {
      clone.move();
      breakFiles(clone.sources());
      assert.throws(() => clone.node("src/gatehouse.js", "--version"), /source/);
      assert.equal(clone.snapshot(), "none");
    });

    after(stopServers);

    whatIsServed();
  });

  function whatIsServed(): void {
    let url = "";
    let token = "";

    before(async () => {
      ({ url, token } = await serve(clone.at("data")));
    });

    it("serves every version, and what a request loads", async () => {
      for (const route of ["/iam/v2beta1/groups", "/iam/v2/groups", "/iam/v1/groups"]) {
        assert.equal((await rest(url, token, "GET", route)).status, 200, route);
      }
      for (const name of ["v2beta1", "v1"])
        assert.equal((await rest(url, undefined, "GET", `/openapi/${name}.json`)).body.openapi, "3.1.0");
      assert.equal((await rest(url, "e30.e30.e30", "GET", `/sts/exchange?aud=${url}`)).status, 403);
      assert.match(await (await fetch(`${url}/metrics`)).text(), /^process_cpu_seconds_total /m);
    });

    it("signs people in", async () => {
      const answers = answersOf(await signInAs("owner", signInUrl(url)));
      assert.equal((await rest(url, answers.token, "GET", "/auth/v1/ok")).body.email, "owner@example.org");
    });

    it("speaks every protocol", async () => {
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

    it("serves on PostgreSQL", async () => {
      const other = await serve(clone.at("other"), "--database-url", await newPostgresDatabase());
      const { status, body } = await rest(other.url, other.token, "GET", "/iam/v2beta1/groups");
      assert.deepEqual([status, body.totalCount], [200, "4"]);
    });
  }
});
