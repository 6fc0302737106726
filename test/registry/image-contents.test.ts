import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync, zstdDecompressSync } from "node:zlib";
import { removeGoneImages } from "../../src/storage/images/removal.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type RestReply, rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { bytesOf, cycloneDx, imageDigest, spdx, statement } from "../sboms/documents.ts";
import { imageRows } from "./image-rows.ts";

after(stopPostgres);

const lodash = "pkg:npm/lodash@4.17.20";
const curl = "pkg:apk/wolfi/curl@8.5.0-r0?distro=wolfi-2026";

for (const database of databases) {
  describe(`the contents of images on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    const call = (method: string, path: string, body?: object) =>
      rest(server.url, server.ownerToken, method, path, body);

    async function sweepNow(): Promise<void> {
      const context = { actor: "", method: "sweep", requestId: "", time: server.clock(), isBulk: true };
      let isDone = false;
      while (!isDone) isDone = await server.server.database.write(context, (tx) => removeGoneImages(tx, 200));
    }

    /** Makes a repo with a tag of the image, and returns what to call. */
    async function newRepo(name: string) {
      const { uid } = (await call("POST", `/registry/v2beta1/repos/${server.groupUid}`, { name })).body;
      await call("POST", `/registry/v2beta1/tags/${uid}`, { name: "1.0", digest: imageDigest });
      const base = `/gatehouse/registry/v1/images/${uid}`;
      const list = async (what: string, more = "", digest = imageDigest) =>
        (await call("GET", `${base}:${what}?digest=${digest}${more}`)).body;
      return {
        uid,
        list,
        put: (document: unknown, more: object = {}): Promise<RestReply> =>
          call("POST", `${base}:putSbom`, {
            digest: imageDigest,
            content: bytesOf(document).toString("base64"),
            ...more,
          }),
        remove: (sbom: string) => call("POST", `${base}:deleteSbom`, { digest: imageDigest, name: sbom }),
        purls: async () => {
          const { packages } = await list("listPackages");
          return (packages as { purl: string }[]).map(({ purl }) => purl);
        },
      };
    }

    it("an image without SBOM has an unknown state, and a digest that the repo does not have is not found", async () => {
      const repo = await newRepo("without");
      const { packages, state } = await repo.list("listPackages");
      assert.deepEqual([packages, state], [[], "CHECK_STATE_UNKNOWN"]);
      assert.equal((await repo.list("listPackages", "", `sha256:${"f".repeat(64)}`)).code, 5);
      assert.equal((await repo.put(cycloneDx([]), { digest: `sha256:${"f".repeat(64)}` })).body.code, 5);
    });

    it("the packages of an image are those of all its SBOMs", async () => {
      const repo = await newRepo("union");
      const first = await repo.put(cycloneDx([lodash, undefined]));
      assert.equal(first.status, 200, JSON.stringify(first.body));
      const { name, createTime, ...shown } = first.body;
      assert.match(name, /^upload:sha256:[0-9a-f]{64}$/);
      assert.ok(createTime);
      assert.deepEqual(shown, {
        imageDigest,
        source: "SBOM_SOURCE_UPLOAD",
        digest: name.slice("upload:".length),
        format: "CycloneDX 1.6",
        tool: "syft 1.18.0",
        size: String(bytesOf(cycloneDx([lodash, undefined])).length),
        signed: false,
        packages: 1,
        notChecked: 1,
      });
      const content = gzipSync(bytesOf(spdx([lodash, curl]))).toString("base64");
      await repo.put("", { content, compression: "SBOM_COMPRESSION_GZIP" });
      const found = await until("packages that are compared", async () => {
        const listed = await repo.list("listPackages");
        return listed.state === "CHECK_STATE_PENDING" ? undefined : listed;
      });
      assert.deepEqual(found, {
        packages: [
          { purl: curl, sources: ["SBOM_SOURCE_UPLOAD"] },
          { purl: lodash, sources: ["SBOM_SOURCE_UPLOAD"] },
        ],
        state: "CHECK_STATE_CHECKED",
        packageCount: 2,
        notChecked: 1,
        reasons: [{ reason: "NOT_CHECKED_REASON_NO_PURL", count: 1, example: "part-1" }],
      });
      assert.equal((await repo.list("listSboms")).sboms.length, 2);
    });

    it("the same document again changes nothing", async () => {
      const repo = await newRepo("again");
      const first = await repo.put(cycloneDx([lodash]));
      assert.deepEqual((await repo.put(cycloneDx([lodash]))).body, first.body);
      assert.equal((await repo.list("listSboms")).sboms.length, 1);
    });

    it("an uploaded SBOM is returned as it was", async () => {
      const repo = await newRepo("content");
      const { name } = (await repo.put(statement(spdx([lodash])))).body;
      const { content, compression } = await repo.list("getSbom", `&name=${name}`);
      assert.equal(compression, "SBOM_COMPRESSION_ZSTD");
      const bytes = zstdDecompressSync(Buffer.from(content, "base64"));
      assert.deepEqual(JSON.parse(bytes.toString()), statement(spdx([lodash])));
      assert.equal((await repo.list("getSbom", `&name=upload:${imageDigest}`)).code, 5);
    });

    it("deleting an SBOM leaves the packages of the others", async () => {
      const repo = await newRepo("deleting");
      const { name } = (await repo.put(cycloneDx([lodash, "pkg:npm/left-pad@1.3.0"]))).body;
      await repo.put(spdx([lodash, curl]));
      assert.equal((await repo.remove(name)).status, 200);
      assert.deepEqual(await repo.purls(), [curl, lodash]);
      assert.equal((await repo.remove(name)).body.code, 5);
      const query = new URLSearchParams({ parent: server.groupUid, resource_uid: repo.uid });
      const { changes } = (await call("GET", `/gatehouse/changes/v1/changes?${query}`)).body;
      const methods = changes.map(({ method }: { method: string }) => method.replace(/^.*\//, ""));
      assert.deepEqual(methods.slice(0, 3), ["DeleteSbom", "PutSbom", "PutSbom"]);
    });

    it("concurrent uploads and deletions end with the packages of the SBOMs that are left", async () => {
      const repo = await newRepo("concurrent");
      const names = Array.from({ length: 6 }, (_, i) => `pkg:npm/part-${i}@1.0.0`);
      const put = await Promise.all(names.map((purl) => repo.put(cycloneDx([purl, lodash]))));
      assert.deepEqual(await repo.purls(), [lodash, ...names]);
      const sboms = put.map(({ body }) => body.name as string);
      await Promise.all([...sboms.slice(0, 3).map(repo.remove), repo.put(cycloneDx([curl]))]);
      assert.deepEqual(await repo.purls(), [curl, lodash, ...names.slice(3)]);
      for (const sbom of sboms.slice(3)) await repo.remove(sbom);
      assert.deepEqual(await repo.purls(), [curl]);
    });

    it("lists packages in pages, and rejects the page token of another query", async () => {
      const repo = await newRepo("pages");
      const purls = Array.from({ length: 1200 }, (_, i) => `pkg:npm/p${String(i).padStart(4, "0")}@1.0.0`);
      await repo.put(cycloneDx(purls));
      const found: string[] = [];
      let token: string = "";
      do {
        const page = await repo.list("listPackages", `&page_size=200&page_token=${token}`);
        assert.ok(page.packages, JSON.stringify(page));
        found.push(...page.packages.map(({ purl }: { purl: string }) => purl));
        assert.equal(page.packageCount, 1200);
        token = page.nextPageToken ?? "";
      } while (token !== "");
      assert.deepEqual(found, purls);
      const { nextPageToken } = await repo.list("listPackages", "&page_size=1");
      const other = await repo.list("listPackages", `&architecture=arm64&page_token=${nextPageToken}`);
      assert.equal(other.code, 3);
    });

    it("rejects what cannot be read, with the reason, and stores nothing of it", async () => {
      const repo = await newRepo("rejected");
      const cases: readonly (readonly [document: unknown, reason: RegExp])[] = [
        ["{", /content: is not JSON/],
        ['{"bomFormat":"CycloneDX","bomFormat":"CycloneDX"}', /has a member twice/],
        [statement(spdx([]), "https://spdx.dev/Document", `sha256:${"b".repeat(64)}`), /something else than the image/],
        [statement({}, "https://slsa.dev/provenance/v1"), /something else than packages/],
      ];
      for (const [document, reason] of cases) {
        const { status, body } = await repo.put(document);
        assert.equal(status, 400);
        assert.match(body.message, reason);
      }
      assert.deepEqual((await repo.list("listSboms")).sboms, []);
    });

    it("an image has 100 SBOMs at most", async () => {
      const repo = await newRepo("hundred");
      for (let i = 0; i < 100; i++) await repo.put(cycloneDx([`pkg:npm/p${i}@1.0.0`]));
      const { status, body } = await repo.put(cycloneDx([lodash]));
      assert.equal(status, 400);
      assert.equal(body.details[1].violations[0].type, "TOO_MANY_SBOMS");
    });

    it("a deleted repo leaves no row, and its packages stay where another repo has them", async () => {
      const uids: string[] = [];
      const { repos } = (await call("GET", `/registry/v2beta1/repos?page_size=200`)).body;
      for (const { uid } of repos) uids.push(uid);
      const kept = await newRepo("kept");
      await kept.put(cycloneDx([lodash]));
      for (const uid of uids) await call("DELETE", `/registry/v2beta1/repos/${uid}`);
      await sweepNow();
      const left = { images: 1, imageSboms: 1, imagePackages: 1, packages: 1 };
      const { packageKeys, ...rows } = await imageRows(server.server.database);
      assert.ok(packageKeys! > 0);
      assert.deepEqual(rows, left);
      assert.deepEqual(await kept.purls(), [lodash]);
      await call("DELETE", `/registry/v2beta1/repos/${kept.uid}`);
      await sweepNow();
      assert.deepEqual(await imageRows(server.server.database), {});
    });
  });
}
