// The bundle of the server: made of the sources, used while they are what they were, and in all its parts.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
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
import { after, before, describe, it } from "node:test";
import { createClient } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { GroupsService } from "../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { Health } from "../gen/health/v1/health_pb.ts";
import { signInUrl } from "./harness/browser.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "./harness/postgres.ts";
import { rest } from "./harness/rest.ts";

const packages = ".package-lock.json";
const askCurrent =
  'import { currentBundle } from "./src/bundle/place.js"; process.stdout.write(currentBundle() ?? "none");';

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

  make(): void {
    this.node("src/bundle/make.js");
  }

  current(): string {
    return this.node("--input-type=module", "--eval", askCurrent);
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
function withChange(file: string, change: () => void, run: () => void): void {
  const [content, { atime, mtime }] = [readFileSync(file), statSync(file)];
  try {
    change();
    run();
  } finally {
    writeFileSync(file, content);
    utimesSync(file, atime, mtime);
  }
}

/** A source that would end the server at once, and that looks as it did. */
function breakSource(file: string): void {
  const { size, atime, mtime } = statSync(file);
  writeFileSync(file, 'throw "source"'.padEnd(size));
  utimesSync(file, atime, mtime);
}

describe("the bundle of the server", () => {
  const clone = new Clone();
  const servers: ChildProcess[] = [];

  before(() => {
    assert.equal(clone.current(), "none");
    clone.make();
  });

  after(async () => {
    for (const server of servers.filter(({ exitCode }) => exitCode === null)) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    clone.remove();
    await stopPostgres();
  });

  /** Starts a development server. */
  async function serve(data: string, ...options: string[]) {
    const port = await freePort();
    const args = ["serve", "--dev", "--listen", `127.0.0.1:${port}`, "--data-dir", data, "--log-level", "warn"];
    const command = [clone.at("src/gatehouse.js"), ...args, ...options];
    const server = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "ignore"] });
    servers.push(server);
    for await (const text of server.stdout) if (String(text).includes("owner-token")) break;
    return { url: `http://127.0.0.1:${port}`, token: readFileSync(path.join(data, "owner-token"), "utf8") };
  }

  it("is what the sources say until one of them, a package or a file of its own changes", () => {
    const bundle = clone.current();
    assert.equal(path.basename(bundle), "main.cjs");
    const sources = ["src/server.ts", "gen/google/rpc/status_pb.ts", "src/bundle/build.js", `node_modules/${packages}`];
    for (const file of [...sources.map((name) => clone.at(name)), bundle]) {
      for (const change of [() => appendFileSync(file, "\n"), () => utimesSync(file, 1, 1), () => rmSync(file)]) {
        withChange(file, change, () => assert.equal(clone.current(), "none", file));
      }
      assert.equal(clone.current(), bundle);
    }
  });

  it("is made anew when a source has changed, and only then, and the one before stays for those who run it", () => {
    const first = clone.current();
    clone.make();
    assert.equal(clone.current(), first);
    appendFileSync(clone.at("src/uid.ts"), "// more\n");
    clone.make();
    assert.notEqual(clone.current(), first);
    assert.ok(statSync(first).size > 0);
  });

  it("is made anew when it is damaged", () => {
    truncateSync(clone.current(), 1);
    assert.equal(clone.current(), "none");
    clone.make();
    assert.notEqual(clone.current(), "none");
  });

  it("is not made of sources from the future", () => {
    const file = clone.at("src/uid.ts");
    const { atime, mtime } = statSync(file);
    utimesSync(file, atime, new Date("2100-01-01"));
    assert.throws(() => clone.make(), /has a time to come/);
    assert.equal(clone.current(), "none");
    utimesSync(file, atime, mtime);
  });

  describe("wherever the clone is moved, and with no source read", () => {
    let url = "";
    let token = "";

    before(async () => {
      clone.move();
      for (const name of Object.keys(clone.record().inputs)) if (name.endsWith(".ts")) breakSource(clone.at(name));
      assert.throws(() => clone.node("src/gatehouse.js", "--version"), /source/);
      ({ url, token } = await serve(clone.at("data")));
    });

    it("serves every version, and what a request loads", async () => {
      for (const route of ["/iam/v2beta1/groups", "/iam/v2/groups", "/iam/v1/groups"]) {
        assert.equal((await rest(url, token, "GET", route)).status, 200, route);
      }
      assert.equal((await rest(url, "e30.e30.e30", "GET", `/sts/exchange?aud=${url}`)).status, 403);
      assert.equal((await fetch(signInUrl(url), { redirect: "manual" })).status, 303);
      assert.match(await (await fetch(`${url}/metrics`)).text(), /^process_cpu_seconds_total /m);
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
  });
});
