import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { writeEvent } from "../../src/registry-notifications/apply-notification.ts";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addGroup, arrange } from "../security/tree.ts";
import { digestOf, event, type Listening, manifestType, startListening } from "./listening.ts";
import type { OutsideRegistry } from "./outside-registry.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`notifications of a registry on ${database}`, () => {
    let listening: Listening;
    let server: TestServer;
    let registry: OutsideRegistry;
    before(async () => {
      listening = await startListening(database);
      ({ server, registry } = listening);
    });
    after(() => listening[Symbol.asyncDispose]());
    const distribution: Listening["distribution"] = (...events) => listening.distribution(...events);
    const push: Listening["push"] = (...args) => listening.push(...args);
    const get: Listening["get"] = (path) => listening.get(path);
    const repoOf: Listening["repoOf"] = (...args) => listening.repoOf(...args);
    const tagsOf: Listening["tagsOf"] = (name) => listening.tagsOf(name);
    const about: Listening["about"] = (...args) => listening.about(...args);

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

    it("has the registry as the actor of its changes, with the name that it claims as a detail", async () => {
      const { digest } = registry.putImage("amd64", "claimed");
      const told = { ...push("claimed", "1.0", digest), actor: { name: server.ownerUid } };
      assert.equal((await distribution(told)).body.written, 1);
      const query = new URLSearchParams({ parent: server.groupUid, resource_uid: (await repoOf("claimed"))! });
      const { changes } = await get(`/gatehouse/changes/v1/changes?${query}`);
      assert.ok(changes.length > 0);
      for (const { actorUid, actorClaims } of changes) {
        assert.equal(actorUid, undefined);
        assert.deepEqual(actorClaims, { registry: "registry.gatehouse.internal", name: server.ownerUid });
      }
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
      const changes = await readChanges(server.server.database.session, 0, 1000);
      const { uid } = (await get(`/registry/v2beta1/tags?uidp.children_of=${await repoOf("moved")}`)).tags[0];
      const digests = changes
        .filter((change) => change.uid === uid)
        .map(({ before, after }) => [before, after].map((row) => (row as { digest: string } | null)?.digest));
      assert.deepEqual(digests, [
        [undefined, digestOf("a")],
        [digestOf("a"), digestOf("b")],
      ]);
    });

    it("the last event of one notification counts", async () => {
      const repository = `${server.groupUid}/order`;
      await distribution(
        push("order", "latest", digestOf("a")),
        event("delete", { tag: "latest", repository }),
        push("order", "latest", digestOf("c")),
      );
      assert.deepEqual(await tagsOf("order"), { latest: digestOf("c") });
    });

    it("a value that is not an image has tags, and no architectures", async () => {
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
      ["a value that is not an object", () => [null, 1, "x", []]],
    ] as const) {
      it(`a notification of ${what} is accepted and ignored, because an error would block the queue of the registry`, async () => {
        const before = (await get("/registry/v2beta1/tags")).totalCount;
        const { status, body } = await listening.send({ events: events(`${server.groupUid}/none`) });
        assert.deepEqual([status, body.written], [200, 0]);
        assert.equal((await get("/registry/v2beta1/tags")).totalCount, before);
      });
    }

    it("a deletion in a repo that does not exist changes nothing, and counts as written because its name belongs to a group", async () => {
      const target = { repository: `${server.groupUid}/never-pushed`, digest: digestOf("d") };
      const sent = await distribution(event("delete", target));
      assert.deepEqual(sent.body, { written: 1, repeated: 0, ignored: 0 });
      assert.equal(await repoOf("never-pushed"), undefined);
    });

    it("a notification of a repository outside of all organizations is accepted and ignored", async () => {
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
        registry: "distribution" as const,
        tag: "1.0",
        digest: digestOf("a"),
        actor: "",
        time: undefined,
        hasCoarseTime: false,
        address: "",
        userAgent: "",
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
  });
}

describe("notifications without a secret in the configuration", () => {
  it("notifications without a configured secret are rejected", async () => {
    await using server = await startTestServer();
    const reply = await rest(server.url, "", "POST", "/registry/notifications", { events: [] });
    assert.equal(reply.status, 404);
  });
});
