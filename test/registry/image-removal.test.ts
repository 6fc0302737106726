// Deleting a repo, a group or an organization leaves no row in any table of images.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { rootOf } from "../../src/model/uid.ts";
import { collections } from "../../src/services/resources.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { putFinding } from "../../src/storage/images/findings.ts";
import { findImageNumbers } from "../../src/storage/images/images.ts";
import { addImagePackages, openPackages } from "../../src/storage/images/packages.ts";
import { queueImage } from "../../src/storage/images/queue.ts";
import { removeGoneImages } from "../../src/storage/images/removal.ts";
import { putSbomRow, SbomSource } from "../../src/storage/images/sboms.ts";
import { storeImageUses } from "../../src/storage/registry/image-uses.ts";
import { storeImage } from "../../src/storage/registry/manifests.ts";
import { noteFirstUse, setRegistry } from "../../src/storage/registry/use-coverage.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addGroup, arrange, bind, ownerRole } from "../security/tree.ts";
import { imageRows } from "./image-rows.ts";

after(stopPostgres);

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const [index, platform] = [digestOf("a"), digestOf("b")] as const;

for (const database of databases) {
  describe(`deleting what has images on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    async function call(method: string, path: string, body?: object) {
      const reply = await rest(server.url, server.ownerToken, method, path, body);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      return reply.body;
    }

    /** Adds a repo with rows in each table of images. */
    async function addRepo(group: string): Promise<string> {
      const { uid } = await call("POST", `/registry/v2beta1/repos/${group}`, { name: "shop" });
      await call("POST", `/registry/v2beta1/tags/${uid}`, { name: "1.0", digest: index });
      await arrange(server, async (tx) => {
        await storeImage(tx, uid, index, { platforms: [{ architecture: "amd64", size: 1 }], children: [platform] });
        const numbers = await findImageNumbers(tx, uid, [index, platform]);
        const image = numbers.get(platform)!;
        const wanted = ["a", "b"].map((name, i) => ({ purl: `pkg:npm/${name}@1.0.0`, keys: [i + 1] }));
        const packages = [...(await openPackages(tx, rootOf(group), wanted)).values()];
        await addImagePackages(tx, image, SbomSource.referrer, packages);
        const read = { format: "", tool: "", size: 1, signed: false, packages: 2, reasons: [], error: "" };
        const named = { image, name: `referrer:${index}`, source: SbomSource.referrer, digest: index, mediaType: "" };
        await putSbomRow(tx, { ...named, ...read, content: null, createTime: 1 });
        const about = { package: packages[0]!, advisoryUid: `${group}/${"1".repeat(16)}`, groupUid: group };
        const stated = { status: 1, vulnerability: "CVE-1", fixedVersions: [], uncertain: false, justification: "" };
        await putFinding(tx, { ...about, ...stated, firstKnownTime: 1 });
        const use = { repoUid: uid, tag: "1.0", hour: 1, actor: "", kind: 0, count: 1 };
        await storeImageUses(
          tx,
          [index, platform].map((digest) => ({ ...use, digest })),
        );
        await setRegistry(tx, uid, "distribution");
        await noteFirstUse(tx, "distribution");
        // Far in the future: the server of this test does not read it.
        for (const no of numbers.values()) await queueImage(tx, no, Number.MAX_SAFE_INTEGER);
      });
      return uid;
    }

    async function leavesNothing(): Promise<void> {
      const { database: opened } = server.server;
      const context = { actor: "", method: "sweep", requestId: "", time: server.clock(), isBulk: true };
      while (!(await opened.write(context, (tx) => removeGoneImages(tx, 1))));
      assert.deepEqual(await imageRows(opened), {});
      assert.deepEqual((await opened.read((session) => checkDatabase(session, collections))).findings, []);
    }

    it("a deleted repo leaves no row", async () => {
      const uid = await addRepo(server.groupUid);
      assert.ok(Object.keys(await imageRows(server.server.database)).length > 9);
      await call("DELETE", `/registry/v2beta1/repos/${uid}`);
      await leavesNothing();
    });

    it("a group that is deleted with everything in it leaves no row", async () => {
      const group = await addGroup(server, server.groupUid, "team");
      await addRepo(group);
      await addRepo(await addGroup(server, group, "inner"));
      await call("POST", `/gatehouse/apply/v1/groups/${group}:destroySubtree`, {});
      await leavesNothing();
    });

    it("an organization that is deleted after its repos leaves no row", async () => {
      const root = await addGroup(server, null, "another");
      await bind(server, root, server.ownerUid, ownerRole.uid);
      const uid = await addRepo(root);
      const team = await addGroup(server, root, "team");
      await addRepo(team);
      await call("POST", `/gatehouse/apply/v1/groups/${team}:destroySubtree`, {});
      await call("DELETE", `/registry/v2beta1/repos/${uid}`);
      await call("DELETE", `/iam/v2beta1/groups/${root}`);
      await leavesNothing();
    });
  });
}
