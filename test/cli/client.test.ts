// Tests of options that all client commands share: server, token, and the output of results and failures.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { freePort } from "../harness/postgres.ts";
import { type Caller, cachePath, homeEnvironment, startCaller, unsigned, writeCache } from "./caller.ts";
import { environmentOf, launcher } from "./process.ts";

let caller: Caller;
const list = ["iam", "groups", "list"];
describe("client commands", () => {
  before(async () => {
    caller = await startCaller();
    await caller.run("iam", "groups", "create", "tools", "--parent", "example.org", "-d", "=1+1, \u001b[31mred");
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  describe("the names of this machine", () => {
    it("find the token of a development server, whichever of them the address and the token have", async () => {
      const data = path.join(caller.home, "development");
      mkdirSync(data, { recursive: true });
      writeFileSync(path.join(data, "owner-token"), caller.server.ownerToken);
      const { port } = new URL(caller.server.url);
      const environment = { GATEHOUSE_TOKEN: "", GATEHOUSE_DATA_DIR: data };
      const list = await caller.runWith(environment, "iam", "groups", "list", "--url", `http://localhost:${port}/`);
      assert.deepEqual([list.code, list.stderr], [0, ""]);
      assert.match(list.stdout, /example\.org/);
      const other = await caller.runWith(environment, "iam", "groups", "list", "--url", "http://localhost:1");
      assert.match(other.stderr, /not signed in to http:\/\/localhost:1\n/);
    });
  });

  describe("output", () => {
    const texts: Record<string, RegExp> = {
      table: /^NAME +UID +DESCRIPTION\n(?:.*\n)*tools +[0-9a-f/]+ {3}=1\+1, /,
      wide: /^NAME +UID +DESCRIPTION +CREATED +UPDATED\n/,
      csv: /^name,uid,description,created,updated\n(?:.*\n)*tools,[0-9a-f/]+,"'=1\+1, /,
      id: /^[0-9a-f]{40}\n[0-9a-f]{40}\/[0-9a-f]{16}\n$/,
      tree: /^example\.org \([0-9a-f]{40}\)\n└─ tools \([0-9a-f/]{57}\)\n$/,
      none: /^$/,
    };
    for (const [format, text] of Object.entries(texts)) {
      it(`-o ${format}`, async () => {
        const { code, stdout, stderr } = await caller.run(...list, "-o", format);
        assert.deepEqual([code, stderr], [0, ""]);
        assert.match(stdout, text);
      });
    }

    it("-o json and -o yaml have the same content", async () => {
      const json = await caller.json(...list);
      assert.equal(json.items.length, 2);
      assert.deepEqual(parse((await caller.run(...list, "-o", "yaml")).stdout), json);
    });

    it("control characters in texts do not reach the terminal", async () => {
      for (const format of ["table", "tree", "wide"]) {
        assert.ok(!(await caller.run(...list, "-o", format)).stdout.includes("\u001b"));
      }
    });

    it("an empty list prints nothing but a note", async () => {
      const { code, stdout, stderr } = await caller.run("iam", "invites", "list");
      assert.deepEqual([code, stdout, stderr], [0, "", "No invites.\n"]);
    });

    it("output.format is the format of commands without -o", async () => {
      const other = await startHome({ output: { format: "id" } });
      assert.match((await caller.runWith(other, ...list)).stdout, /^[0-9a-f]{40}\n/);
    });

    it("a command that does not have the format of the settings prints as it does without", async () => {
      for (const format of ["csv", "tree"]) {
        const other = await startHome({ output: { format } });
        const { code, stdout } = await caller.runWith(other, "auth", "can-i", "groups.list", "--group", "example.org");
        assert.match(stdout, /^yes: groups\.list at [0-9a-f]{40}\nROLE +GROUP +BINDING\n/);
        assert.equal(code, 0);
      }
    });

    it("says that a result cannot be written, as on a full disk", { skip: process.platform !== "linux" }, async () => {
      const pipeline = `"${process.execPath}" "${launcher}" iam groups list > /dev/full`;
      const child = spawn("bash", ["-c", pipeline], { env: environmentOf(caller.environment) });
      const closed = new Promise((resolve) => child.once("close", resolve));
      assert.match(await textOf(child.stderr), /^gatehouse: the result cannot be written: .*ENOSPC.*\n$/);
      assert.equal(await closed, 1);
    });

    it("ends quietly when its reader goes away, as with | head", async () => {
      const pipeline = `"${process.execPath}" "${launcher}" iam roles list -o json | head -n 1`;
      const child = spawn("bash", ["-o", "pipefail", "-c", pipeline], { env: environmentOf(caller.environment) });
      const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
      assert.deepEqual([stdout, stderr], ["{\n", ""]);
    });
  });

  describe("the token", () => {
    const noToken = { GATEHOUSE_TOKEN: "" };

    it("comes from the cache of the platform's SDK", async () => {
      const home = await startHome({});
      writeCache(home.HOME!, caller.server.url, `${caller.server.ownerToken}\n`);
      assert.equal((await caller.runWith({ ...noToken, ...home }, ...list)).code, 0);
    });

    it("an invalid token is never shown", async () => {
      const home = await startHome({});
      writeCache(home.HOME!, caller.server.url, "canary canary");
      const cases = [
        [{ ...home, ...noToken }, /oidc-token does not contain a token: /, 1],
        [{ GATEHOUSE_TOKEN: "canary\ncanary" }, /GATEHOUSE_TOKEN does not contain a token: /, 2],
      ] as const;
      for (const [environment, said, exitCode] of cases) {
        const { code, stderr } = await caller.runWith(environment, ...list);
        assert.match(stderr, said);
        assert.doesNotMatch(stderr, /canary/);
        assert.equal(code, exitCode);
      }
      assert.equal((await caller.runWith({ ...home, ...noToken }, "auth", "logout")).code, 0);
    });

    it("comes from the data directory of a development server, if it is for that server", async () => {
      const home = await startHome({});
      const data = path.join(home.HOME!, "data");
      mkdirSync(data);
      writeFileSync(path.join(data, "owner-token"), caller.server.ownerToken);
      assert.equal((await caller.runWith({ ...noToken, ...home }, ...list)).code, 0);
      const forRegistry = ["auth", "token", "--audience", caller.server.config.registry.service];
      assert.equal((await caller.runWith({ ...noToken, ...home }, ...forRegistry)).code, 1);
      writeFileSync(path.join(data, "owner-registry-token"), caller.server.registryToken);
      assert.equal((await caller.runWith({ ...noToken, ...home }, ...forRegistry)).stdout, caller.server.registryToken);
      // The registries of several servers may go by one name.
      const another = await caller.runWith(
        { ...noToken, ...home, GATEHOUSE_URL: "http://127.0.0.1:1" },
        ...forRegistry,
      );
      assert.deepEqual([another.code, another.stdout], [1, ""]);
      const elsewhere = await caller.runWith({ ...noToken, ...home }, ...list, "--url", "http://127.0.0.1:1");
      assert.deepEqual([elsewhere.code, elsewhere.stdout], [1, ""]);
      assert.match(elsewhere.stderr, /not signed in to http:\/\/127\.0\.0\.1:1\n.*gatehouse auth login/);
      assert.match(
        elsewhere.stderr,
        new RegExp(`data/owner-token\\n *is for ${caller.server.config.baseUrl}: that is the address`),
      );
    });

    it("an expired token is not sent, and the error has a hint", async () => {
      const home = await startHome({});
      const expired = unsigned({ aud: caller.server.url, exp: 1_700_000_000 });
      writeCache(home.HOME!, caller.server.url, expired);
      const { code, stderr } = await caller.runWith({ ...noToken, ...home }, ...list);
      assert.equal(code, 1);
      assert.ok(
        stderr.includes(`the token in ${cachePath(home.HOME!, caller.server.url)} expired at 2023-11-14T22:13:20.000Z`),
      );
      assert.match(stderr, /Sign in again with `gatehouse auth login`/);
      const given = await caller.runWith({ GATEHOUSE_TOKEN: expired }, ...list);
      assert.match(given.stderr, /the token in GATEHOUSE_TOKEN expired at/);
    });

    it("a token that the server rejects is an error with a hint, and is never shown", async () => {
      const bad = unsigned({ aud: caller.server.url, exp: 4_000_000_000 });
      const { code, stderr } = await caller.runWith({ GATEHOUSE_TOKEN: bad }, ...list);
      assert.equal(code, 1);
      assert.match(stderr, /^gatehouse: .+\n {2}Sign in with `gatehouse auth login`/);
      assert.ok(!stderr.includes(bad));
    });
  });

  describe("failures", () => {
    it("no server: says where it was looked for, and how another is named", async () => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const { code, stdout, stderr } = await caller.run(...list, "--url", url);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, new RegExp(`^gatehouse: no server answers at ${url} \\(ECONNREFUSED\\)\\n.*npm start`));
    });

    it("reports a server of another API", async () => {
      const server = createServer((_request, response) => response.end("hello"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const { code, stderr } = await caller.run(...list, "--url", url);
        assert.equal(code, 1);
        assert.match(stderr, /^gatehouse: .* answers, but (does not speak HTTP\/2|not as a server of this API)/);
      } finally {
        server.close();
      }
    });

    it("a denial names the capability and the command that explains it", async () => {
      const { uid } = await caller.json(
        "iam",
        "identities",
        "create",
        "nobody",
        "--parent",
        "example.org",
        "--service-principal",
        "INGESTER",
      );
      const token = await caller.server.tokenOf(uid);
      const { groupUid } = caller.server;
      const { code, stderr } = await caller.runWith({ GATEHOUSE_TOKEN: token }, "iam", "groups", "describe", groupUid);
      assert.equal(code, 1);
      assert.match(stderr, /required capabilities: groups\.list at/);
      assert.ok(stderr.includes(`gatehouse auth can-i groups.list --group ${groupUid}`));
    });

    type Wrong = [what: string, args: string[], text: RegExp];
    const wrong: Wrong[] = [
      ["an unknown format", [...list, "-o", "xml"], /Allowed choices are table/],
      ["an invalid address", [...list, "--url", "localhost"], /"localhost" is not an http or https address/],
      ...["http://ada:canary@127.0.0.1", "http://:canary@127.0.0.1", "ada:canary@127.0.0.1"].map(
        (address): Wrong => [
          `the address ${address}, and does not repeat its password`,
          [...list, "--url", address],
          /^(?!.*canary).*an address must have no user name and no password/,
        ],
      ),
      ...["http://127.0.0.1?x=1", "http://127.0.0.1/#x", "http://127.0.0.1/a b"].map(
        (address): Wrong => [
          `the address ${address}`,
          [...list, "--url", address],
          /has a query, a fragment or a space, which an address must not have/,
        ],
      ),
      ["a missing argument", ["iam", "groups", "describe"], /missing required argument 'name\|uid'/],
      [
        "a missing flag",
        ["iam", "role-bindings", "create"],
        /required option '--identity <name\|address\|uid>' not specified/,
      ],
      ["no group to create in", ["iam", "groups", "create", "x"], /needs a group to be created in\n.*--parent/],
      [
        "a deletion that nobody can be asked about",
        ["iam", "groups", "delete", "tools"],
        /Delete group tools .*\n.*--yes/,
      ],
      ["an update of nothing", ["iam", "groups", "update", "tools"], /nothing to change/],
      ["a command that is misspelt", ["iam", "gruops", "list"], /unknown command 'gruops'[\s\S]*groups/],
      [
        "an invalid duration",
        ["iam", "invites", "create", "--parent", "tools", "--role", "viewer", "--ttl", "x"],
        /not a duration/,
      ],
    ];
    for (const [what, args, text] of wrong) {
      it(`wrong usage is 2: ${what}`, async () => {
        const { code, stdout, stderr } = await caller.run(...args);
        assert.match(stderr, text);
        assert.deepEqual([code, stdout], [2, ""]);
      });
    }

    it("a configuration that cannot be understood is wrong usage", async () => {
      const home = await startHome({ platform: { apy: "x" } });
      const { code, stderr } = await caller.runWith(home, ...list);
      assert.equal(code, 2);
      assert.match(stderr, /config\.yaml sets platform\.apy, which is not a setting/);
    });
  });

  it("the server's address comes from flag, variable, file and default, in this order", async () => {
    const home = await startHome({ platform: { api: caller.server.url } });
    assert.equal((await caller.runWith({ ...home, GATEHOUSE_URL: "" }, ...list)).code, 0);
    assert.match(
      (await caller.runWith({ ...home, GATEHOUSE_URL: "http://127.0.0.1:1" }, ...list)).stderr,
      /127\.0\.0\.1:1 /,
    );
    assert.equal(
      (await caller.runWith({ GATEHOUSE_URL: "http://127.0.0.1:1" }, ...list, "--url", caller.server.url)).code,
      0,
    );
  });

  let homes = 0;

  /** Variables of a new home with a configuration. */
  async function startHome(config: object): Promise<Record<string, string>> {
    const home = path.join(caller.home, `home-${homes++}`);
    const folder = path.join(home, "config", "gatehouse");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "config.yaml"), JSON.stringify(config));
    assert.deepEqual(parse(readFileSync(path.join(folder, "config.yaml"), "utf8")), config);
    return homeEnvironment(home);
  }

  async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
    let text = "";
    for await (const chunk of stream) text += chunk;
    return text;
  }
});
