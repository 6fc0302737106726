// VEX repositories over HTTP, as a client of the specification reads them (https://github.com/aquasecurity/vex-repo-spec, 0.1).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { groupByPackage } from "../../src/advisories/openvex/by-package.ts";
import { limits } from "../../src/server/limits.ts";
import { databases } from "../harness/databases.ts";
import { keptLog } from "../harness/kept-log.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, operatorRole, viewerRole } from "../security/tree.ts";

after(stopPostgres);

interface Statement {
  readonly product: { readonly purl?: string; readonly cpe?: string };
  readonly status: string;
  readonly versions?: readonly string[];
  readonly justification?: string;
  readonly subcomponents?: readonly string[];
  readonly notes?: string;
}

const record = (vulnerability: string, ...statements: readonly Statement[]) => ({
  source: "team",
  document: `vex-${vulnerability}`,
  vulnerability,
  format: "RECORD_FORMAT_OPENVEX",
  modifyTime: "2026-01-01T00:00:00Z",
  statements,
});
const notAffected = (purl: string, ...versions: readonly string[]): Statement => ({
  product: { purl },
  status: "PRODUCT_STATUS_NOT_AFFECTED",
  versions,
  justification: "component_not_present",
});

/** An OpenVEX document. */
interface VexDocument {
  readonly "@id": string;
  readonly statements: readonly {
    readonly vulnerability: { readonly name: string };
    readonly products: readonly { readonly "@id": string }[];
    readonly status: string;
  }[];
}

/** A copy of a repository, with the tags of its addresses. */
interface Repository {
  readonly tags: Map<string, string>;
  readonly packages: Map<string, VexDocument>;
}

for (const database of databases) {
  describe(`VEX repositories on ${database}`, () => {
    let server: TestServer;
    let group: string;
    let below: string;
    let operator: string;
    const log = keptLog();
    const home = mkdtempSync(path.join(tmpdir(), "gatehouse-vex-"));
    before(async () => {
      server = await startTestServer({ database, log: log.stream });
      group = await addGroup(server, server.groupUid, "feed");
      below = await addGroup(server, group, "below");
      operator = (await addCaller(server, group, operatorRole.uid)).token;
      await add(
        group,
        record("CVE-2030-1", notAffected("pkg:npm/%40scope/left", "1.0.0"), notAffected("pkg:npm/right")),
        record("CVE-2030-2", notAffected("pkg:apk/wolfi/left?arch=x86_64", "1-r0")),
        record("CVE-2030-3", notAffected("pkg:oci/app?repository_url=registry.example%2Fteam%2Fapp")),
        record("CVE-2030-4", notAffected("pkg:oci/app")),
        record("CVE-2030-5", { product: { cpe: "cpe:/a:x:y" }, status: "PRODUCT_STATUS_FIXED" }),
      );
      await add(below, record("CVE-2030-6", notAffected("pkg:apk/wolfi/left", "2-r0")));
    });
    after(async () => {
      rmSync(home, { recursive: true, force: true });
      await server[Symbol.asyncDispose]();
    });

    const add = async (parent: string, ...records: readonly object[]) => {
      const { status, body } = await rest(server.url, operator, "POST", importPath(parent), { records });
      assert.equal(status, 200, JSON.stringify(body));
      for (const { outcome, error } of body.results) assert.equal(outcome, "RECORD_OUTCOME_CREATED", error);
    };
    const importPath = (parent: string) => `/gatehouse/vulnerabilities/v1/records/${parent}:import`;
    const get = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
      const authorization = `Bearer ${server.ownerToken}`;
      const reply = await fetch(url, { headers: { authorization, ...headers } });
      return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
    };
    const urlOf = (uid: string, file: string) => `${server.url}/gatehouse/vex/groups/${uid}/${file}`;
    const manifest = ".well-known/vex-repository.json";

    /** Reads a repository as Trivy does: the version of the specification that it knows, and the locations in their order. */
    async function download(repositoryUrl: string, known?: Repository): Promise<Repository | "unchanged"> {
      const { status, bytes } = await get(`${repositoryUrl}/${manifest}`);
      assert.equal(status, 200, String(bytes));
      const version = JSON.parse(String(bytes)).versions.find(
        (each: { spec_version: string }) => each.spec_version === "0.1",
      );
      const [{ url }] = version.locations;
      assert.match(version.update_interval, /^\d+h$/);
      const tag = known?.tags.get(url);
      const reply = await get(url, tag === undefined ? {} : { "if-none-match": tag });
      if (reply.status === 304) return "unchanged";
      assert.equal(reply.status, 200, String(reply.bytes));
      const folder = mkdtempSync(path.join(home, "repository-"));
      writeFileSync(path.join(folder, "vex.tar.gz"), reply.bytes);
      execFileSync("tar", ["-xzf", "vex.tar.gz"], { cwd: folder });
      const index = JSON.parse(readFileSync(path.join(folder, "index.json"), "utf8"));
      assert.ok(!Number.isNaN(Date.parse(index.updated_at)));
      const packages = index.packages.map(({ id, location, format }: Record<string, string>) => {
        assert.equal(format, "openvex");
        return [id, JSON.parse(readFileSync(path.join(folder, location!), "utf8"))];
      });
      return { tags: new Map([[url, reply.headers.get("etag")!]]), packages: new Map(packages) };
    }

    async function downloadWhole(uid: string): Promise<Repository> {
      const found = await download(urlOf(uid, "").slice(0, -1));
      assert.ok(found !== "unchanged");
      return found;
    }

    it("a repository has a document for each package, without version and qualifiers, but of images with the repository_url", async () => {
      const { packages } = await downloadWhole(group);
      const image = "pkg:oci/app?repository_url=registry.example%2Fteam%2Fapp";
      assert.deepEqual([...packages.keys()].sort(), [
        "pkg:apk/wolfi/left",
        "pkg:npm/%40scope/left",
        "pkg:npm/right",
        image,
      ]);
      const statements = packages.get("pkg:apk/wolfi/left")!.statements;
      assert.deepEqual(
        statements.map(({ vulnerability, products }) => [vulnerability.name, products[0]!["@id"]]).sort(),
        [
          ["CVE-2030-2", "pkg:apk/wolfi/left@1-r0?arch=x86_64"],
          ["CVE-2030-6", "pkg:apk/wolfi/left@2-r0"],
        ],
      );
      assert.equal(packages.get("pkg:npm/right")!.statements[0]!.status, "not_affected");
      assert.equal(new Set([...packages.values()].map((document) => document["@id"])).size, packages.size);
      assert.deepEqual([...(await downloadWhole(below)).packages.keys()], ["pkg:apk/wolfi/left"]);
    });

    it("a Go module is known by its path in lower case, as scanners write it", async () => {
      const parent = await addGroup(server, group, "go");
      const paths = ["example.test/Upper/m", "example.test/upper/m"];
      await add(parent, ...paths.map((name, i) => record(`CVE-2034-${i}`, notAffected(`pkg:golang/${name}`))));
      const { packages } = await downloadWhole(parent);
      assert.deepEqual([...packages.keys()], ["pkg:golang/example.test/upper/m"]);
      assert.equal(packages.get("pkg:golang/example.test/upper/m")!.statements.length, 2);
    });

    it("a second request gets 304 until an advisory changes", async () => {
      const first = await downloadWhole(below);
      const url = urlOf(below, "").slice(0, -1);
      assert.equal(await download(url, first), "unchanged");
      await add(below, record("CVE-2030-7", notAffected("pkg:npm/new")));
      const next = await download(url, first);
      assert.ok(next !== "unchanged" && next.packages.has("pkg:npm/new"));
    });

    it("a package with more advisories than a page, and one whose advisories are on two pages, are whole", async () => {
      const parent = await addGroup(server, group, "many");
      const ids = Array.from({ length: 450 }, (_, i) => `CVE-2031-${1000 + i}`);
      const productOf = (i: number) => (i < 230 ? "pkg:npm/large" : `pkg:npm/small-${i % 3}`);
      await add(parent, ...ids.map((id, i) => record(id, notAffected(productOf(i), "1.0.0"))));
      const { packages } = await downloadWhole(parent);
      assert.deepEqual([...packages].map(([id, { statements }]) => [id, statements.length]).sort(), [
        ["pkg:npm/large", 230],
        ["pkg:npm/small-0", 73],
        ["pkg:npm/small-1", 73],
        ["pkg:npm/small-2", 74],
      ]);
      const said = [...packages.values()].flatMap(({ statements }) =>
        statements.map((each) => each.vulnerability.name),
      );
      assert.deepEqual(said.sort(), ids);
    });

    it("a document of more than 8 MiB is left out and logged by name, and the others stay", async () => {
      const parent = await addGroup(server, group, "large");
      const notes = "x".repeat(1024 * 1024);
      for (let i = 0; i < 9; i++) await add(parent, record(`CVE-2032-${i}`, { ...notAffected("pkg:npm/huge"), notes }));
      await add(parent, record("CVE-2032-10", notAffected("pkg:npm/other")));
      assert.ok(9 * notes.length > limits.vexDocumentBytes);
      assert.deepEqual([...(await downloadWhole(parent)).packages.keys()], ["pkg:npm/other"]);
      const lost = log.lines().flatMap((line) => Object.keys(JSON.parse(line).lost ?? {}));
      assert.ok(lost.includes("the document of pkg:npm/huge, which is too large"), lost.join());
    });

    it("the parameter author of the repository is that of its documents", async () => {
      const { bytes } = await get(`${urlOf(below, manifest)}?author=A%26B`);
      const [{ url }] = JSON.parse(String(bytes)).versions[0].locations;
      assert.equal(url, `${urlOf(below, "v0.1/vex.tar.gz")}?author=A%26B`);
      const plain = await get(urlOf(below, "v0.1/vex.tar.gz"));
      const { headers } = await get(url);
      assert.notEqual(headers.get("etag"), plain.headers.get("etag"));
    });

    it("the password of the user _token may be the token", async () => {
      const viewer = await addCaller(server, group, viewerRole.uid);
      const authorization = `Basic ${Buffer.from(`_token:${viewer.token}`).toString("base64")}`;
      for (const file of [manifest, "v0.1/vex.tar.gz"])
        assert.equal((await get(urlOf(below, file), { authorization })).status, 200);
    });

    it("callers without advisories.list get the same response whether a group exists", async () => {
      const stranger = await addCaller(server, await addGroup(server, null, "other"), viewerRole.uid);
      const authorization = `Bearer ${stranger.token}`;
      const uids = [group, below, `${server.groupUid}/${"a".repeat(16)}`];
      for (const file of [manifest, "v0.1/vex.tar.gz"]) {
        const replies = await Promise.all(
          uids.map(async (uid) => {
            const { status, headers, bytes } = await get(urlOf(uid, file), { authorization, "if-none-match": "*" });
            return [status, headers.get("etag"), String(bytes).replaceAll(uid, "UID")];
          }),
        );
        assert.deepEqual([replies[0]![0], replies[0]![1]], [403, null]);
        for (const reply of replies) assert.deepEqual(reply, replies[0]);
      }
      assert.equal((await get(urlOf(group, manifest), { authorization: "Bearer x" })).status, 401);
    });

    it("a wrong request gets an error that names the problem", async () => {
      const cases: readonly (readonly [file: string, status: number, said: RegExp])[] = [
        ["v0.2/vex.tar.gz", 404, /Not found/],
        [`${manifest}?x=1`, 400, /x: is not a parameter/],
      ];
      for (const [file, status, said] of cases) {
        const reply = await get(urlOf(group, file));
        assert.equal(reply.status, status);
        assert.match(JSON.parse(String(reply.bytes)).message, said);
      }
      assert.equal((await get(urlOf("x", manifest))).status, 400);
    });
  });
}

describe("advisories by package", () => {
  it("more advisories than the limit are rejected before anything is read", async () => {
    const source = {
      products: async () => ({
        results: [
          { advisory: { uid: "a" }, product: "p" },
          { advisory: { uid: "b" }, product: "p" },
        ],
        nextPageToken: "",
      }),
      named: () => assert.fail("nothing is read"),
    };
    await assert.rejects(
      groupByPackage(source as never, (product) => product, 1),
      /a VEX repository takes 1 advisories/,
    );
    assert.equal([...(await groupByPackage(source as never, (product) => product, 2)).packages()].length, 1);
  });
});
