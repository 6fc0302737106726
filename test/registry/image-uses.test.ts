// Who used which image, by the notifications of registries, and which images nobody used.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { writeSetting } from "../../src/storage/engine/settings.ts";
import { listUses } from "../../src/storage/registry/use-queries.ts";
import { and, eq, sql } from "../../src/storage/schema/drizzle.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { cycloneDx } from "../sboms/documents.ts";
import { addCaller, addGroup, addIdentity, addPerson, addRole, arrange } from "../security/tree.ts";
import { findingsOn, osv } from "./finding-harness.ts";
import { digestOf, type Listening, manifestType, startListening } from "./listening.ts";
import type { OutsideRegistry } from "./outside-registry.ts";

after(stopPostgres);

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const now = Date.now();
const hourOf = (time: number) => new Date(Math.floor(time / hourMs) * hourMs).toISOString();

/** A use as Distribution tells it. */
interface Told {
  readonly method?: string;
  readonly tag?: string;
  readonly actor?: string;
  readonly time?: number;
  readonly mediaType?: string;
  readonly count?: number;
}

for (const database of databases) {
  describe(`uses of images on ${database}`, () => {
    let listening: Listening;
    let server: TestServer;
    let registry: OutsideRegistry;
    before(async () => {
      listening = await startListening(database);
      ({ server, registry } = listening);
    });
    after(() => listening[Symbol.asyncDispose]());

    /** Sends uses of a digest, as Distribution tells them. */
    async function use(name: string, digest: string, told: Told = {}): Promise<void> {
      const { method = "GET", tag, actor = server.ownerUid, time = now, mediaType = manifestType, count = 1 } = told;
      const events = Array.from({ length: count }, () => ({
        id: randomUUID(),
        timestamp: new Date(time).toISOString(),
        action: "pull",
        target: { mediaType, repository: `${server.groupUid}/${name}`, digest, ...(tag !== undefined && { tag }) },
        request: { method, addr: "192.0.2.7", useragent: "crane/1" },
        actor: { name: actor },
      }));
      assert.equal((await listening.distribution(...events)).status, 200);
    }

    /** Pushes an image with a tag, and returns its digest. */
    async function put(name: string, tag: string): Promise<string> {
      const { digest } = registry.putImage("amd64", `${name}:${tag}`);
      await listening.distribution(listening.push(name, tag, digest));
      return digest;
    }

    const asked = async (token: string, path: string) => (await rest(server.url, token, "GET", path)).body;

    async function usesOf(name: string, query = "", token = server.ownerToken) {
      const uid = await listening.repoOf(name);
      return await asked(token, `/gatehouse/registry/v1/images/${uid}:listUses?${query}`);
    }

    /** Waits until so many different uses of a repo are stored, and returns them. Asks the database: calls of the list have a budget. */
    async function untilUses(name: string, count: number) {
      const repoUid = (await listening.repoOf(name))!;
      const { session } = server.server.database;
      await until(`${count} uses`, async () => {
        const stored = await listUses(session, { repoUid, digest: "" }, undefined, 100);
        return stored.length === count ? true : undefined;
      });
      return (await usesOf(name)).uses;
    }

    async function unused(query: string, token = server.ownerToken) {
      return await asked(token, `/gatehouse/registry/v1/unusedImages?${query}`);
    }

    /** Makes a tag so many days old. */
    async function age(name: string, tag: string, days: number): Promise<void> {
      const repoUid = (await listening.repoOf(name))!;
      await arrange(server, async (tx) => {
        const statement = tx.prepared("test.age_tag", (db, { tags }) =>
          db
            .update(tags)
            .set({ updateTime: sql`${sql.placeholder("time")}` })
            .where(and(eq(tags.parent, sql.placeholder("repoUid")), eq(tags.name, sql.placeholder("tag")))),
        );
        await statement.execute({ repoUid, tag, time: now - days * dayMs });
      });
    }

    /** Pretends that uses have been recorded, and notified by a kind of registry, for so many days. */
    async function observe(days: number, registryKind = "distribution"): Promise<void> {
      const since = now - days * dayMs;
      await arrange(server, async (tx) => {
        await writeSetting(tx, "image_uses_recording", JSON.stringify({ since, until: now }));
        await writeSetting(tx, `image_uses_first_${registryKind}`, String(since));
      });
    }

    it("a pull and a check are uses of a digest and of a tag, counted by the hour", async () => {
      const digest = await put("counted", "1.0");
      await use("counted", digest, { tag: "1.0", count: 5 });
      await use("counted", digest, { tag: "1.0", time: now - 30 * hourMs });
      await use("counted", digest, { tag: "1.0", method: "HEAD", time: now - 2 * hourMs });
      await use("counted", digest, { actor: "" });
      const uses = await untilUses("counted", 3);
      const shown = uses.map(
        ({ identity, kind, firstUseTime, lastUseTime, count, tags }: Record<string, Record<string, string>>) => [
          identity?.uid,
          kind,
          firstUseTime,
          lastUseTime,
          count,
          tags,
        ],
      );
      const pulls = [server.ownerUid, "USE_KIND_PULL", hourOf(now - 30 * hourMs), hourOf(now), "6", ["1.0"]];
      const unknown = [undefined, "USE_KIND_PULL", hourOf(now), hourOf(now), "1", ["1.0"]];
      const checked = hourOf(now - 2 * hourMs);
      assert.deepEqual(shown, [unknown, pulls, [server.ownerUid, "USE_KIND_CHECK", checked, checked, "1", ["1.0"]]]);
      const repoUid = await listening.repoOf("counted");
      const path = `/gatehouse/registry/v1/images/${repoUid}:findTagUses`;
      const { body } = await rest(server.url, server.ownerToken, "POST", path, { tags: ["1.0", "absent"] });
      assert.deepEqual(body.uses, [
        { tag: "1.0", lastPullTime: hourOf(now), lastCheckTime: checked, imageLastUseTime: hourOf(now) },
      ]);
    });

    it("reads of layers, questions about digests, and our own reads are not uses; a pull creates no repo", async () => {
      const digest = await put("idle", "1.0");
      await use("idle", digest, { mediaType: "application/octet-stream" });
      await use("idle", digest, { method: "HEAD" });
      await use("idle", digest, { tag: "1.0", actor: "gatehouse" });
      await use("absent", digestOf("a"), { tag: "1.0" });
      await use("idle", digest, { tag: "1.0", actor: "someone" });
      const [only, ...others] = await untilUses("idle", 1);
      assert.deepEqual(others, []);
      assert.equal(only.registryUser, "someone");
      assert.equal(await listening.repoOf("absent"), undefined);
    });

    it("a clock of the registry that is ahead counts as now", async () => {
      const digest = await put("ahead", "1.0");
      await use("ahead", digest, { time: now + 400 * dayMs });
      const [{ lastUseTime }] = await untilUses("ahead", 1);
      assert.ok(Date.parse(lastUseTime) <= Date.now());
    });

    it("a use of a platform is one of its index, and the reverse", async () => {
      const [amd64, arm64] = [registry.putImage("amd64", "family"), registry.putImage("arm64", "family")];
      const index = registry.putIndex(
        { ...amd64, platform: { architecture: "amd64", os: "linux" } },
        { ...arm64, platform: { architecture: "arm64", os: "linux" } },
      );
      for (const { digest } of [amd64, arm64])
        await listening.distribution(listening.push("family", undefined, digest));
      await listening.distribution(listening.push("family", "1.0", index));
      await use("family", amd64.digest);
      await untilUses("family", 1);
      const digestsOf = async (digest: string) =>
        (await usesOf("family", `digest=${digest}`)).uses.map((each: { digest: string }) => each.digest);
      assert.deepEqual(await digestsOf(index), [amd64.digest]);
      assert.deepEqual(await digestsOf(amd64.digest), [amd64.digest]);
      assert.deepEqual(await digestsOf(arm64.digest), []);
      await use("family", index, { tag: "1.0" });
      await untilUses("family", 2);
      assert.deepEqual(await digestsOf(arm64.digest), [index]);
    });

    it("Harbor names its users, and may name the digest as the tag", async () => {
      const digest = await put("harbor", "1.0");
      const told = (type: string, tag: string) => ({
        type,
        occur_at: Math.floor(now / 1000),
        operator: "robot$ci",
        event_data: {
          resources: [{ digest, tag }],
          repository: { repo_full_name: `${server.groupUid}/harbor` },
        },
      });
      await listening.send(told("PULL_ARTIFACT", digest));
      await listening.send(told("PULL_ARTIFACT", "1.0"));
      const [use, ...others] = await untilUses("harbor", 1);
      assert.deepEqual([use.registryUser, use.count, others], ["robot$ci", "2", []]);
      assert.equal(use.identity, undefined);
    });

    it("pages have every use once, the last use first", async () => {
      const digest = await put("pages", "1.0");
      for (let i = 0; i < 7; i++) await use("pages", digest, { actor: `user ${i}`, time: now - (i % 3) * hourMs });
      const all = await untilUses("pages", 7);
      const read = [];
      for (let token = "", page = 0; page === 0 || token !== ""; page++) {
        const { uses, nextPageToken } = await usesOf("pages", `pageSize=2&pageToken=${token}`);
        read.push(...uses);
        token = nextPageToken ?? "";
      }
      assert.deepEqual(read, all);
      const times = all.map(({ lastUseTime }: { lastUseTime: string }) => lastUseTime);
      assert.deepEqual(times, times.toSorted().reverse());
    });

    it("an identity is shown as in role bindings: others than the uid only with identity.list", async () => {
      const group = await addGroup(server, server.groupUid, "shown");
      const { digest } = registry.putImage("amd64", "shown");
      await listening.distribution(listening.push("shown/app", "1.0", digest));
      const machine = await addIdentity(server, server.groupUid, { name: "machine" });
      const stranger = await addPerson(server, "stranger", "stranger@example.org", undefined);
      await use("shown/app", digest, { actor: machine });
      await use("shown/app", digest, { actor: stranger });
      const reads = [Capability.CAP_REPO_LIST, Capability.CAP_MANIFEST_METADATA_LIST];
      const reader = await addCaller(server, group, await addRole(server, server.groupUid, reads));
      const uid = await listening.repoOf("app", group);
      const path = `/gatehouse/registry/v1/images/${uid}:listUses`;
      const names = async (token: string) =>
        new Map(
          (await asked(token, path)).uses.map((each: { identity: Record<string, string> }) => [
            each.identity.uid,
            each.identity.name,
          ]),
        );
      const { session } = server.server.database;
      await until("both uses", async () =>
        (await listUses(session, { repoUid: uid!, digest: "" }, undefined, 9)).length === 2 ? true : undefined,
      );
      assert.equal((await names(server.ownerToken)).get(machine), "machine");
      assert.equal((await names(reader.token)).get(machine), undefined);
      assert.equal((await names(server.ownerToken)).get(stranger), undefined);
    });

    it("an unknown digest and an unknown repo are NOT_FOUND, and a caller without the capabilities is denied", async () => {
      await put("errors", "1.0");
      assert.equal((await usesOf("errors", `digest=${digestOf("f")}`)).code, 5);
      const path = (uid: string) => `/gatehouse/registry/v1/images/${uid}:listUses`;
      assert.equal((await asked(server.ownerToken, path(`${server.groupUid}/0123456789abcdef`))).code, 5);
      const outside = await addCaller(server, await addGroup(server, null), await addRole(server, server.groupUid, []));
      assert.equal((await asked(outside.token, path((await listening.repoOf("errors"))!))).code, 7);
    });

    describe("unused images", () => {
      let used: string;
      let checked: string;
      let idle: string;
      let repoUid: string;
      before(async () => {
        [used, checked, idle] = [await put("team", "used"), await put("team", "checked"), await put("team", "idle")];
        await put("team", "fresh");
        for (const tag of ["used", "checked", "idle"]) await age("team", tag, 100);
        // Our own reads of the push, as a registry tells them.
        for (const digest of [used, checked, idle]) await use("team", digest, { actor: "gatehouse" });
        await use("team", used, { time: now - 10 * dayMs });
        await use("team", checked, { tag: "checked", method: "HEAD", time: now - 10 * dayMs });
        await use("team", idle, { tag: "idle", time: now - 95 * dayMs });
        await untilUses("team", 3);
        repoUid = (await listening.repoOf("team"))!;
        await observe(120);
      });

      const digestsIn = (list: { images: { digest: string }[] }) => list.images.map(({ digest }) => digest);

      it("have no use in the days before; a check by tag is a use, and what Gatehouse reads is not one", async () => {
        const list = await unused(`parent=${repoUid}`);
        assert.deepEqual(list.images, [
          {
            repoUid,
            digest: idle,
            tags: ["idle"],
            pushTime: list.images[0].pushTime,
            lastUseTime: hourOf(now - 95 * dayMs),
          },
        ]);
        assert.equal(list.totalCount, "1");
        assert.ok(Math.abs(Date.parse(list.coverageStartTime) - (now - 120 * dayMs)) < 1000);
        assert.deepEqual(digestsIn(await unused(`parent=${repoUid}&unusedDays=5`)), [used, checked, idle].sort());
        assert.deepEqual(digestsIn(await unused(`parent=${repoUid}&unusedDays=97`)), []);
      });

      it("are not known for a window that begins before the coverage, unless the caller accepts that", async () => {
        await observe(20);
        const refused = await unused(`parent=${repoUid}`);
        assert.equal(refused.code, 9);
        assert.match(refused.message, /uses are known since .* only; with accept_incomplete/);
        assert.deepEqual(digestsIn(await unused(`parent=${repoUid}&acceptIncomplete=true`)), [idle]);
        await observe(120);
      });

      it("are not known in a zot or Azure registry, which sends no pulls", async () => {
        const { digest } = registry.putImage("amd64", "zot");
        await listening.send({
          specversion: "1.0",
          id: randomUUID(),
          source: "zotregistry.dev",
          type: "zotregistry.image.updated",
          data: { name: `${server.groupUid}/silent`, reference: "1.0", digest, mediaType: manifestType },
        });
        const silent = await listening.repoOf("silent");
        const refused = await unused(`parent=${silent}`);
        assert.equal(refused.code, 9);
        assert.match(refused.message, /zot, which does not notify of pulls/);
        const { coverageStartTime, images } = await unused(`parent=${silent}&unusedDays=1&acceptIncomplete=true`);
        assert.deepEqual([coverageStartTime, images], [undefined, []]);
        assert.equal((await unused(`parent=${repoUid}`)).code, undefined);
        await rest(server.url, server.ownerToken, "DELETE", `/registry/v2beta1/repos/${silent}`);
      });

      it("without a tag are listed on request, and platforms of an index not", async () => {
        const [alone, child] = [registry.putImage("amd64", "alone"), registry.putImage("arm64", "child")];
        const index = registry.putIndex({ ...child, platform: { architecture: "arm64", os: "linux" } });
        const old = new Date(now - 100 * dayMs).toISOString();
        for (const digest of [alone.digest, child.digest, index]) {
          const told = { ...listening.push("untagged", undefined, digest), timestamp: old };
          await listening.distribution(told);
        }
        const uid = await listening.repoOf("untagged");
        assert.deepEqual(digestsIn(await unused(`parent=${uid}`)), []);
        assert.deepEqual(digestsIn(await unused(`parent=${uid}&untagged=true`)), [alone.digest, index].sort());
        await use("untagged", child.digest);
        await untilUses("untagged", 1);
        assert.deepEqual(digestsIn(await unused(`parent=${uid}&untagged=true`)), [alone.digest]);
      });

      it("of a sibling group or another organization change nothing for a caller", async () => {
        const group = await addGroup(server, server.groupUid, "mine");
        const { digest } = registry.putImage("amd64", "mine");
        await listening.distribution(listening.push("mine/app", "1.0", digest));
        const reads = [Capability.CAP_REPO_LIST, Capability.CAP_MANIFEST_METADATA_LIST];
        const role = await addRole(server, server.groupUid, reads);
        const caller = await addCaller(server, group, role);
        const listed = await unused("unusedDays=1&acceptIncomplete=true&untagged=true", caller.token);
        assert.deepEqual([listed.images, listed.totalCount], [[], "0"]);
        const other = await unused(`parent=${repoUid}&unusedDays=1&acceptIncomplete=true`, caller.token);
        const absent = `${server.groupUid}/0123456789abcdef`;
        const missing = await unused(`parent=${absent}&unusedDays=1&acceptIncomplete=true`, caller.token);
        assert.deepEqual(other, missing);
      });

      it("pages have every image once, and the total of all", async () => {
        const read = [];
        const query = `parent=${server.groupUid}&unusedDays=5&acceptIncomplete=true&untagged=true`;
        const all = await unused(query);
        assert.ok(all.images.length >= 4);
        for (let token = "", page = 0; page === 0 || token !== ""; page++) {
          const { images, nextPageToken, totalCount } = await unused(`${query}&pageSize=1&pageToken=${token}`);
          assert.equal(totalCount, String(all.images.length));
          read.push(...images);
          token = nextPageToken ?? "";
        }
        assert.deepEqual(read, all.images);
      });

      it("reject more days than uses are kept", async () => {
        assert.equal((await unused("unusedDays=1101")).code, 3);
        assert.equal((await unused("unusedDays=500")).code, 9);
      });
    });

    it("an affected image says who used it last, to callers who may list uses", async () => {
      const digest = await put("affected", "1.0");
      const { call, importAll } = findingsOn(server);
      const uid = (await listening.repoOf("affected"))!;
      const content = Buffer.from(JSON.stringify(cycloneDx(["pkg:npm/used@1.0.0"]))).toString("base64");
      const { status } = await call("POST", `/gatehouse/registry/v1/images/${uid}:putSbom`, { digest, content });
      assert.equal(status, 200);
      await importAll(server.groupUid, osv("USED-1", "used", "2.0.0"));
      await use("affected", digest, { tag: "1.0", time: now - 30 * hourMs, actor: "" });
      await use("affected", digest, { tag: "1.0", method: "HEAD" });
      await untilUses("affected", 2);
      const affected = (token: string) => asked(token, "/gatehouse/registry/v1/affectedImages?vulnerability=USED-1");
      const image = await until("an affected image", async () => (await affected(server.ownerToken)).images?.[0]);
      const { identity, time, kind } = image.lastUse;
      assert.deepEqual(
        [identity.uid, Date.parse(time), kind],
        [server.ownerUid, Date.parse(hourOf(now)), "USE_KIND_CHECK"],
      );
      const reads = [Capability.CAP_REPO_LIST, Capability.CAP_TENANT_VULN_REPORTS_LIST];
      const reader = await addCaller(server, server.groupUid, await addRole(server, server.groupUid, reads));
      const shown = (await affected(reader.token)).images;
      assert.deepEqual([shown.length, shown[0].lastUse], [1, undefined]);
    });

    it("a deleted digest, tag and repo have no uses", async () => {
      const digest = await put("gone", "1.0");
      await use("gone", digest, { tag: "1.0" });
      await untilUses("gone", 1);
      await listening.distribution({
        id: randomUUID(),
        timestamp: new Date(now + 1000).toISOString(),
        action: "delete",
        target: { repository: `${server.groupUid}/gone`, digest },
      });
      assert.deepEqual((await usesOf("gone")).uses, []);
      const uid = await listening.repoOf("gone");
      await rest(server.url, server.ownerToken, "DELETE", `/registry/v2beta1/repos/${uid}`);
      assert.equal((await asked(server.ownerToken, `/gatehouse/registry/v1/images/${uid}:listUses`)).code, 5);
    });
  });
}

describe("without a retention of uses", () => {
  it("no use is recorded, and the list of unused images says so", async () => {
    await using listening = await startListening("sqlite", { usesKept: "0" });
    const { server } = listening;
    await listening.distribution(listening.push("none", "1.0", digestOf("a")));
    const { code, message } = (await rest(server.url, server.ownerToken, "GET", "/gatehouse/registry/v1/unusedImages"))
      .body;
    assert.equal(code, 9);
    assert.match(message, /no uses are recorded \(--uses-kept 0\)/);
  });
});
