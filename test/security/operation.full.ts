// O and C: how the program starts, and what it leaves behind.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import pino from "pino";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { newChild, newRoot } from "../../src/model/uid.ts";
import { type Server, startServer } from "../../src/server/server.ts";
import { createGroup, createOrganization } from "../../src/services/iam/bootstrap.ts";
import { dataDirectory, run, start } from "../cli/process.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";

/** Starts the program, and answers what it said once it listens. */
async function serveOnce(args: readonly string[]): Promise<string> {
  const server = start(["serve", "--listen", `127.0.0.1:${await freePort()}`, "--log-level", "silent", ...args]);
  await server.said(/secrets +.+\n/);
  server.child.kill("SIGTERM");
  const { code, stdout } = await server.finished;
  assert.equal(code, 0);
  return stdout;
}

describe("the start", () => {
  it("O2: development mode, which stores the owner's token in a file, listens on loopback only", async () => {
    using data = dataDirectory();
    const { code, stderr } = await run(["serve", "--dev", "--data-dir", data.path, "--listen", "0.0.0.0:8080"]);
    assert.equal(code, 2);
    assert.match(stderr, /listen: development mode serves loopback addresses only/);
    assert.equal(existsSync(path.join(data.path, "gatehouse.db")), false);
  });

  it("O3: states enforcement, listener, storage and issuer", async () => {
    using data = dataDirectory();
    const said = await serveOnce(["--base-url", "https://iam.test", "--data-dir", data.path]);
    assert.match(said, /listens on http:\/\/127\.0\.0\.1:\d+/);
    assert.match(said, /production; authorization is enforced/);
    assert.match(said, /storage +sqlite .*gatehouse\.db/);
    assert.match(said, /issuer +https:\/\/iam\.test\n/);
    assert.match(said, /secrets +unencrypted, .*: set --secrets-key or GATEHOUSE_SECRETS_KEY\n/);
  });

  it("O6: rejects another issuer than that of the data, unless a setting accepts it", async () => {
    using data = dataDirectory();
    const directory = ["--data-dir", data.path];
    await serveOnce(["--base-url", "https://old.test", ...directory]);
    const { code, stderr } = await run(["serve", "--base-url", "https://new.test", ...directory]);
    assert.equal(code, 2);
    assert.match(stderr, /base-url: the data was made under https:\/\/old\.test/);
    const said = await serveOnce(["--base-url", "https://new.test", "--accept-issuer-change", ...directory]);
    assert.match(said, /issuer +https:\/\/new\.test/);
  });

  it("T4: production without an issuer does not start", async () => {
    using data = dataDirectory();
    const { code, stderr } = await run(["serve", "--data-dir", data.path]);
    assert.deepEqual([code, /base-url: is required in production/.test(stderr)], [2, true]);
  });

  it("C5: production has neither a default owner nor a stored token", async () => {
    using data = dataDirectory();
    await serveOnce(["--base-url", "https://iam.test", "--data-dir", data.path]);
    assert.equal(existsSync(path.join(data.path, "owner-token")), false);
    const owner = ["--organization", "acme", "--issuer", "https://idp.test", "--subject", "alice"];
    const { code } = await run(["bootstrap", "--data-dir", data.path, ...owner]);
    assert.equal(code, 0, "the first organization was there before anybody made it");
  });
});

describe("the data", () => {
  it("O4: after a restore elsewhere, lists are equal, and tokens and page tokens stay valid", async () => {
    using original = dataDirectory();
    using copy = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const open = (dataDir: string) =>
      startServer(toConfig(readSettings({ dev: true, dataDir, listen }, {})), pino({ level: "silent" }));
    const list = (server: Server, token: string, query = "") =>
      rest(server.url, token, "GET", `/iam/v2beta1/groups?order_by=name&page_size=2${query}`);

    const first = await open(original.path);
    const token = await sampleOwner(first);
    const { body: before } = await list(first, token);
    await first[Symbol.asyncDispose]();
    for (const file of ["gatehouse.db", "secrets-key"])
      cpSync(path.join(original.path, file), path.join(copy.path, file));

    await using second = await open(copy.path);
    assert.deepEqual((await list(second, token)).body.groups, before.groups);
    const { body: next } = await list(second, token, `&page_token=${before.nextPageToken}`);
    assert.deepEqual(
      next.groups.map(({ name }: JsonObject) => name),
      ["c", "organization"],
    );
  });

  it("C3: a root's uid has 160 random bits; further segments of one moment begin alike, and none is made twice", (t) => {
    t.mock.timers.enable({ apis: ["Date"], now: 16 * 0xabcde });
    const roots = Array.from({ length: 1000 }, newRoot);
    const children = roots.map((root) => newChild(root).slice(root.length + 1));
    t.mock.timers.tick(16);
    const later = newChild(roots[0]!).slice(41);
    assert.deepEqual([new Set(roots).size, new Set(children).size], [1000, 1000]);
    assert.ok(
      roots.every((uid) => /^[0-9a-f]{40}$/.test(uid)) && children.every((uid) => /^abcde[0-9a-f]{11}$/.test(uid)),
    );
    assert.match(later, /^abcdf[0-9a-f]{11}$/);
  });

  it("C1: the MAC of a page token is compared in constant time", () => {
    assert.match(readFileSync("src/aip/page-token.ts", "utf8"), /!timingSafeEqual\(.*mac\(key, body\)\)/);
  });
});

/** Makes an organization of four groups, and answers a token of its owner. */
async function sampleOwner({ database, tokens, url }: Server): Promise<string> {
  const context = { actor: "", method: "test", requestId: "", time: Date.now() };
  const subject = await database.write(context, async (tx) => {
    const owner = { issuer: "https://issuer.example.org", subject: "owner" };
    const { groupUid, ownerUid } = await createOrganization(tx, "organization", owner);
    for (const name of ["a", "b", "c"]) await createGroup(tx, groupUid, name, "");
    return ownerUid;
  });
  const act = { iss: "https://issuer.example.org", sub: "owner", aud: url };
  return (await tokens.issue({ subject, audience: [url], act, grants: {}, narrowing: {} })).token;
}
