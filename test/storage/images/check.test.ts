// The check of the tables of images finds rows that belong to nothing and numbers that disagree, and the repair deletes or queues them.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { sweepOrphans } from "../../../src/services/registry/contents/sweep-contents.ts";
import { writePackages } from "../../../src/services/registry/contents/write-packages.ts";
import { checkDatabase, repairDatabase } from "../../../src/storage/check/check-database.ts";
import { insertRow } from "../../../src/storage/collection/rows.ts";
import { putFinding } from "../../../src/storage/images/findings.ts";
import { Contents, findImageNumbers, setContents } from "../../../src/storage/images/images.ts";
import { addImagePackages, openPackages } from "../../../src/storage/images/packages.ts";
import { queueImage } from "../../../src/storage/images/queue.ts";
import { removeGoneImages } from "../../../src/storage/images/removal.ts";
import { putSbomRow, SbomSource } from "../../../src/storage/images/sboms.ts";
import { storeImageUses } from "../../../src/storage/registry/image-uses.ts";
import { storeImage } from "../../../src/storage/registry/manifests.ts";
import { repoCollection } from "../../../src/storage/registry/rows.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { groupRow, groups, repoRow, write } from "../fixtures.ts";
import { openPostgresStore, openSqliteStore, type Store } from "../stores.ts";

after(stopPostgres);

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const [index, platform] = [digestOf("a"), digestOf("b")] as const;

const tables = [
  "images",
  "image_children",
  "image_packages",
  "image_sboms",
  "image_queue",
  "image_uses",
  "packages",
  "package_keys",
  "package_findings",
];

/** Returns a store with a repo whose image has a row in each table. */
async function arrange(database: "sqlite" | "postgres") {
  const store = await { sqlite: openSqliteStore, postgres: openPostgresStore }[database]();
  const group = groupRow(null, 0);
  const repo = repoRow(group.uid, 1);
  const no = await write(store.database, async (tx) => {
    await insertRow(tx, groups, group);
    await insertRow(tx, repoCollection, repo);
    await storeImage(tx, repo.uid, index, { platforms: [{ architecture: "amd64", size: 1 }], children: [platform] });
    const image = (await findImageNumbers(tx, repo.uid, [platform])).get(platform)!;
    const wanted = ["a", "b"].map((name, i) => ({ purl: `pkg:npm/${name}@1.0.0`, keys: [i + 1] }));
    const packages = [...(await openPackages(tx, group.uid, wanted)).values()];
    await addImagePackages(tx, image, SbomSource.upload, packages);
    const read = { format: "", tool: "", size: 1, signed: false, packages: 2, reasons: [], error: "", mediaType: "" };
    const named = { image, name: `upload:${digestOf("c")}`, source: SbomSource.upload, digest: digestOf("c") };
    await putSbomRow(tx, { ...named, ...read, content: "", createTime: 1 });
    await setContents(tx, image, Contents.complete);
    const about = { package: packages[0]!, advisoryUid: `${group.uid}/${"1".repeat(16)}`, groupUid: group.uid };
    const stated = { status: 1, vulnerability: "CVE-1", fixedVersions: [], uncertain: false, justification: "" };
    await putFinding(tx, { ...about, ...stated, firstKnownTime: 1 });
    const use = { repoUid: repo.uid, digest: platform, tag: "", hour: 1, actor: "", kind: 0, count: 1 };
    await storeImageUses(tx, [use]);
    await queueImage(tx, (await findImageNumbers(tx, repo.uid, [index])).get(index)!, 1);
    return image;
  });
  return { store, no, repoUid: repo.uid, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

const collections = [groups, repoCollection];

async function findingsIn({ database }: Store): Promise<readonly string[]> {
  return (await database.read((session) => checkDatabase(session, collections))).findings;
}

const repair = ({ database }: Store) => write(database, (tx) => repairDatabase(tx, collections));

async function rowsIn({ tamper }: Store): Promise<Record<string, number>> {
  const counts: [string, number][] = [];
  for (const table of tables)
    counts.push([table, Number((await tamper(`SELECT count(*) AS rows FROM ${table}`))[0]?.rows)]);
  return Object.fromEntries(counts.filter(([, rows]) => rows > 0));
}

/** Deletes a repo as the release before images does: without the rows about them. */
async function deleteAsEarlierRelease({ tamper }: Store, repoUid: string): Promise<void> {
  for (const table of ["manifests", "readmes"]) await tamper(`DELETE FROM ${table} WHERE repo_uid = '${repoUid}'`);
  await tamper("DELETE FROM repo_entries");
  await tamper("DELETE FROM counters WHERE kind = 'repos'");
  await tamper(`DELETE FROM repos WHERE uid = '${repoUid}'`);
}

/** Rows that belong to nothing. */
const strays: readonly (readonly [insert: string, finding: string])[] = [
  [
    "INSERT INTO image_children (parent, child) VALUES (999, 999)",
    "image_children.parent: the row with the number 999",
  ],
  [
    "INSERT INTO image_packages (image, package, sources) VALUES (999, 999, 1)",
    "image_packages.image: the row with the number 999",
  ],
  [
    "INSERT INTO image_queue (image, due_time, attempts, error) VALUES (999, 1, 0, '')",
    "image_queue.image: the row with the number 999",
  ],
  [
    "INSERT INTO image_uses (image, hour, actor, kind, count) VALUES (999, 1, '', 0, 1)",
    "image_uses.image: the row with the number 999",
  ],
  ["UPDATE image_sboms SET image = 999", "image_sboms.image: the row with the number 999"],
  ["INSERT INTO package_keys (key, package) VALUES (1, 999)", "package_keys.package: the row with the number 999"],
  ["UPDATE package_findings SET package = 999", "package_findings.package: the row with the number 999"],
];

for (const database of databases) {
  describe(`the check of images on ${database}`, () => {
    it("finds nothing in consistent tables, and the repair changes nothing", async () => {
      await using at = await arrange(database);
      const before = await rowsIn(at.store);
      assert.deepEqual(Object.keys(before), tables);
      assert.deepEqual(await findingsIn(at.store), []);
      assert.equal(await repair(at.store), 0);
      assert.deepEqual(await rowsIn(at.store), before);
    });

    for (const [insert, finding] of strays)
      it(`finds and deletes a row that belongs to nothing: ${finding}`, async () => {
        await using at = await arrange(database);
        await at.store.tamper(insert);
        assert.ok((await findingsIn(at.store)).includes(`${finding} does not exist`), finding);
        assert.ok((await repair(at.store)) > 0);
        assert.deepEqual(await findingsIn(at.store), []);
      });

    const wrong: readonly (readonly [change: string, finding: RegExp])[] = [
      [
        "DELETE FROM image_packages WHERE package = (SELECT min(no) FROM packages)",
        /1 packages are stored, but its SBOMs name 2$/,
      ],
      ["UPDATE image_sboms SET packages = 1", /2 packages are stored, but its SBOMs name 1$/],
      ["UPDATE images SET contents = 0", /its state is not that of its 1 SBOMs$/],
      ["DELETE FROM image_sboms", /2 packages are stored, but its SBOMs name 0$/],
    ];
    for (const [change, finding] of wrong)
      it(`finds that the packages of an image disagree with its SBOMs, and lets it be read again: ${change}`, async () => {
        await using at = await arrange(database);
        await at.store.tamper(change);
        const [first, ...others] = await findingsIn(at.store);
        assert.match(first ?? "", finding);
        assert.ok(first!.startsWith(`images ${platform} of ${at.repoUid}: `));
        assert.deepEqual(others, []);
        assert.equal(await repair(at.store), 1);
        assert.deepEqual(await findingsIn(at.store), []);
        const queued = await at.store.tamper(`SELECT image FROM image_queue WHERE image = ${at.no}`);
        assert.equal(queued.length, 1);
      });

    it("finds and deletes the images of a repo that an earlier release deleted", async () => {
      await using at = await arrange(database);
      await deleteAsEarlierRelease(at.store, at.repoUid);
      assert.deepEqual(
        (await findingsIn(at.store)).toSorted(),
        [index, platform].map((digest) => `images ${digest} of ${at.repoUid}: the repo does not exist`),
      );
      assert.equal(await repair(at.store), 2);
      assert.deepEqual(await findingsIn(at.store), []);
      assert.deepEqual(await rowsIn(at.store), {});
    });

    it("the sweep deletes the images of a repo that an earlier release deleted, with all that belongs to them", async () => {
      await using at = await arrange(database);
      await deleteAsEarlierRelease(at.store, at.repoUid);
      const newContext = () => ({ actor: "", method: "sweep", requestId: "", time: 1, isBulk: true });
      await sweepOrphans(at.store.database, newContext, { image: 0, package: 0 });
      assert.deepEqual(await rowsIn(at.store), {});
      assert.deepEqual(await findingsIn(at.store), []);
    });

    it("packages of an image that was deleted while it was read are not written", async () => {
      await using at = await arrange(database);
      const before = await rowsIn(at.store);
      const newContext = () => ({ actor: "", method: "images", requestId: "", time: 1, isBulk: true });
      const packages = new Map([["pkg:npm/late@1.0.0", SbomSource.referrer]]);
      const gone = { no: 999, repoUid: at.repoUid };
      await writePackages(at.store.database, newContext, gone, { kinds: SbomSource.referrer, packages });
      assert.deepEqual(await rowsIn(at.store), before);
    });

    it("images that are deleted but not swept yet are in order", async () => {
      await using at = await arrange(database);
      await at.store.tamper("UPDATE images SET gone_time = 1");
      await deleteAsEarlierRelease(at.store, at.repoUid);
      assert.deepEqual(await findingsIn(at.store), []);
      while (!(await write(at.store.database, (tx) => removeGoneImages(tx, 1))));
      assert.deepEqual(await rowsIn(at.store), {});
    });
  });
}
