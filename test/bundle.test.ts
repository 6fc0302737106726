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
import { freePort } from "./harness/postgres.ts";
import { rest } from "./harness/rest.ts";

const askCurrent =
  'import { currentBundle } from "./src/bundle/place.js"; process.stdout.write(currentBundle() ?? "none");';

/** A clone: the sources copied, the packages linked. */
class Clone {
  root = mkdtempSync(path.join(tmpdir(), "gatehouse-clone-"));

  constructor() {
    for (const name of ["src", "gen", "package.json"]) cpSync(name, this.at(name), { recursive: true });
    mkdirSync(this.at("node_modules"));
    for (const name of readdirSync("node_modules").filter((entry) => entry !== ".cache" && entry !== lockName)) {
      symlinkSync(path.resolve("node_modules", name), this.at("node_modules", name));
    }
    cpSync(path.join("node_modules", lockName), this.at("node_modules", lockName), { preserveTimestamps: true });
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

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const lockName = ".package-lock.json";

/** Runs what changes a file, and gives the file its content and its time back. */
function withChange(file: string, change: () => void, run: () => void): void {
  const [content, { atime, mtime }] = [readFileSync(file), statSync(file)];
  change();
  run();
  writeFileSync(file, content);
  utimesSync(file, atime, mtime);
}

describe("the bundle of the server", () => {
  using cleanup = new DisposableStack();
  const clone = cleanup.use(new Clone());
  const kept = cleanup.move();
  const owner = () => readFileSync(clone.at("data", "owner-token"), "utf8");
  let server: ChildProcess | undefined;
  let url = "";

  before(async () => {
    assert.equal(clone.current(), "none");
    clone.make();
  });

  after(async () => {
    if (server?.exitCode === null) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    kept.dispose();
  });

  it("is what the sources say until one of them or a package changes", () => {
    const bundle = clone.current();
    assert.equal(path.basename(bundle), "main.mjs");
    for (const name of ["src/server.ts", "gen/google/rpc/status_pb.ts", `node_modules/${lockName}`]) {
      const file = clone.at(name);
      withChange(
        file,
        () => appendFileSync(file, "\n"),
        () => assert.equal(clone.current(), "none", name),
      );
      withChange(
        file,
        () => utimesSync(file, 1, 1),
        () => assert.equal(clone.current(), "none", name),
      );
      withChange(
        file,
        () => rmSync(file),
        () => assert.equal(clone.current(), "none", name),
      );
      assert.equal(clone.current(), bundle);
    }
  });

  it("is made anew when a source has changed, and only then", () => {
    const madeAt = () => statSync(clone.current()).mtimeMs;
    const first = madeAt();
    clone.make();
    assert.equal(madeAt(), first);
    appendFileSync(clone.at("src/uid.ts"), "// more\n");
    clone.make();
    assert.notEqual(madeAt(), first);
    const made = readdirSync(clone.at("node_modules/.cache/gatehouse"));
    assert.deepEqual(
      made.filter((name) => name.startsWith("bundle")),
      ["bundle"],
    );
  });

  it("is what serves, wherever the clone is moved", async () => {
    const moved = `${clone.root}-moved`;
    renameSync(clone.root, moved);
    clone.root = moved;
    // A source that would stop the server at once, and that looks as it did.
    const file = clone.at("src/main.ts");
    const { size, atime, mtime } = statSync(file);
    writeFileSync(file, 'throw new Error("from the sources");'.padEnd(size));
    utimesSync(file, atime, mtime);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const args = [
      "serve",
      "--dev",
      "--listen",
      `127.0.0.1:${port}`,
      "--data-dir",
      clone.at("data"),
      "--log-level",
      "warn",
    ];
    server = spawn(process.execPath, [clone.at("src/gatehouse.js"), ...args], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const text of server.stdout!) if (String(text).includes("owner-token")) break;
    assert.throws(() => clone.node("src/gatehouse.js", "--version"), /from the sources/);
  });

  it("has what is loaded by a request", async () => {
    for (const route of ["/iam/v2beta1/groups", "/iam/v2/groups", "/iam/v1/groups"]) {
      assert.equal((await rest(url, owner(), "GET", route)).status, 200, route);
    }
    assert.equal((await rest(url, "e30.e30.e30", "GET", `/sts/exchange?aud=${url}`)).status, 403);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, /^process_cpu_seconds_total /m);
  });

  it("speaks every protocol", async () => {
    const headers = { authorization: `Bearer ${owner()}` };
    for (const sendCompression of [null, compressionGzip]) {
      const options = { baseUrl: url, compressMinBytes: 0, ...(sendCompression ? { sendCompression } : {}) };
      for (const transport of [
        createGrpcTransport(options),
        createConnectTransport({ ...options, httpVersion: "1.1" }),
      ]) {
        const { totalCount } = await createClient(GroupsService, transport).listGroups({}, { headers });
        assert.equal(totalCount, 4n);
        await assert.rejects(createClient(GroupsService, transport).listGroups({}), /unauthenticated/);
        const { status } = await createClient(Health, transport).check({});
        assert.equal(status, 1);
      }
    }
  });
});
