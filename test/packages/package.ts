// `npm run suites -- package`: the package of `npm run pack`, installed for Node 22 and 24, does what the program of the clone does.
// Not a part of `npm test`: it builds everything, and takes other versions of Node and better-sqlite3 from npm.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { answersOf, signInAs, signInUrl } from "../harness/browser.ts";
import { type IdentityProvider, startIdentityProvider } from "../harness/identity-provider.ts";
import { newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { walkThrough } from "../harness/walkthrough.ts";
import {
  type Installation,
  newInstallation,
  nodeOf,
  type PackagedServer,
  pack,
  repack,
  versionOf,
} from "./installation.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-package-"));
const previousVersion = "0.1.999";
const maxPackages = 10;
const maxMegabytes = 60;
let tarball = "";
let previous = "";
let provider: IdentityProvider;

describe("the package of npm run pack", () => {
  before(async () => {
    mkdirSync(path.join(folder, "packed"));
    tarball = pack(path.join(folder, "packed"));
    previous = repack(tarball, previousVersion, path.join(folder, "previous"));
    provider = await startIdentityProvider(["build-pipeline", "someone-else"]);
  });

  after(async () => {
    await provider[Symbol.asyncDispose]();
    await stopPostgres();
    rmSync(folder, { recursive: true, force: true });
  });

  describe("the package", () => {
    it("brings manual pages, which a global installation links", () => {
      const prefix = path.join(folder, "global");
      const args = ["--prefix", prefix, "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", tarball];
      execFileSync("npm", ["install", "--global", ...args], { stdio: "pipe" });
      const page = readFileSync(path.join(prefix, "share/man/man1/gatehouse-iam-groups-create.1"), "utf8");
      assert.match(page, /^\.TH /);
      assert.match(execFileSync(path.join(prefix, "bin/gatehouse"), ["--version"], { encoding: "utf8" }), /^\d/);
    });
  });

  it("the program says on an older Node which one it needs", () => {
    const program = path.join(folder, "previous/package/dist/gatehouse.js");
    const node = path.join(nodeOf(20), "node");
    for (const args of [["--version"], ["serve", "--dev"], ["iam", "groups", "list"]]) {
      const { status, stdout, stderr } = spawnSync(node, [program, ...args], { encoding: "utf8" });
      assert.equal(status, 1);
      assert.equal(stdout, "");
      assert.match(stderr, /^Gatehouse needs Node 22\.15 or later; .* is 20\.[.\d]+\.\n$/);
    }
  });

  for (const version of [22, 24]) {
    describe(`the package on Node ${version}`, () => {
      let installation: Installation;
      let server: PackagedServer;

      before(async () => {
        installation = newInstallation(path.join(folder, String(version)), nodeOf(version));
        installation.install(tarball);
        server = await installation.serve("data");
      });

      after(() => server[Symbol.asyncDispose]());

      /** Runs a command as the owner of example.org. */
      async function command(...args: string[]): Promise<string> {
        const environment = { GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: server.ownerToken };
        const { code, stdout, stderr } = await installation.run(args, environment);
        assert.equal(code, 0, stderr);
        return stdout.trim();
      }

      it("the package is small", () => {
        const modules = path.join(installation.folder, "node_modules");
        const packages = globSync(["*/package.json", "@*/*/package.json"], { cwd: modules });
        assert.ok(packages.length <= maxPackages, packages.join(" "));
        const [megabytes] = execFileSync("du", ["-sm", modules], { encoding: "utf8" }).split("\t");
        assert.ok(Number(megabytes) <= maxMegabytes, `${megabytes} MB`);
      });

      it("has the documents, the protos and the licences", () => {
        const own = path.join(installation.folder, "node_modules/gatehouse-server");
        for (const name of ["README.md", "LICENSE", "CHANGELOG.md", "docs/install.md", "dist/THIRD-PARTY-NOTICES.txt"])
          assert.ok(readFileSync(path.join(own, name), "utf8").length > 1000, name);
        assert.ok(globSync("proto/**/*.proto", { cwd: own }).length > 0);
      });

      it("the package runs on this version of Node", async () => {
        const packed = versionOf(tarball);
        assert.deepEqual((await command("version")).split("\n").at(-1)!.split(/ +/).slice(0, 2), [packed, packed]);
        const metrics = await (await fetch(`${server.url}/metrics`)).text();
        assert.match(metrics, new RegExp(`nodejs_version_info\\{version="v${version}\\.`));
      });

      it("passes the walkthrough of the specification over REST", async (t) => {
        const groups = await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/groups?name=example.org");
        await walkThrough(t, { ...server, groupUid: groups.body.groups[0].uid }, provider);
      });

      it("the package serves gRPC", async () => {
        const client = createClient(GroupsService, createGrpcTransport({ baseUrl: server.url }));
        const headers = { authorization: `Bearer ${server.ownerToken}` };
        assert.equal((await client.listGroups({}, { headers })).totalCount, 4n);
        await assert.rejects(client.listGroups({}), /unauthenticated/);
      });

      it("the walkthrough works by commands", async () => {
        await command("iam", "groups", "create", "shop", "--parent", "example.org");
        const identity = ["--identity-issuer", provider.issuer, "--subject", "build-pipeline"];
        await command("iam", "identities", "create", "cart", "--parent", "example.org/shop", ...identity);
        const uid = await command("iam", "identities", "describe", "cart", "-o", "id");
        const binding = ["--identity", "cart", "--role", "viewer"];
        await command("iam", "role-bindings", "create", "--parent", "example.org/shop", ...binding);
        const token = await provider.issueToken("build-pipeline", server.url);
        const environment = { GATEHOUSE_URL: server.url };
        const login = ["auth", "login", "--identity-token", token, "--identity", uid];
        assert.equal((await installation.run(login, environment)).code, 0);
        assert.match((await installation.run(["iam", "groups", "list"], environment)).stdout, /^shop /m);
        const denied = await installation.run(["iam", "groups", "update", "shop", "--description", "x"], environment);
        assert.deepEqual([denied.code, /groups\.update/.test(denied.stderr)], [1, true]);
      });

      it("the package signs users in", async () => {
        const { token } = answersOf(await signInAs("owner", signInUrl(server.url)));
        assert.equal((await rest(server.url, token, "GET", "/auth/v1/ok")).body.email, "owner@example.org");
      });

      it("installs a credential helper for container tools", async () => {
        const bin = path.join(installation.folder, "helpers");
        await command("config", "set", "platform.registry", "registry.test:5000");
        await command("auth", "configure-docker", "--helper-dir", bin);
        const helper = path.join(bin, "docker-credential-gatehouse");
        assert.match(execFileSync(helper, ["version"], { encoding: "utf8" }), /^docker-credential-gatehouse /);
      });

      it("exports and imports an organization", async () => {
        const file = path.join(installation.folder, "example.org.ndjson");
        await command("iam", "organizations", "export", "example.org", file);
        const text = await command("iam", "organizations", "import", file, "--dry-run");
        assert.match(text, /would be rejected: nothing/);
      });

      it("the package reads SBOMs, which it does in a thread", async () => {
        const root = await command("iam", "organizations", "describe", "example.org", "-o", "id");
        const post = (url: string, body: object) => rest(server.url, server.ownerToken, "POST", url, body);
        const repo = (await post(`/registry/v2beta1/repos/${root}`, { name: "packed" })).body.uid;
        await post(`/registry/v2beta1/tags/${repo}`, { name: "1.0", digest: `sha256:${"6".repeat(64)}` });
        const file = path.join(installation.folder, "sbom.json");
        const components = [{ type: "library", name: "lodash", purl: "pkg:npm/lodash@4.17.20" }];
        writeFileSync(file, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components }));
        await command("images", "sboms", "put", "packed:1.0", file);
        assert.match(await command("images", "packages", "packed:1.0"), /^pkg:npm\/lodash@4\.17\.20 /m);
      });

      it("the package has the console", async () => {
        const page = await fetch(`${server.url}/console/`, { headers: { accept: "text/html" } });
        assert.equal(page.status, 200);
        const [, script] = /src="([^"]+\.js)"/.exec(await page.text())!;
        assert.equal((await fetch(new URL(script!, page.url))).status, 200);
        assert.equal((await fetch(`${server.url}/docs/api`)).status, 200);
      });

      it("the package serves from PostgreSQL", async () => {
        await using other = await installation.serve("postgres", "--database-url", await newPostgresDatabase());
        const { status, body } = await rest(other.url, other.ownerToken, "GET", "/iam/v2beta1/groups");
        assert.deepEqual([status, body.totalCount], [200, "4"]);
      });

      it("keeps the data in an upgrade, and ends with 0", async () => {
        const upgraded = newInstallation(path.join(folder, `upgraded-${version}`), nodeOf(version));
        upgraded.install(previous);
        assert.equal((await upgraded.run(["--version"])).stdout.trim(), previousVersion);
        const old = await upgraded.serve("data");
        const organization = (await rest(old.url, old.ownerToken, "GET", "/iam/v2beta1/groups?name=example.org")).body
          .groups[0].uid;
        await rest(old.url, old.ownerToken, "POST", `/iam/v2beta1/groups/${organization}`, { name: "kept" });
        assert.equal(await old.stop(), 0);
        upgraded.install(tarball);
        assert.notEqual((await upgraded.run(["--version"])).stdout.trim(), previousVersion);
        await using next = await upgraded.serve("data");
        const { body } = await rest(next.url, next.ownerToken, "GET", "/iam/v2beta1/groups?name=kept");
        assert.equal(body.totalCount, "1");
      });
    });
  }
});
