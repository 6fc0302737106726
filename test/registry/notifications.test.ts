import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { writeEvent } from "../../src/registry/mirror.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addGroup, arrange } from "../security/tree.ts";
import { type OutsideRegistry, startOutsideRegistry } from "./outside-registry.ts";
import { basic } from "./sign-in.ts";

const secret = "only for this test, and long enough";
const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const manifestType = "application/vnd.oci.image.manifest.v1+json";

after(stopPostgres);

for (const database of ["sqlite", "postgres"] as const) {
  describe(`notifications of a registry on ${database}`, () => {
    let server: TestServer;
    let registry: OutsideRegistry;
    before(async () => {
      registry = await startOutsideRegistry();
      const settings = { registryUrl: registry.url, registryNotificationSecret: secret };
      server = await startTestServer({ database, settings });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    });

    async function send(body: unknown, headers: Record<string, string> = {}) {
      const reply = await fetch(`${server.url}/registry/notifications`, {
        method: "POST",
        headers: {
          "content-type": "application/vnd.docker.distribution.events.v1+json",
          authorization: `Bearer ${secret}`,
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
    }
    const event = (action: string, target: object) => ({
      ...{ id: randomUUID(), timestamp: "2026-01-01T00:00:00Z", action, target, actor: { name: "somebody" } },
    });
    const push = (name: string, tag: string | undefined, digest: string) =>
      event("push", { mediaType: manifestType, repository: `${server.groupUid}/${name}`, digest, tag });
    const distribution = (...events: object[]) => send({ events });

    const get = async (path: string) => (await rest(server.url, server.ownerToken, "GET", path)).body;
    async function repoOf(name: string, group = server.groupUid): Promise<string | undefined> {
      const { repos } = await get(`/registry/v2beta1/repos?name=${name}&uidp.children_of=${group}`);
      return repos[0]?.uid;
    }
    async function tagsOf(name: string): Promise<Record<string, string>> {
      const all = "includeReferrers=true&includeDates=true&includeEpochs=true&orderBy=name";
      const { tags } = await get(`/registry/v2beta1/tags?uidp.children_of=${await repoOf(name)}&${all}`);
      return Object.fromEntries(tags.map((tag: { name: string; digest: string }) => [tag.name, tag.digest]));
    }
    const about = async (name: string, digest: string, what: string) =>
      await get(`/registry/v2beta1/repos/${await repoOf(name)}/digests/${digest}/${what}`);

    it("a push makes repo, tag and image, with what its manifest says", async () => {
      const { digest, size } = registry.putImage("arm64");
      assert.deepEqual(await distribution(push("nginx", "1.0", digest)), {
        status: 200,
        body: { written: 1, repeated: 0, ignored: 0 },
      });
      assert.deepEqual(await tagsOf("nginx"), { "1.0": digest });
      assert.deepEqual(await about("nginx", digest, "architectures"), { architectures: ["arm64"] });
      const found = await about("nginx", digest, "size?architecture=arm64");
      assert.deepEqual(found, { size: String(size), architecture: "arm64" });
    });

    it("an index is for the architectures of its images, Linux first, without attestations", async () => {
      const [amd64, other, arm] = [
        registry.putImage("amd64"),
        registry.putImage("amd64", "x"),
        registry.putImage("arm"),
      ];
      const digest = registry.putIndex(
        { digest: other.digest, platform: { architecture: "amd64", os: "windows" } },
        { digest: amd64.digest, platform: { architecture: "amd64", os: "linux" } },
        { digest: arm.digest, platform: { architecture: "arm", os: "linux", variant: "v7" } },
        { digest: digestOf("e"), platform: { architecture: "unknown", os: "unknown" } },
      );
      await distribution(push("multi", "latest", digest));
      assert.deepEqual(await about("multi", digest, "architectures"), { architectures: ["amd64", "arm/v7"] });
      assert.equal((await about("multi", digest, "size")).size, String(amd64.size));
    });

    it("the registry is asked with a token for this repository", async () => {
      const { digest } = registry.putImage("amd64", "asked");
      await distribution(push("asked", "1.0", digest));
      const [, claims = ""] = (registry.authorization() ?? "").replace("Bearer ", "").split(".");
      const { access, sub } = JSON.parse(Buffer.from(claims, "base64url").toString());
      assert.equal(sub, "gatehouse");
      assert.deepEqual(access, [{ type: "repository", name: `${server.groupUid}/asked`, actions: ["pull"] }]);
    });

    it("an event that comes again changes nothing, and nobody is asked", async () => {
      const { digest } = registry.putImage("amd64", "again");
      const again = push("again", "1.0", digest);
      await distribution(again);
      const [asked, before] = [registry.requests.length, await get(`/registry/v2beta1/repos/${await repoOf("again")}`)];
      await rest(server.url, server.ownerToken, "DELETE", `/registry/v2beta1/repos/${before.uid}`);
      assert.deepEqual((await distribution(again)).body, { written: 0, repeated: 1, ignored: 0 });
      assert.equal(await repoOf("again"), undefined);
      assert.equal(registry.requests.length, asked);
    });

    it("an event that comes twice at once is written once", async () => {
      const twice = push("twice", "1.0", digestOf("a"));
      const replies = await Promise.all(Array.from({ length: 8 }, () => distribution(twice)));
      assert.equal(replies.filter(({ body }) => body.written === 1).length, 1);
      assert.equal(replies.filter(({ body }) => body.repeated === 1).length, 7);
    });

    it("pushes at once into a repo that is not there make one repo, with all of their tags", async () => {
      const names = Array.from({ length: 8 }, (_, i) => `1.${i}`);
      await Promise.all(names.map((tag) => distribution(push("crowd", tag, digestOf("b")))));
      assert.deepEqual(Object.keys(await tagsOf("crowd")), names);
    });

    it("a deletion of a digest takes all of its tags and what is known of it, and no other tag", async () => {
      const [gone, kept] = [registry.putImage("amd64", "gone").digest, registry.putImage("amd64", "kept").digest];
      await distribution(push("del", "a", gone), push("del", "b", gone), push("del", "c", kept));
      const repository = `${server.groupUid}/del`;
      // docker-registry 2.8 tells of one deletion twice: of the digest, and of the tag.
      await distribution(event("delete", { digest: gone, repository }), event("delete", { tag: "a", repository }));
      assert.deepEqual(await tagsOf("del"), { c: kept });
      assert.equal((await about("del", gone, "architectures")).code, 5);
      assert.deepEqual(await about("del", kept, "architectures"), { architectures: ["amd64"] });
    });

    it("a deletion of a tag takes that tag", async () => {
      await distribution(push("untag", "a", digestOf("a")), push("untag", "b", digestOf("a")));
      await distribution(event("delete", { tag: "a", repository: `${server.groupUid}/untag` }));
      assert.deepEqual(await tagsOf("untag"), { b: digestOf("a") });
    });

    it("a tag that is pushed again moves, and the change log has both digests", async () => {
      await distribution(push("moved", "latest", digestOf("a")), push("moved", "latest", digestOf("b")));
      assert.deepEqual(await tagsOf("moved"), { latest: digestOf("b") });
    });

    it("in one notification the last word counts", async () => {
      const repository = `${server.groupUid}/order`;
      await distribution(
        push("order", "latest", digestOf("a")),
        event("delete", { tag: "latest", repository }),
        push("order", "latest", digestOf("c")),
      );
      assert.deepEqual(await tagsOf("order"), { latest: digestOf("c") });
    });

    it("what is no image has tags, and no architectures", async () => {
      const config = { mediaType: "application/vnd.cncf.helm.config.v1+json", digest: digestOf("1"), size: 1 };
      const digest = registry.put({ schemaVersion: 2, mediaType: manifestType, config, layers: [] });
      await distribution(push("chart", "0.1.0", digest));
      assert.deepEqual(await tagsOf("chart"), { "0.1.0": digest });
      assert.equal((await about("chart", digest, "architectures")).code, 5);
    });

    const interceptors: Readonly<Record<string, OutsideRegistry["intercept"]>> = {
      "has another digest": (_request, response) => {
        response.end("{}");
        return true;
      },
      "is not to be had": (_request, response) => {
        response.writeHead(500).end();
        return true;
      },
      "never comes": () => true,
    };
    for (const [what, intercept] of Object.entries(interceptors)) {
      it(`a manifest that ${what} leaves the tag without an image`, async () => {
        const name = `odd-${what.replaceAll(" ", "-")}`;
        const { digest } = registry.putImage("amd64", name);
        registry.intercept = intercept;
        const { status } = await distribution(push(name, "1.0", digest));
        registry.intercept = () => false;
        assert.equal(status, 200);
        assert.deepEqual(await tagsOf(name), { "1.0": digest });
        assert.equal((await about(name, digest, "architectures")).code, 5);
      });
    }

    for (const [what, events] of [
      [
        "a pull",
        (r: string) => [event("pull", { mediaType: manifestType, repository: r, digest: digestOf("a"), tag: "x" })],
      ],
      [
        "a layer",
        (r: string) => [event("push", { mediaType: "application/octet-stream", repository: r, digest: digestOf("a") })],
      ],
      [
        "a name that no repository has",
        () => [event("push", { repository: "../..", tag: "x", digest: digestOf("a") })],
      ],
      [
        "a tag that no registry has",
        (r: string) => [event("push", { repository: r, tag: "a/b", digest: digestOf("a") })],
      ],
      ["a digest of another kind", (r: string) => [event("push", { repository: r, tag: "x", digest: "sha512:0" })]],
      ["a mount", (r: string) => [event("mount", { repository: r, digest: digestOf("a") })]],
      ["nothing", () => []],
      ["what is no object", () => [null, 1, "x", []]],
    ] as const) {
      it(`${what} is taken, and nothing comes of it: to refuse it would block the queue`, async () => {
        const before = (await get("/registry/v2beta1/tags")).totalCount;
        const { status, body } = await send({ events: events(`${server.groupUid}/none`) });
        assert.deepEqual([status, body.written], [200, 0]);
        assert.equal((await get("/registry/v2beta1/tags")).totalCount, before);
      });
    }

    it("a repository of no organization is taken, and nothing comes of it", async () => {
      const target = { repository: "library/nginx", tag: "1.0", digest: digestOf("a"), mediaType: manifestType };
      assert.deepEqual((await distribution(event("push", target))).body, { written: 0, repeated: 0, ignored: 1 });
    });

    it("a group that is not there is created only below the group of the registry", async () => {
      const repository = `${server.groupUid}/new/deep/app`;
      const target = { repository, tag: "1.0", digest: digestOf("a"), mediaType: manifestType };
      assert.equal((await distribution(event("push", target))).body.ignored, 1);
      const parent = await addGroup(server, server.groupUid, "registry");
      const told = {
        id: "1",
        action: "push" as const,
        tag: "1.0",
        digest: digestOf("a"),
        actor: "",
        repository: "new/deep/app",
      };
      const rules = { registryGroup: parent, maxDepth: 32 };
      const write = () => arrange(server, (tx) => writeEvent(tx, told, undefined, rules));
      assert.deepEqual(await Promise.all([write(), write(), write()]), [true, true, true]);
      const { groups } = await get(`/iam/v2beta1/groups?uidp.descendants_of=${parent}&orderBy=name`);
      assert.deepEqual(
        groups.map(({ name }: { name: string }) => name),
        ["deep", "new"],
      );
      assert.notEqual(await repoOf("app", groups[0].uid), undefined);
      assert.equal(await arrange(server, (tx) => writeEvent(tx, told, undefined, { ...rules, maxDepth: 4 })), false);
    });

    const harbor = (type: string, name: string, resource: object) => ({
      ...{ type, occur_at: Date.now(), operator: "admin" },
      event_data: {
        resources: [resource],
        repository: {
          name,
          namespace: server.groupUid,
          repo_full_name: `${server.groupUid}/${name}`,
          repo_type: "private",
        },
      },
    });
    const cloud = (type: string, data: object) => ({
      ...{ specversion: "1.0", id: randomUUID(), source: "zotregistry.dev", type, data },
    });
    const zot = (name: string, reference: string, digest: string) => ({
      ...{ name: `${server.groupUid}/${name}`, reference, digest, mediaType: manifestType },
    });

    it("Harbor tells of a push and of a deletion", async () => {
      const [a, b] = [digestOf("a"), digestOf("b")];
      const pushed = harbor("PUSH_ARTIFACT", "harbor", { digest: a, tag: "1.0", resource_url: "http://127.0.0.1:1/" });
      assert.equal((await send(pushed)).body.written, 1);
      assert.equal((await send(pushed)).body.repeated, 1);
      await send(harbor("PUSH_ARTIFACT", "harbor", { digest: b, tag: b }));
      const { resources, repository } = pushed.event_data;
      await send(cloud("harbor.artifact.pushed", { resources: [{ ...resources[0], tag: "2.0" }], repository }));
      assert.deepEqual(await tagsOf("harbor"), { "1.0": a, "2.0": a });
      await send(harbor("DELETE_ARTIFACT", "harbor", { digest: a, tag: "1.0" }));
      assert.deepEqual(await tagsOf("harbor"), {});
      assert.deepEqual((await send(harbor("SCANNING_COMPLETED", "harbor", { digest: a }))).body.written, 0);
    });

    it("zot tells of a push and of a deletion, in both modes of CloudEvents", async () => {
      const [a, b] = [digestOf("a"), digestOf("b")];
      await send(cloud("zotregistry.image.updated", zot("zot", "1.0", a)), {
        "content-type": "application/cloudevents+json",
      });
      const binary = { "ce-specversion": "1.0", "ce-id": "7", "ce-source": "zot", "content-type": "application/json" };
      const headers = { ...binary, "ce-type": "org.example.image.updated" };
      assert.equal((await send(zot("zot", "2.0", b), headers)).body.written, 1);
      assert.equal((await send(zot("zot", "2.0", b), headers)).body.repeated, 1);
      await send([cloud("zotregistry.image.updated", zot("zot", "3.0", b))]);
      assert.deepEqual(await tagsOf("zot"), { "1.0": a, "2.0": b, "3.0": b });
      await send(cloud("zotregistry.image.deleted", zot("zot", "3.0", b)));
      assert.deepEqual(await tagsOf("zot"), { "1.0": a, "2.0": b });
      await send(cloud("zotregistry.image.deleted", zot("zot", b, b)));
      assert.deepEqual(await tagsOf("zot"), { "1.0": a });
      assert.equal((await send(cloud("zotregistry.image.lint_failed", zot("zot", "x", a)))).body.written, 0);
    });

    it("Azure tells of a push, bare and wrapped", async () => {
      await send(push("azure", "1.0", digestOf("a")));
      await send([{ id: "x", eventType: "ImagePushed", data: push("azure", "2.0", digestOf("a")) }]);
      assert.deepEqual(Object.keys(await tagsOf("azure")), ["1.0", "2.0"]);
    });

    for (const [what, body] of [
      ["what is not JSON", "x"],
      ["an object of no known shape", "{}"],
      ["a text", '"x"'],
      [
        "more events than a notification has",
        JSON.stringify({ events: Array(1001).fill(event("push", { tag: "x" })) }),
      ],
    ] as const) {
      it(`${what} is 400`, async () => {
        const { status, body: answer } = await send(body);
        assert.deepEqual([status, answer.code], [400, 3]);
      });
    }

    it("takes the secret as the password of Basic credentials, too", async () => {
      assert.equal((await send({ events: [] }, basic("registry", secret))).status, 200);
    });
  });
}

describe("notifications without a secret in the configuration", () => {
  it("are not taken", async () => {
    await using server = await startTestServer();
    const reply = await rest(server.url, "", "POST", "/registry/notifications", { events: [] });
    assert.equal(reply.status, 404);
  });
});
