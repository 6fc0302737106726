// Flags before the command, the pages of the help, and the commands that are about no one kind of resource.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { version } from "../../src/base/version.ts";
import { freePort } from "../harness/postgres.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;
describe("the command line", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  describe("flags before the command", () => {
    const taken: [args: string[], said: RegExp][] = [
      [["-o", "json", "iam", "groups", "list"], /^\{\n {2}"items"/],
      [["--output=json", "iam", "groups", "list"], /^\{\n {2}"items"/],
      [["iam", "-o", "json", "groups", "list"], /^\{\n {2}"items"/],
      [["iam", "groups", "-o", "json", "list"], /^\{\n {2}"items"/],
      [["-o", "json", "iam", "groups", "list", "-o", "id"], /^[0-9a-f]{40}\n/],
      [["-o", "json", "iam", "-o", "id", "groups", "list"], /^[0-9a-f]{40}\n/],
      [["--no-headers", "iam", "groups", "list"], /^example\.org /],
      [["--query", "items[].name", "iam", "groups", "list"], /^example\.org\n/],
    ];
    for (const [args, said] of taken) {
      it(`are accepted: ${args.join(" ")}`, async () => {
        const { code, stdout, stderr } = await caller.run(...args);
        assert.match(stdout, said, stderr);
        assert.equal(code, 0);
      });
    }

    it("flags before the command name the server, and a flag after the command wins", async () => {
      const elsewhere = "http://127.0.0.1:1";
      const environment = { GATEHOUSE_URL: "" };
      for (const [args, code] of [
        [["--url", caller.server.url, "iam", "groups", "list"], 0],
        [["--url", elsewhere, "iam", "groups", "list"], 1],
        [["--url", elsewhere, "iam", "groups", "list", "--url", caller.server.url], 0],
        [["--url", caller.server.url, "auth", "status"], 0],
        [["--url", caller.server.url, "advisories", "export", "--group", "example.org", "--format", "osv"], 0],
        [["--audience", "https://other.test", "auth", "status", "--quick"], 1],
      ] as const)
        assert.equal((await caller.runWith(environment, ...args)).code, code, args.join(" "));
    });

    it("flags that a command does not have are rejected", async () => {
      for (const [args, said] of [
        [["-o", "csv", "keys", "list"], /`gatehouse keys list` does not take -o, --output <format>/],
        [["-o", "csv", "advisories", "export", "--format", "osv"], /`gatehouse advisories export` does not take -o/],
        [
          ["-o", "tree", "iam", "groups", "describe", "x"],
          /`gatehouse iam groups describe` has no format "tree"\n {2}Formats are table, /,
        ],
        [["-o", "xml", "iam", "groups", "list"], /Allowed choices are table, /],
        [["--parent", "x", "iam", "groups", "list"], /unknown option '--parent'/],
      ] as const) {
        const { code, stderr } = await caller.run(...args);
        assert.match(stderr, said);
        assert.equal(code, 2);
      }
    });
  });

  describe("--query", () => {
    it("selects from the data of commands that print text without it, such as can-i, apply and import", async () => {
      const exported = path.join(caller.home, "example.org.ndjson");
      assert.equal((await caller.run("iam", "organizations", "export", "example.org", exported)).code, 0);
      const applied = path.join(caller.home, "applied.yaml");
      writeFileSync(applied, "kind: Group\nname: applied\n");
      for (const [args, query, selected] of [
        [["auth", "can-i", "groups.list", "--group", "example.org"], "granted", "true\n"],
        [["apply", "-f", applied, "--group", "example.org", "--dry-run"], "length(changes)", "1\n"],
        [["iam", "organizations", "import", exported, "--existing", "--dry-run"], "dryRun", "true\n"],
      ] as const) {
        const { stdout, stderr } = await caller.run(...args, "--query", query);
        assert.equal(stdout, selected, stderr);
      }
    });
  });

  describe("help", () => {
    it("takes the whole path of a command, from anywhere", async () => {
      const page = (await caller.run("iam", "groups", "create", "--help")).stdout;
      for (const args of [
        ["help", "iam", "groups", "create"],
        ["iam", "help", "groups", "create"],
        ["iam", "groups", "help", "create"],
      ])
        assert.deepEqual(await caller.run(...args), { code: 0, stdout: page, stderr: "" });
      assert.match((await caller.run("help", "iam")).stdout, /^Usage: gatehouse iam /);
      assert.match((await caller.run("help")).stdout, /^Usage: gatehouse \[/);
    });

    it("says which commands there are when one is not there", async () => {
      const { code, stderr } = await caller.run("help", "iam", "gruops");
      assert.equal(code, 2);
      assert.match(
        stderr,
        /^gatehouse: gatehouse iam has no command "gruops"\n {2}Did you mean groups\?\n {2}Commands are organizations, folders, groups, /,
      );
      assert.equal((await caller.run("help", "iam", "groups", "list", "x")).code, 2);
    });

    for (const [args, own, many] of [
      [["keys", "rotate"], "--retire-now", "Settings of the server:"],
      [["db", "check"], "--repair", "Settings of the server:"],
      [["bootstrap"], "--organization", "Settings of the server:"],
      [["advisories", "import"], "--dry-run", "Server and token:"],
      [["registry", "sync"], "--prune", "Server and token:"],
      [["iam", "groups", "list"], "--recursive", "Server and token:"],
    ] as const) {
      it(`the help of ${args.join(" ")} lists its own flags first`, async () => {
        const { stdout } = await caller.run(...args, "--help");
        const places = ["Options:", own, many, "--listen", "Example"].map((text) => stdout.indexOf(text));
        assert.ok(0 < places[0]! && places[0]! < places[1]! && places[1]! < places[2]!, String(places));
        assert.ok(places[3] === -1 || places[3]! > places[2]!);
        assert.ok(places[4]! > places[2]!);
      });
    }
  });

  describe("get", () => {
    for (const [args, said] of [
      [["get", "groups"], /gatehouse iam groups list +lists groups\n.*gatehouse iam groups describe NAME/],
      [["get", "role-binding", "x", "-o", "wide"], /gatehouse iam role-bindings list/],
      [["get", "repos"], /gatehouse images repos list/],
      [["iam", "roles", "get", "viewer"], /gatehouse iam roles describe NAME/],
      [["get"], /The verbs are list and describe/],
      [["get", "pods"], /The verbs are list and describe/],
    ] as const) {
      it(`${args.join(" ")}: says which command does it`, async () => {
        const { code, stderr } = await caller.run(...args);
        assert.match(stderr, said);
        assert.equal(code, 2);
      });
    }
  });

  describe("whoami and version", () => {
    it("show the caller with roles, and both versions", async () => {
      const { stdout } = await caller.run("whoami");
      assert.match(stdout, /^Identity: +[0-9a-f/]+\nName: +owner\n/);
      assert.match(
        stdout,
        /^Roles:\n {2}ROLE +GROUP +GROUP UID\n {2}operator +example\.org +\S+\n {2}owner +example\.org +/m,
      );
      const { identity, relations } = await caller.json("whoami");
      assert.ok(identity.startsWith(caller.server.groupUid));
      assert.ok(relations.roles.items[0].capabilities.includes("groups.list"));
      assert.deepEqual(await caller.json("version"), { client: version, server: version, address: caller.server.url });
      const refused = await caller.runWith({ GATEHOUSE_TOKEN: "a.b.c" }, "whoami");
      assert.match(refused.stderr, /Sign in with `gatehouse auth login`/);
      assert.equal(refused.code, 1);
    });

    it("version says what is wrong with the server", async () => {
      const secure = createHttpsServer({ cert: certificate, key: certificateKey }).listen(0, "127.0.0.1");
      const other = createServer((_request, response) => response.end("<html>")).listen(0, "127.0.0.1");
      try {
        for (const [server, scheme, shown, said] of [
          [secure, "https", "does not answer", /^gatehouse: the certificate of \S+ is not trusted/],
          [other, "http", "unknown", /^$/],
        ] as const) {
          if (!server.listening) await once(server, "listening");
          const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
          const { code, stdout, stderr } = await caller.run("version", "--url", url, "-o", "json");
          assert.deepEqual([code, JSON.parse(stdout).server], [0, shown]);
          assert.match(stderr, said);
        }
      } finally {
        secure.close();
        other.close();
      }
    });

    it("version needs neither a token nor a server", async () => {
      const none = { GATEHOUSE_TOKEN: "", GATEHOUSE_URL: `http://127.0.0.1:${await freePort()}` };
      const { code, stdout, stderr } = await caller.runWith(none, "version", "-o", "json");
      assert.deepEqual([code, JSON.parse(stdout).server], [0, "does not answer"]);
      assert.match(stderr, /^gatehouse: \S+ does not answer \(ECONNREFUSED\)\n/);
      assert.equal((await caller.runWith({ GATEHOUSE_TOKEN: "" }, "version", "-o", "id")).stdout, `${version}\n`);
    });
  });

  describe("api", () => {
    it("sends a request with the token, and prints the response", async () => {
      const { groups } = await caller.json(
        "api",
        "get",
        "/iam/v2beta1/groups",
        "-q",
        "page_size=1",
        "-q",
        "order_by=name desc",
      );
      assert.equal(groups.length, 1);
      const made = await caller.json(
        "api",
        "POST",
        `/iam/v2beta1/groups/${caller.server.groupUid}`,
        "-d",
        '{"name":"raw"}',
      );
      assert.equal(made.name, "raw");
      const file = path.join(caller.home, "body.json");
      writeFileSync(file, '{"description":"from a file"}');
      const changed = await caller.json("api", "PATCH", `/iam/v2beta1/groups/${made.uid}`, "-d", `@${file}`);
      assert.equal(changed.description, "from a file");
      assert.equal(
        (await caller.run("api", "GET", `/iam/v2beta1/groups/${made.uid}`, "--query", "name", "-o", "yaml")).stdout,
        "raw\n",
      );
      assert.equal((await caller.run("api", "DELETE", `/iam/v2beta1/groups/${made.uid}`)).code, 0);
      assert.equal((await caller.run("api", "GET", "/healthz")).stdout, "ok\n");
    });

    it("fails with the response when the server rejects", async () => {
      const { code, stdout, stderr } = await caller.run("api", "GET", `/iam/v2beta1/groups/${"0".repeat(40)}`);
      assert.equal(code, 1);
      assert.match(stderr, /answers 40[34] /);
      assert.ok(JSON.parse(stdout).message);
    });

    const wrong: [args: string[], said: RegExp][] = [
      [["GET", "iam/v2beta1/groups"], /is not a path/],
      [["GET", "//evil.test/x"], /is not a path/],
      [["GET", "https://evil.test/"], /is not a path/],
      [["GET", "@evil.test/"], /is not a path/],
      [["GET", "/x#y"], /is not a path of the server/],
      [["TRACE", "/x"], /is not a method of the API/],
      [["GET", "/x", "-q", "novalue"], /is not name=value/],
      [["GET", "/x", "-d", "{}"], /a GET request has no body/],
      [["POST", "/x", "-d", "@/nowhere/x"], /--data: \/nowhere\/x cannot be read: ENOENT/],
    ];
    for (const [args, said] of wrong) {
      it(`rejects ${args.join(" ")}`, async () => {
        const { code, stderr } = await caller.run("api", ...args);
        assert.match(stderr, said);
        assert.equal(code, 2);
      });
    }

    it("does not follow a redirect with the token", async () => {
      const seen: string[] = [];
      const other = createServer((request, response) => {
        seen.push(request.headers.authorization ?? "");
        response.end("{}");
      }).listen(0);
      const first = createServer((_request, response) => {
        response.writeHead(302, { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` }).end();
      }).listen(0);
      try {
        const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}`;
        const { code, stderr } = await caller.runWith({ GATEHOUSE_URL: url }, "api", "GET", "/x");
        assert.deepEqual([code, seen], [1, []]);
        assert.match(stderr, /answers 302/);
      } finally {
        first.close();
        other.close();
      }
    });
  });
});
