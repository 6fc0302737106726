// docs/design/walks.md: each walk is taken, and every file that it names has to do something on the way.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Writable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { newProgram } from "../../src/cli/program.ts";
import { record } from "../cli/advisories/samples.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";

const walks = new Map(
  readFileSync("docs/design/walks.md", "utf8")
    .split(/^## /m)
    .slice(1)
    .map((walk) => [walk.slice(0, walk.indexOf("\n")), filesOf(walk)]),
);

describe("walks.md", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await stopPostgres();
  });

  it("names files that exist", () => {
    const missing = [...walks.values()]
      .flat()
      .filter((file) => !existsSync(file) && !existsSync(path.join("src", file)));
    assert.deepEqual(missing, []);
    assert.ok(walks.size >= 6);
  });

  it("a GET of a group visits the files of its walk", async () => {
    await checkWalk("GET of a group over REST", async () => {
      // The start belongs to this walk: it puts the transports in order and composes the methods.
      await using own = await startTestServer();
      const { status } = await rest(own.url, own.ownerToken, "GET", `/iam/v2beta1/groups/${own.groupUid}`);
      assert.equal(status, 200);
    });
  });

  it("a create visits the files of its walk", async () => {
    await checkWalk("A create", async () => {
      const path = `/iam/v2beta1/groups/${server.groupUid}`;
      const { status } = await rest(server.url, server.ownerToken, "POST", path, { name: "walk" });
      assert.equal(status, 200);
    });
  });

  it("a create that a worker forwards visits the files of its walk", async () => {
    await checkWalk("A create that a worker forwards", async () => {
      await using own = await startTestServer({ forwardsWrites: true });
      const { status } = await rest(own.url, own.ownerToken, "POST", `/iam/v2beta1/groups/${own.groupUid}`, {
        name: "walk",
      });
      assert.equal(status, 200);
    });
  });

  it("a create and a read on PostgreSQL visit the files of their walk", async () => {
    await using own = await startTestServer({ database: "postgres" });
    const call = async (method: string, uid: string, body?: object) => {
      const response = await rest(own.url, own.ownerToken, method, `/iam/v2beta1/groups/${uid}`, body);
      assert.equal(response.status, 200);
      return response.body;
    };
    await checkWalk("A create and a read on PostgreSQL", async () => {
      const { uid } = await call("POST", own.groupUid, { name: "walk" });
      for (let i = 0; i < 3; i++) await call("GET", uid);
    });
  });

  it("a read after a write visits the files that invalidate cached rows", async () => {
    const path = `/iam/v2beta1/groups/${server.groupUid}`;
    const call = async (method: string, body?: object) => {
      const reply = await rest(server.url, server.ownerToken, method, path, body);
      assert.equal(reply.status, 200);
      const list = await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/groups");
      assert.equal(list.status, 200);
    };
    for (let i = 0; i < 3; i++) await call("GET");
    await checkWalk("Where cached rows are invalidated", async () => {
      await call("PATCH", { description: "another" });
      await call("GET");
    });
  });

  it("an import of OSV and a query of a scanner visit the files of their walk", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-walk-"));
    try {
      const file = path.join(folder, "record.json");
      writeFileSync(file, JSON.stringify(record(1)));
      await checkWalk("From an OSV file to a scanner's query", async () => {
        const args = ["advisories", "import", "--url", server.url, "--group", server.groupUid, file];
        assert.match(await runInProcess(args, { GATEHOUSE_TOKEN: server.ownerToken, HOME: folder }), /1 created/);
        const query = { package: { ecosystem: "Go", name: "example.test/m1" }, version: "1.0.0" };
        const { body } = await rest(server.url, server.ownerToken, "POST", "/gatehouse/osv/v1/query", query);
        assert.equal(body.vulns[0].id, record(1).id);
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("an exchange of a workload's token visits the files of its walk", async () => {
    const key = keyPair("ES256");
    await using issuer = await startIssuer(key);
    const identity = { name: "ci", claimMatch: { issuer: issuer.url, subject: "ci" } };
    const created = await rest(
      server.url,
      server.ownerToken,
      "POST",
      `/iam/v2beta1/identities/${server.groupUid}`,
      identity,
    );
    await checkWalk("A workload exchanges its token", async () => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer.url, sub: "ci", aud: server.config.baseUrl, iat: now, exp: now + 60 };
      const query = new URLSearchParams({ aud: server.config.baseUrl, identity: created.body.uid });
      const { status } = await rest(server.url, await signOutside(key, claims), "POST", `/sts/exchange?${query}`);
      assert.equal(status, 200);
    });
  });
});

/** Takes a walk, and fails for the files of src that it names and that did nothing. */
async function checkWalk(heading: string, walk: () => Promise<void>): Promise<void> {
  const named = walks.get(heading)?.filter((file) => existsSync(path.join("src", file))) ?? [];
  assert.ok(named.length > 0, heading);
  const visited = await visitedDuring(walk);
  assert.deepEqual(
    named.filter((file) => !visited.has(file)),
    [],
  );
}

/** The files of src with a function that ran meanwhile. */
async function visitedDuring(walk: () => Promise<void>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true });
    await walk();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const ran = result.filter(({ functions }) =>
      // The function at the start of a file is the file itself, which also runs when it is only loaded.
      functions.some(({ ranges: [range] }) => range!.startOffset > 0 && range!.count > 0),
    );
    return new Set(ran.flatMap(({ url }) => (url.includes("/src/") ? url.slice(url.lastIndexOf("/src/") + 5) : [])));
  } finally {
    session.disconnect();
  }
}

/** Runs a command in this process, and answers what it printed. */
async function runInProcess(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  let printed = "";
  const out = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      printed += String(chunk);
      done();
    },
  }) as NodeJS.WriteStream;
  const shell = { environment, stdin: process.stdin, stdout: out, stderr: out, interactive: false };
  const program = await newProgram(args, shell, () => {});
  await program.parseAsync([...args], { from: "user" });
  return printed;
}

function filesOf(walk: string): string[] {
  return [...walk.matchAll(/`([\w-]+(?:\/[\w.-]+)+\.\w+)`/g)].map(([, file]) => file!);
}
