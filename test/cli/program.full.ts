import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { basic, getToken } from "../registry/sign-in.ts";
import { damageTable } from "../storage/damage.ts";
import {
  bindingRow,
  groupRow,
  groups,
  identities,
  identityRow,
  roleBindings,
  roleRow,
  roles,
  write,
} from "../storage/fixtures.ts";
import { dataDirectory, run, start } from "./process.ts";

/** Returns a development server as a process. */
async function development(dataDir: string) {
  const url = `http://127.0.0.1:${await freePort()}`;
  const environment = {
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_LISTEN: url.slice("http://".length),
    GATEHOUSE_LOG_LEVEL: "warn",
  };
  const running = start(["serve", "--dev"], environment);
  await running.said(/owner-token/);
  return { url, ...running, token: () => readFileSync(path.join(dataDir, "owner-token"), "utf8") };
}

describe("the program", () => {
  it("serves a sample organization in development, and keeps it", async () => {
    using data = dataDirectory();
    const names: unknown[] = [];
    for (let round = 0; round < 2; round++) {
      const server = await development(data.path);
      const { status, body } = await rest(server.url, server.token(), "GET", "/iam/v2beta1/groups?order_by=name");
      assert.equal(status, 200);
      names.push(body.groups.map((group: { name: string }) => group.name));
      server.child.kill("SIGTERM");
      assert.equal((await server.finished).code, 0);
    }
    assert.deepEqual(names, Array(2).fill(["engineering", "example.org", "platform", "security"]));
  });

  it("completes requests in flight when it is told to stop", async () => {
    using data = dataDirectory();
    const server = await development(data.path);
    const creates = Array.from({ length: 20 }, (_, i) =>
      rest(server.url, server.token(), "POST", "/iam/v2beta1/groups", { name: `org ${i}` }),
    );
    await Promise.race(creates);
    server.child.kill("SIGTERM");
    const statuses = (await Promise.allSettled(creates)).map((outcome) =>
      outcome.status === "fulfilled" ? outcome.value.status : "refused",
    );
    assert.ok(
      statuses.every((status) => status === 200 || status === "refused"),
      String(statuses),
    );
    assert.equal((await server.finished).code, 0);
    const check = await run(["db", "check", "--data-dir", data.path]);
    assert.deepEqual([check.code, check.stdout.includes("agree")], [0, true]);
  });

  it("bootstraps production once", async () => {
    using data = dataDirectory();
    const args = [
      "bootstrap",
      "--data-dir",
      data.path,
      "--organization",
      "acme.test",
      "--issuer",
      "https://idp.acme.test",
      "--subject",
      "alice",
    ];
    const first = await run(args);
    assert.match(first.stdout, /^organization [0-9a-f]{40}\nowner +[0-9a-f]{40}\/[0-9a-f]{16}\n$/);
    const second = await run(args);
    assert.deepEqual([first.code, second.code], [0, 1]);
    assert.match(
      second.stderr,
      /there is an organization already at .+gatehouse\.db; bootstrap is for an empty database/,
    );
  });

  it("serves what it can of a damaged file, and says which file is damaged", async () => {
    using data = dataDirectory();
    const file = path.join(data.path, "gatehouse.db");
    const sound = await development(data.path);
    sound.child.kill("SIGTERM");
    await sound.finished;
    damageTable(file, "repo_entries");
    const server = await development(data.path);
    const get = async (resources: string) => (await rest(server.url, server.token(), "GET", resources)).status;
    assert.equal(await get("/registry/v2beta1/repos?order_by=name"), 500);
    assert.equal(await get("/iam/v2beta1/groups"), 200);
    server.child.kill("SIGTERM");
    const { code, stderr } = await server.finished;
    assert.equal(code, 0);
    assert.match(stderr, /"code":"INTERNAL".*the database is damaged/);
    const sentence = `gatehouse: the database file ${file} is damaged: database disk image is malformed. Restore a backup.\n`;
    const check = await run(["db", "check", "--data-dir", data.path]);
    assert.deepEqual([check.code, check.stderr], [1, sentence]);
  });

  it("db check warns of bindings beyond an identity's subgroup, a hundred at most, and ends with 0", async () => {
    using data = dataDirectory();
    const file = path.join(data.path, "gatehouse.db");
    const [root, role] = [groupRow(null, "root"), roleRow(null, "role")];
    const home = groupRow(root.uid, "home");
    const confined = identityRow(home.uid, "confined");
    const sibling = Array.from({ length: 100 }, (_, i) => groupRow(root.uid, `sibling ${i}`));
    const database = await openDatabase(file, defaultDatabaseLimits);
    const bind = (rows: readonly { readonly uid: string }[]) =>
      write(database, async (tx) => {
        for (const { uid } of rows) await insertRow(tx, roleBindings, bindingRow(uid, confined, role));
      });
    await write(database, async (tx) => {
      for (const row of [root, home, ...sibling]) await insertRow(tx, groups, row);
      await insertRow(tx, roles, role);
      await insertRow(tx, identities, confined);
    });
    await bind([root, home, sibling[0]!]);
    const warnings = async () => {
      const { code, stdout } = await run(["db", "check", "--data-dir", data.path]);
      assert.deepEqual([code, stdout.includes("agree")], [0, true], stdout);
      return stdout.split("\n").filter((line) => line.startsWith("warning: "));
    };
    const said = (line: string) => line.replace(/^.*: identity/, "identity");
    const start = `identity ${confined.uid} is confined to ${home.uid}, so role ${role.uid} at`;
    assert.deepEqual(
      new Set((await warnings()).map(said)),
      new Set([`${start} ${root.uid} counts in ${home.uid} only`, `${start} ${sibling[0]!.uid} counts nowhere`]),
    );
    await bind(sibling.slice(1));
    await database.close();
    const many = await warnings();
    assert.deepEqual([many.length, many.at(-1)], [101, "warning: … and more"]);
  });

  it("names the file that is not a database", async () => {
    using data = dataDirectory();
    const file = path.join(data.path, "gatehouse.db");
    writeFileSync(file, "x".repeat(8192));
    for (const args of [
      ["db", "check"],
      ["serve", "--dev"],
    ]) {
      const { code, stderr } = await run([...args, "--data-dir", data.path]);
      assert.deepEqual([code, stderr.includes(`data-dir: ${file} cannot be used as a database`)], [2, true], stderr);
    }
  });

  it("rotates keys while a server runs: old tokens go on, new ones are signed with the new key", async () => {
    using data = dataDirectory();
    const server = await development(data.path);
    const before = server.token();
    assert.match(
      (await run(["keys", "rotate", "--data-dir", data.path])).stdout,
      /new keys sign from now on; \S+ signs tokens for others/,
    );
    server.child.kill("SIGTERM");
    await server.finished;
    const restarted = await development(data.path);
    assert.notEqual(decodeProtectedHeader(before).kid, decodeProtectedHeader(restarted.token()).kid);
    const { keys } = (await (await fetch(`${restarted.url}/.well-known/jwks.json`)).json()) as { keys: unknown[] };
    assert.equal(keys.length, 4);
    // The audience of a token is the address it was made for, and the port is another one now.
    assert.equal(decodeJwt(before).sub, decodeJwt(restarted.token()).sub);
    const listed = await run(["keys", "list", "--data-dir", data.path]);
    assert.match(listed.stdout, /verifies until/);
    assert.match(listed.stdout, /signs tokens for the API/);
    assert.match(listed.stdout, /signs tokens for others/);
    restarted.child.kill("SIGTERM");
    await restarted.finished;
  });

  const wrong: [what: string, args: string[], code: number, text: RegExp][] = [
    ["O1: an unknown flag", ["serve", "--lissten", "x"], 2, /unknown option '--lissten'[\s\S]*--listen/],
    ["an unknown command", ["serv"], 2, /unknown command 'serv'[\s\S]*serve/],
    ["production without a base URL", ["serve"], 2, /base-url: is required in production/],
    [
      "a setting that cannot be used",
      ["serve", "--dev", "--listen", "nowhere"],
      2,
      /listen: "nowhere" is not host:port/,
    ],
    [
      "an organization's name that misses the pattern",
      ["bootstrap", "--organization", "ACME", "--issuer", "https://i.test", "--subject", "s"],
      2,
      /organization: name must match/,
    ],
    [
      "an issuer that is not a URL",
      ["bootstrap", "--organization", "acme", "--issuer", "idp", "--subject", "s"],
      2,
      /issuer: /,
    ],
    ...["192.0.2.1", "gatehouse.invalid"].map((host): (typeof wrong)[number] => [
      `the address ${host}, which is not one of this machine`,
      ["serve", "--base-url", "http://127.0.0.1:8080", "--listen", `${host}:8080`],
      2,
      new RegExp(`listen: ${host} is not an address of this machine\\.`),
    ]),
    ["bootstrap without its options", ["bootstrap"], 2, /required option '--organization <name>' not specified/],
  ];
  for (const [what, args, code, text] of wrong) {
    it(`ends with ${code} on ${what}`, async () => {
      using data = dataDirectory();
      const { code: ended, stderr } = await run(args, { GATEHOUSE_DATA_DIR: data.path });
      assert.match(stderr, text);
      assert.equal(ended, code);
    });
  }
});

describe("a development server as a process", () => {
  const data = dataDirectory();
  const nested = path.join(data.path, "nested");
  let server: Awaited<ReturnType<typeof development>>;
  before(async () => {
    server = await development(nested);
  });
  after(async () => {
    server.child.kill("SIGINT");
    const { code } = await server.finished;
    data[Symbol.dispose]();
    assert.equal(code, 0);
  });

  it("C2: the data directory, the database and the owner's token are for their owner alone", () => {
    const modes = ["", "gatehouse.db", "owner-token", "owner-registry-token"].map((name) =>
      (statSync(path.join(nested, name)).mode & 0o777).toString(8),
    );
    assert.deepEqual(modes, ["700", "600", "600", "600"]);
  });

  it("leaves two tokens of the owner: one that opens the API, and one that signs in to the registry", async () => {
    const [ofApi, ofRegistry] = ["owner-token", "owner-registry-token"].map((name) =>
      readFileSync(path.join(nested, name), "utf8"),
    );
    for (const [token, api, registry] of [
      [ofApi, 200, 401],
      [ofRegistry, 401, 200],
    ] as const) {
      assert.equal((await rest(server.url, token, "GET", "/auth/v1/ok")).status, api);
      assert.equal((await getToken(server.url, basic("_token", token!), [])).status, registry);
    }
  });

  it("the development server prints a curl command that works unchanged", async () => {
    const [line] = await server.said(/curl -H "Authorization: Bearer \$\(cat (\S+)\)" "([^"]+)"/);
    const [, file, address] = line.match(/cat (\S+)\)" "([^"]+)"/) ?? [];
    const reply = await fetch(address ?? "", {
      headers: { authorization: `Bearer ${readFileSync(file ?? "", "utf8")}` },
    });
    assert.equal(reply.status, 200);
  });

  it("says to another that its port is taken", async () => {
    using other = dataDirectory();
    const { code, stderr } = await run([
      "serve",
      "--dev",
      "--data-dir",
      other.path,
      "--listen",
      server.url.slice("http://".length),
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /listen: 127\.0\.0\.1:\d+ is taken by another program; --listen names another/);
  });
});
