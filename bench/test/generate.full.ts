import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import { depthOf, isBelow } from "../../src/model/uid.ts";
import { collections } from "../../src/services/resources.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { findRow } from "../../src/storage/collection/rows.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { readCounter } from "../../src/storage/engine/counters.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { readSetting } from "../../src/storage/engine/settings.ts";
import { groupCollection } from "../../src/storage/iam/collections.ts";
import { generate, landmarksFile } from "../generate.ts";
import { type Landmarks, populate } from "../population.ts";

const options = { groups: 1000, seed: "test" };

describe("generated data", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-generate-"));
  let landmarks: Landmarks;
  let database: Database;

  before(async () => {
    landmarks = await generate(folder, options, () => {});
    database = await openDatabase(path.join(folder, "gatehouse.db"), defaultDatabaseLimits);
  });
  after(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("has the entries and counters of its rows", async () => {
    const { findings, rows } = await checkDatabase(database.session, collections);
    assert.deepEqual(findings, []);
    assert.ok(rows > 1200, `${rows} rows: groups, identities and bindings`);
  });

  it("has the requested number of groups below the organization", async () => {
    assert.equal(await readCounter(database.session, landmarks.groupUid, "groups"), options.groups);
    assert.equal(await readCounter(database.session, landmarks.teamUid, "groups"), landmarks.teamSize);
    assert.equal(await readCounter(database.session, landmarks.emptyUid, "groups"), 0);
  });

  it("has all indexes of the migrations", async () => {
    const pristine = await openDatabase(path.join(folder, "empty.db"), defaultDatabaseLimits);
    await pristine.close();
    const [filled, empty] = ["gatehouse.db", "empty.db"].map((name) => indexesOf(folder, name));
    assert.deepEqual(filled, empty);
  });

  it("has its landmarks at the stored uids", async () => {
    for (const uid of [...landmarks.sampleUids, landmarks.deepUid, landmarks.emptyUid]) {
      assert.ok(isBelow(uid, landmarks.groupUid));
      assert.equal((await findRow(database.session, groupCollection, uid))?.uid, uid);
    }
    assert.equal(depthOf(landmarks.deepUid), 8);
    assert.deepEqual(JSON.parse(readFileSync(landmarksFile(folder), "utf8")), landmarks);
  });

  it("is recognised as that of a development server", async () => {
    const { groupUid, ownerUid } = landmarks;
    const stored = await readSetting(database.session, "sample_organization");
    assert.deepEqual(JSON.parse(stored ?? ""), { groupUid, ownerUid });
  });
});

describe("the population", () => {
  it("is the same for the same seed", () => {
    assert.deepEqual([...populate(options)], [...populate(options)]);
  });

  it("differs for another seed", () => {
    assert.notDeepEqual([...populate(options)].at(-1), [...populate({ ...options, seed: "other" })].at(-1));
  });
});

function indexesOf(folder: string, name: string): unknown {
  const connection = new BetterSqlite(path.join(folder, name), { readonly: true });
  try {
    return connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name").all();
  } finally {
    connection.close();
  }
}
