// Uploaded SBOMs move with an organization: packages and findings of its images are the same where it moves to.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { collections } from "../../src/services/resources.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { isQuick } from "../harness/quick.ts";
import type { TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { critical, findingsOn, type Json, osv } from "../registry/finding-harness.ts";
import { imageRows } from "../registry/image-rows.ts";
import { cycloneDx, imageDigest, spdx } from "../sboms/documents.ts";
import { addCaller, addRole, bind, operatorRole, viewerRole } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

after(stopPostgres);

const lodash = "pkg:npm/lodash@4.17.20";
const curl = "pkg:npm/curl@1.0.0";
const otherDigest = `sha256:${"b".repeat(64)}`;
const copyDigest = `sha256:${"d".repeat(64)}`;
const untaggedDigest = `sha256:${"c".repeat(64)}`;

/** Returns an SBOM that has about this size when compressed. */
function largeSbom(purl: string, bytes: number): object {
  const value = randomBytes(bytes).toString("base64");
  return cycloneDx([purl], { metadata: { properties: [{ name: "random", value }] } });
}

for (const [from, to] of [
  ["sqlite", "postgres"],
  ["postgres", "sqlite"],
] as const)
  describe(`uploaded SBOMs of an organization that moves from ${from} to ${to}`, {
    skip: isQuick && to === "sqlite",
  }, () => {
    let source: Caller;
    let target: Caller;
    /** The target, as the owner of the organization that moved. */
    let moved: TestServer;
    let file: string;
    let exported: string;
    const repos = { shop: "", tools: "" };

    before(async () => {
      source = await startCaller({ database: from });
      target = await startCaller({ database: to });
      moved = { ...target.server, ownerToken: await target.server.tokenOf(source.server.ownerUid) };
      const { newImage, call } = findingsOn(source.server);
      const { groupUid } = source.server;
      repos.shop = (await newImage(groupUid, "shop", [lodash])).uid;
      await call("POST", `/registry/v2beta1/tags/${repos.shop}`, { name: "latest", digest: imageDigest });
      repos.tools = (await newImage(groupUid, "tools", [curl], otherDigest)).uid;
      await call("POST", `/registry/v2beta1/tags/${repos.shop}`, { name: "copy", digest: copyDigest });
      for (const digest of [imageDigest, copyDigest]) await put("shop", digest, spdx([curl]));
      await put("tools", otherDigest, largeSbom("pkg:npm/large@1.0.0", 3 * 1024 * 1024));
      await put("tools", otherDigest, largeSbom("pkg:npm/too-large@1.0.0", 3.7 * 1024 * 1024));
      file = path.join(source.home, "organization.ndjson");
      const done = await source.run("iam", "organizations", "export", "example.org", file, "--with-sboms");
      assert.equal(done.code, 0, done.stderr);
      exported = done.stdout + done.stderr;
    });
    after(async () => {
      await source[Symbol.asyncDispose]();
      await target[Symbol.asyncDispose]();
    });

    const importFile = (name: string, ...flags: string[]) =>
      target.run("iam", "organizations", "import", name, ...flags);

    async function put(repo: string, digest: string, document: object): Promise<void> {
      const sbom = path.join(source.home, "sbom.json");
      writeFileSync(sbom, JSON.stringify(document));
      const { code, stderr } = await source.run("images", "sboms", "put", `${repo}@${digest}`, sbom);
      assert.equal(code, 0, stderr);
    }

    const list = async (server: TestServer, repo: keyof typeof repos, method: string, digest: string): Promise<Json> =>
      (await findingsOn(server).call("GET", `/gatehouse/registry/v1/images/${repos[repo]}:${method}?digest=${digest}`))
        .body;

    /** Imports advisories, and returns the findings of the image of the shop. */
    async function findingsIn(server: TestServer): Promise<Json[]> {
      const { importAll, become } = findingsOn(server);
      const advisories = [osv("GHSA-1", "lodash", "4.17.21", critical), osv("GHSA-2", "curl", "1.0.1")];
      await importAll(source.server.groupUid, ...advisories);
      const findings = () => list(server, "shop", "listFindings", imageDigest);
      await become(findings, [`GHSA-1 ${lodash}`, `GHSA-2 ${curl}`]);
      // Uids and times of advisories are those of their import.
      return ((await findings()).findings as Json[]).map(
        ({ advisoryUid: _uid, firstKnownTime: _time, ...rest }) => rest,
      );
    }

    function changed(name: string, change: (sbom: Json) => Json): string {
      const lines = readFileSync(file, "utf8").trimEnd().split("\n");
      const first = lines.findIndex((line) => line.startsWith(`{"uploadedSbom":{"uid":"${repos.shop}"`));
      const sbom = change(JSON.parse(lines[first]!).uploadedSbom);
      const other = path.join(source.home, name);
      writeFileSync(other, `${lines.with(first, JSON.stringify({ uploadedSbom: sbom })).join("\n")}\n`);
      return other;
    }

    it("the export has the uploaded SBOMs of each image once, also if two images of a repo have the same, and names those that are too large", () => {
      assert.match(exported, /exported: .*5 uploaded SBOMs/);
      assert.match(exported, new RegExp(`the SBOM upload:sha256:[0-9a-f]{64} of ${otherDigest} in .* is too large`));
    });

    it("an export without the flag has none, and says so", async () => {
      const without = path.join(source.home, "without.ndjson");
      const { code, stderr } = await source.run("iam", "organizations", "export", "example.org", without);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /uploaded SBOMs of images, unless you export with --with-sboms/);
      assert.doesNotMatch(readFileSync(without, "utf8"), /^\{"uploadedSbom"/m);
    });

    it("an export with SBOMs needs the permission to list them", async () => {
      const { groupUid } = source.server;
      const others = viewerRole.capabilities.filter((each) => each !== Capability.CAP_TENANT_SBOMS_LIST);
      const { token } = await addCaller(source.server, groupUid, await addRole(source.server, groupUid, others));
      const args = ["iam", "organizations", "export", groupUid, "--with-sboms"];
      const { code, stderr } = await source.runWith({ GATEHOUSE_TOKEN: token }, ...args);
      assert.equal(code, 1);
      assert.match(stderr, /the export would be incomplete: you lack sboms\.list at/);
    });

    it("SBOMs, packages and findings are the same after the move", async () => {
      const dry = await importFile(file, "--dry-run");
      assert.equal(dry.code, 0, dry.stdout + dry.stderr);
      assert.match(dry.stdout, new RegExp(`^\\+ line \\d+: uploaded SBOM ${imageDigest} \\(${repos.shop}\\)$`, "m"));
      assert.match(dry.stdout, /^would be rejected: nothing$/m);
      const done = await importFile(file);
      assert.equal(done.code, 0, done.stdout + done.stderr);
      assert.match(done.stdout, /^created: .*5 uploaded SBOMs/m);
      // An owner may not import advisories.
      await bind(target.server, source.server.groupUid, source.server.ownerUid, operatorRole.uid);
      assert.deepEqual(await findingsIn(moved), await findingsIn(source.server));
      const listed = (server: TestServer, method: string) =>
        until("a checked image", async () => {
          const answer = await list(server, "shop", method, imageDigest);
          return answer.state === "CHECK_STATE_PENDING" ? undefined : answer;
        });
      for (const method of ["listSboms", "listPackages"])
        assert.deepEqual(await listed(moved, method), await listed(source.server, method));
      const { sboms } = await list(moved, "tools", "listSboms", otherDigest);
      assert.deepEqual(
        (sboms as Json[]).map(({ packages }) => packages),
        [1, 1],
      );
      const { database } = target.server.server;
      const { findings } = await database.read((session) => checkDatabase(session, collections));
      assert.deepEqual(findings, []);
    });

    it("a repeated import changes nothing", async () => {
      const { database } = target.server.server;
      const before = await imageRows(database);
      const { code, stdout } = await importFile(file, "--existing");
      assert.equal(code, 0, stdout);
      assert.match(stdout, /^created: nothing\nupdated: nothing\nunchanged: .*5 uploaded SBOMs/m);
      assert.deepEqual(await imageRows(database), before);
    });

    const wrong: readonly (readonly [what: string, change: (sbom: Json) => Json, expected: RegExp])[] = [
      ["is damaged", (sbom) => ({ ...sbom, content: "AAAA" }), /content: is not compressed with zstd/],
      [
        "is not an SBOM",
        (sbom) => ({ ...sbom, content: "e30=", compression: "SBOM_COMPRESSION_UNSPECIFIED" }),
        /content: is neither CycloneDX nor SPDX/,
      ],
      [
        "belongs to a missing repo",
        (sbom) => ({ ...sbom, uid: `${source.server.groupUid}/${"0".repeat(16)}` }),
        /uid: must be the uid of a repo that exists/,
      ],
      ["has no digest", ({ digest: _digest, ...sbom }) => sbom, /digest: /],
    ];
    for (const [what, change, expected] of wrong)
      it(`rejects a document that ${what}, with its line and field, and imports the others`, async () => {
        const { code, stdout, stderr } = await importFile(changed("wrong.ndjson", change), "--existing");
        assert.equal(code, 1, stdout);
        const rejected = /^! line \d+: uploaded SBOM .*$/m.exec(stderr)?.[0] ?? "";
        assert.match(rejected, expected, stderr);
        assert.match(stdout, /^unchanged: .*4 uploaded SBOMs/m);
        assert.match(stdout, /^rejected: 1 uploaded SBOM$/m);
      });

    it("an SBOM of a platform waits at its digest until the server has read the index", async () => {
      const other = changed("untagged.ndjson", (sbom) => ({ ...sbom, digest: untaggedDigest }));
      const { code, stdout } = await importFile(other, "--existing");
      assert.equal(code, 0, stdout);
      assert.match(stdout, /^created: 1 uploaded SBOM$/m);
      const { sboms } = await list(moved, "shop", "listSboms", untaggedDigest);
      assert.equal((sboms as Json[]).length, 1);
    });
  });
