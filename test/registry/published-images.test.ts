// The published methods about what is in images, in version 1: SBOMs, vulnerabilities, configurations, packages, digests.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { codeName } from "../../src/aip/errors.ts";
import { type ApiClient, openApiClient } from "../harness/api-clients.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { bytesOf, cycloneDx, spdx } from "../sboms/documents.ts";
import { addCaller, addGroup, addRole, viewerRole } from "../security/tree.ts";
import { digestOf, type Listening, manifestType, startListening } from "./listening.ts";

after(stopPostgres);

const purlOf = (name: string) => `pkg:npm/${name}@1.0.0`;
const configType = "application/vnd.oci.image.config.v1+json";

for (const database of databases) {
  describe(`published methods about images on ${database}`, () => {
    let listening: Listening;
    let client: ApiClient;
    before(async () => {
      listening = await startListening(database, { imageContents: "on" });
      client = openApiClient("grpc", listening.server.url);
    });
    after(async () => {
      client[Symbol.dispose]();
      await listening[Symbol.asyncDispose]();
    });

    // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
    async function call(method: string, request: JsonObject, token = listening.server.ownerToken): Promise<any> {
      const { code, message, response, details } = await client.call(
        token,
        `/chainguard.platform.registry.Registry/${method}`,
        request,
      );
      return { code: codeName(code), message, details, ...(response as object) };
    }
    const violationOf = ({ details }: { details: { violations?: { type: string }[] }[] }) =>
      details.flatMap(({ violations = [] }) => violations)[0]?.type;

    /** Stores an image with this configuration. */
    function image(config: unknown, architecture = "amd64", mediaType = configType): string {
      const { registry } = listening;
      const text = typeof config === "string" ? config : JSON.stringify({ architecture, os: "linux", config });
      const descriptor = { mediaType, digest: registry.put(text), size: text.length };
      return registry.put({ schemaVersion: 2, mediaType: manifestType, config: descriptor, layers: [] });
    }

    /** Stores an artifact with an SBOM, which is about an image. */
    function attach(document: object, subject: string): string {
      const { registry } = listening;
      const text = JSON.stringify(document);
      const layers = [{ mediaType: "application/vnd.cyclonedx+json", digest: registry.put(text), size: text.length }];
      const config = { mediaType: "application/vnd.oci.empty.v1+json", digest: registry.put("{}"), size: 2 };
      const about = { subject: { digest: subject, mediaType: manifestType, size: 1 } };
      return registry.put({ schemaVersion: 2, mediaType: manifestType, config, layers, ...about });
    }

    const nameOf = (name: string) => `${listening.server.groupUid}/${name}`;

    /** Pushes to the registry, tells the server of it, and returns the uid of the repo. */
    async function push(name: string, tagName: string, digest: string): Promise<string> {
      listening.registry.tag(nameOf(name), tagName, digest);
      assert.equal((await listening.distribution(listening.push(name, tagName, digest))).status, 200);
      return (await listening.repoOf(name))!;
    }

    const contents = (repoId: string, digest: string, what: string) =>
      listening.get(`/gatehouse/registry/v1/images/${repoId}:${what}?digest=${digest}`);

    /** Waits until the packages of an image are compared with advisories, and that there are so many. */
    async function hasPackages(repoId: string, digest: string, count: number): Promise<void> {
      await until(`${count} packages`, async () => {
        const { state, packageCount = 0 } = await contents(repoId, digest, "listPackages");
        return state !== "CHECK_STATE_PENDING" && packageCount === count ? true : undefined;
      });
    }

    async function upload(repoId: string, digest: string, document: object): Promise<void> {
      const response = await fetch(`${listening.server.url}/gatehouse/registry/v1/images/${repoId}:putSbom`, {
        method: "POST",
        headers: { authorization: `Bearer ${listening.server.ownerToken}`, "content-type": "application/json" },
        body: JSON.stringify({
          digest,
          content: gzipSync(bytesOf(document)).toString("base64"),
          compression: "SBOM_COMPRESSION_GZIP",
        }),
      });
      assert.equal(response.status, 200, await response.text());
    }

    it("returns the SBOM with the most packages, as it was uploaded", async () => {
      const digest = image({});
      const repoId = await push("uploaded", "1.0", digest);
      const [small, large] = [cycloneDx([purlOf("a")]), spdx([purlOf("a"), purlOf("b")])];
      await upload(repoId, digest, small);
      await upload(repoId, digest, large);
      const { rawSbom, id, lastSeen, ...sbom } = await call("GetSbom", { repoId, digest });
      assert.deepEqual(JSON.parse(Buffer.from(rawSbom, "base64").toString()), large);
      assert.match(id, /^upload:sha256:/);
      assert.ok(lastSeen);
      const { code, message, details, ...shown } = sbom;
      assert.deepEqual(shown, { tool: "syft-1.18.0", format: "SPDX 2.3", source: "INGESTED", digest });
      const raw = await call("GetRawSbom", { repoId, digest, reference: "ignored", arch: "amd64" });
      assert.deepEqual(JSON.parse(raw.rawSbom), large);
    });

    it("an image without SBOM has neither an SBOM nor a report, and none is not found for an unknown digest", async () => {
      const digest = image({}, "amd64", "application/x");
      const repoId = await push("without", "1.0", digest);
      for (const method of ["GetSbom", "GetRawSbom", "GetVulnReport"])
        assert.equal((await call(method, { repoId, digest })).code, "NOT_FOUND", method);
      const metadata = { repoId, items: [{ imageDigest: digest }] };
      assert.equal((await call("ListManifestMetadata", metadata)).items, undefined);
      const unknown = digestOf("f");
      for (const method of ["GetSbom", "GetRawSbom", "GetVulnReport", "GetImageConfig"])
        assert.equal((await call(method, { repoId, digest: unknown })).code, "NOT_FOUND", method);
      const asked = { repoId, items: [{ indexFilter: { digest: unknown, arch: "amd64" } }] };
      assert.equal((await call("ListManifestMetadata", asked)).code, "NOT_FOUND");
    });

    it("an index means its image for an architecture, amd64 if none is named", async () => {
      const { registry } = listening;
      const [amd64, arm64] = [image({ User: "x86" }), image({ User: "arm" }, "arm64")];
      const platform = (architecture: string) => ({ platform: { architecture, os: "linux" } });
      const index = registry.putIndex({ digest: amd64, ...platform("amd64") }, { digest: arm64, ...platform("arm64") });
      const repoId = await push("index", "1.0", index);
      for (const [digest, name] of [
        [amd64, "for-amd64"],
        [arm64, "for-arm64"],
      ] as const) {
        const referrers = registry.putIndex({ digest: attach(cycloneDx([purlOf(name)]), digest) });
        await push("index", digest.replace(":", "-"), referrers);
      }
      await hasPackages(repoId, index, 2);
      const named = async (arch: string) =>
        JSON.parse((await call("GetRawSbom", { repoId, digest: index, arch })).rawSbom);
      assert.deepEqual(await named(""), cycloneDx([purlOf("for-amd64")]));
      assert.deepEqual(await named("arm64"), cycloneDx([purlOf("for-arm64")]));
      const own = await call("GetSbom", { repoId, digest: arm64 });
      assert.deepEqual([own.digest, own.format], [arm64, "CycloneDX 1.6"]);
      const config = async (arch: string) => (await call("GetImageConfig", { repoId, digest: index, arch })).user;
      assert.deepEqual([await config(""), await config("arm64")], ["x86", "arm"]);
      for (const method of ["GetSbom", "GetRawSbom", "GetImageConfig"])
        assert.equal((await call(method, { repoId, digest: index, arch: "s390x" })).code, "NOT_FOUND", method);
      const items = [{ imageDigest: amd64 }, { indexFilter: { digest: index, arch: "arm64" } }];
      assert.deepEqual((await call("ListManifestMetadata", { repoId, items })).items, [
        { digest: amd64, pkgMetadata: [{ purl: purlOf("for-amd64") }] },
        { digest: arm64, pkgMetadata: [{ purl: purlOf("for-arm64") }] },
      ]);
    });

    it("an SBOM that the registry has no more, or has with another content, is not found, and a large one names the way", async () => {
      const { registry } = listening;
      const digest = image({}, "amd64");
      const repoId = await push("changing", "1.0", digest);
      const document = cycloneDx([purlOf("changing")]);
      await push("changing", digest.replace(":", "-"), registry.putIndex({ digest: attach(document, digest) }));
      await hasPackages(repoId, digest, 1);
      assert.deepEqual(JSON.parse((await call("GetRawSbom", { repoId, digest })).rawSbom), document);
      registry.intercept = (request, response) => {
        if (!request.url?.includes("/blobs/")) return false;
        response.writeHead(200).end("{}");
        return true;
      };
      assert.equal((await call("GetRawSbom", { repoId, digest })).code, "NOT_FOUND");
      registry.intercept = (_request, response) => {
        response.writeHead(503).end();
        return true;
      };
      assert.equal((await call("GetRawSbom", { repoId, digest })).code, "UNAVAILABLE");
      registry.intercept = () => false;
      await upload(repoId, digest, cycloneDx([purlOf("a"), purlOf("b")], { x: "x".repeat(3_700_000) }));
      const large = await call("GetSbom", { repoId, digest });
      assert.deepEqual([large.code, violationOf(large)], ["FAILED_PRECONDITION", "SBOM_TOO_LARGE"]);
      assert.match(large.message, /GetSbomContent/);
    });

    it("returns the configuration of an image, which it reads once", async () => {
      const digest = image({
        User: "65532",
        ExposedPorts: { "8080/tcp": {} },
        Env: ["PATH=/usr/bin", 7],
        Entrypoint: ["/shop"],
        Cmd: ["--help"],
        Volumes: { "/data": {} },
        WorkingDir: "/work",
        Labels: { team: "shop", __proto__: "x", count: 1 },
        StopSignal: "SIGTERM",
      });
      const repoId = await push("config", "1.0", digest);
      const { code, message, details, ...config } = await call("GetImageConfig", { repoId, digest, registry: true });
      assert.equal(code, "OK", message);
      assert.deepEqual(config, {
        user: "65532",
        exposedPorts: { "8080/tcp": {} },
        env: ["PATH=/usr/bin"],
        entrypoint: ["/shop"],
        cmd: ["--help"],
        volumes: { "/data": {} },
        workingDir: "/work",
        labels: { team: "shop" },
        stopSignal: "SIGTERM",
      });
      listening.registry.intercept = (request, response) => {
        response.writeHead(500).end(request.url);
        return true;
      };
      assert.equal((await call("GetImageConfig", { repoId, digest })).user, "65532");
      // A tag may name any digest: what was read for one repo is not another one's.
      const other = (await call("CreateRepo", { parentId: listening.server.groupUid, repo: { name: "thief" } })).id;
      await call("CreateTag", { repoId: other, tag: { name: "1.0", digest } });
      assert.equal((await call("GetImageConfig", { repoId: other, digest })).code, "UNAVAILABLE");
      listening.registry.intercept = (request, response) => {
        if (!request.url?.includes("/thief/")) return false;
        response.writeHead(404).end();
        return true;
      };
      assert.equal((await call("GetImageConfig", { repoId: other, digest })).code, "NOT_FOUND");
      listening.registry.intercept = () => false;
    });

    it("a configuration that cannot be read is rejected with the reason", async () => {
      const cases: readonly (readonly [digest: string, reason: RegExp])[] = [
        [image({ User: "chart" }, "amd64", "application/vnd.cncf.helm.config.v1+json"), /not one of an image/],
        [image("[1]"), /not a JSON object/],
        [image(`{"x":"${"x".repeat(4 * 1024 * 1024)}"}`), /more than 4 MiB/],
      ];
      for (const [digest, reason] of cases) {
        const repoId = await push("unreadable", "1.0", digest);
        const failure = await call("GetImageConfig", { repoId, digest });
        assert.deepEqual([failure.code, violationOf(failure)], ["FAILED_PRECONDITION", "IMAGE_CONFIG_UNREADABLE"]);
        assert.match(failure.message, reason);
      }
      const huge = image({ Env: Array.from({ length: 4 }, (_, i) => `${i}${"x".repeat(950_000)}`) });
      const repoId = await push("unreadable", "2.0", huge);
      assert.equal(violationOf(await call("GetImageConfig", { repoId, digest: huge })), "RESPONSE_TOO_LARGE");
    });

    it("counts the digests of a repo and of a group, without deleted ones", async () => {
      const { server } = listening;
      const parentId = await addGroup(server, server.groupUid, "counted");
      const repos: string[] = [];
      for (const name of ["one", "two"]) repos.push((await call("CreateRepo", { parentId, repo: { name } })).id);
      const tags = ["a", "b"].map((letter) => ({ name: letter, digest: digestOf(letter) }));
      for (const repoId of repos) for (const tag of tags) await call("CreateTag", { repoId, tag });
      await upload(repos[0]!, digestOf("a"), cycloneDx([purlOf("a")]));
      const count = async (of: string) => (await call("GetManifestDigestCount", { parentId: of })).count;
      assert.deepEqual([await count(parentId), await count(repos[0]!)], ["4", "2"]);
      const images = `/gatehouse/registry/v1/images/${repos[1]}`;
      assert.equal(
        (await listening.get(`${images}:listPackages?digest=${digestOf("a")}`)).state,
        "CHECK_STATE_UNKNOWN",
      );
      await call("DeleteRepo", { id: repos[1]! });
      assert.equal(await count(parentId), "2");
      assert.equal(await count(await addGroup(server, parentId, "empty")), undefined);
      assert.equal(
        (await call("GetManifestDigestCount", { parentId: `${parentId}/${"f".repeat(16)}` })).code,
        "NOT_FOUND",
      );
      const stored = await push("gone", "1.0", image({ User: "gone" }));
      assert.equal(await count(stored), "1");
    });

    it("an image for which nothing may be done by the caller is the same whether it exists or not", async () => {
      const { server } = listening;
      const [own, sibling] = [await addGroup(server, server.groupUid), await addGroup(server, server.groupUid)];
      const repoId = (await call("CreateRepo", { parentId: sibling, repo: { name: "secret" } })).id;
      await call("CreateTag", { repoId, tag: { name: "1.0", digest: digestOf("a") } });
      await upload(repoId, digestOf("a"), cycloneDx([purlOf("a")]));
      const stranger = await addGroup(server, null, "stranger");
      const tokens = [
        (await addCaller(server, own, viewerRole.uid)).token,
        (await addCaller(server, stranger, viewerRole.uid)).token,
      ];
      const uids = [repoId, `${sibling}/${"f".repeat(16)}`];
      const digests = [digestOf("a"), digestOf("b")];
      for (const token of tokens)
        for (const method of ["GetSbom", "GetRawSbom", "GetVulnReport", "GetImageConfig"]) {
          const outcomes = await Promise.all(
            uids.flatMap((uid) => digests.map((digest) => call(method, { repoId: uid, digest }, token))),
          );
          const texts = outcomes.map((outcome, i) =>
            JSON.stringify(outcome).replaceAll(uids[Math.floor(i / 2)]!, "UID"),
          );
          assert.equal(new Set(texts).size, 1, texts.join("\n"));
          assert.equal(outcomes[0].code, "PERMISSION_DENIED");
        }
    });

    it("each method needs its capabilities", async () => {
      const { server } = listening;
      const { CAP_REPO_LIST, CAP_TENANT_SBOMS_LIST, CAP_TENANT_VULN_REPORTS_LIST, CAP_MANIFEST_METADATA_LIST } =
        Capability;
      const parentId = await addGroup(server, server.groupUid, "capabilities");
      const repoId = (await call("CreateRepo", { parentId, repo: { name: "shop" } })).id;
      const needed = {
        GetSbom: [CAP_REPO_LIST, CAP_TENANT_SBOMS_LIST, CAP_MANIFEST_METADATA_LIST],
        GetRawSbom: [CAP_REPO_LIST, CAP_TENANT_SBOMS_LIST],
        GetVulnReport: [CAP_REPO_LIST, CAP_TENANT_VULN_REPORTS_LIST],
        GetImageConfig: [CAP_REPO_LIST, CAP_MANIFEST_METADATA_LIST],
        ListManifestMetadata: [CAP_MANIFEST_METADATA_LIST],
        GetManifestDigestCount: [CAP_MANIFEST_METADATA_LIST],
      };
      const all = [CAP_REPO_LIST, CAP_TENANT_SBOMS_LIST, CAP_TENANT_VULN_REPORTS_LIST, CAP_MANIFEST_METADATA_LIST];
      const digest = digestOf("a");
      for (const [method, capabilities] of Object.entries(needed)) {
        const request =
          method === "GetManifestDigestCount"
            ? { parentId: repoId }
            : method === "ListManifestMetadata"
              ? { repoId, items: [{ imageDigest: digest }] }
              : { repoId, digest };
        const tokenWith = async (some: readonly number[]) =>
          (await addCaller(server, parentId, await addRole(server, parentId, some))).token;
        for (const missing of capabilities) {
          const token = await tokenWith(all.filter((capability) => capability !== missing));
          assert.equal((await call(method, request, token)).code, "PERMISSION_DENIED", method);
        }
        const expected = method === "GetManifestDigestCount" ? "OK" : "NOT_FOUND";
        assert.equal((await call(method, request, await tokenWith(capabilities))).code, expected, method);
      }
    });

    it("a digest that was deleted is not found, although its contents are not swept yet", async () => {
      const digest = image({ User: "deleted" });
      const repoId = await push("deleted", "1.0", digest);
      await upload(repoId, digest, cycloneDx([purlOf("a")]));
      assert.equal((await call("GetImageConfig", { repoId, digest })).code, "OK");
      const event = { mediaType: manifestType, repository: nameOf("deleted"), digest };
      const { distribution } = listening;
      await distribution({ id: digest, timestamp: "2026-01-02T00:00:00Z", action: "delete", target: event, actor: {} });
      for (const method of ["GetSbom", "GetVulnReport", "GetImageConfig"])
        assert.equal((await call(method, { repoId, digest })).code, "NOT_FOUND", method);
      assert.equal((await call("GetManifestDigestCount", { parentId: repoId })).count, undefined);
    });
  });
}
