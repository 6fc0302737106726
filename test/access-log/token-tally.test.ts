// How the shapes of presented tokens are counted, stored, capped and deleted, on both databases.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type PresentedToken, TokenTally } from "../../src/access-log/token-tally.ts";
import { rootOf } from "../../src/model/uid.ts";
import { deleteRow, insertRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import { countSeenTokens, listSeenTokens } from "../../src/storage/iam/seen-tokens.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { context, groupRow, groups, identities, identityRow, write } from "../storage/fixtures.ts";
import { storeOpeners } from "../storage/stores.ts";

after(stopPostgres);

const limits = {
  acceptedShapesOfIdentity: 20,
  deniedShapesOfIdentity: 5,
  shapesOfOrganization: 30,
  waitingShapes: 1000,
  waitingShapesOfOrganization: 500,
};

const minuteMs = 60_000;

/** Returns a store with identities of one organization, and functions that present tokens and store them. */
async function arrange(database: "sqlite" | "postgres", tally = new TokenTally(limits)) {
  const store = await storeOpeners[database]();
  const group = groupRow(null, 0);
  const rows = Array.from({ length: 4 }, (_, i) => identityRow(group.uid, `i${i}`));
  await write(store.database, async (tx) => {
    await insertRow(tx, groups, group);
    for (const row of rows) await insertRow(tx, identities, row);
  });
  const uids = rows.map(({ uid }) => uid);
  const present = (shape: string, time: number, token: Partial<PresentedToken> = {}) =>
    tally.record({ identityUid: uids[0]!, shape, failedCheck: "", isRegistry: false, ...token }, time);
  const flush = async (time: number, to: Pick<Database, "write"> = store.database) => {
    while (await tally.store(to, { ...context, time }));
  };
  const list = (identityUid = uids[0]!) =>
    listSeenTokens(store.database.session, { identityUid, since: 0 }, { after: undefined, skip: 0, limit: 1000 });
  return { store, uids, rows, present, flush, list, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

for (const database of databases) {
  describe(`the tally of tokens on ${database}`, () => {
    it("stores a new shape at once, and its repetitions a minute later", async () => {
      await using ground = await arrange(database);
      const { present, flush, list } = ground;
      present('{"sub":"a"}', 1000);
      await flush(1000);
      present('{"sub":"a"}', 2000);
      present('{"sub":"a"}', 3000);
      await flush(4000);
      const [first] = await list();
      assert.deepEqual([first?.count, first?.firstTime, first?.lastTime], [1, 1000, 1000]);
      await flush(1000 + minuteMs);
      const [later, ...others] = await list();
      assert.deepEqual([later?.count, later?.firstTime, later?.lastTime, others], [3, 1000, 3000, []]);
      assert.deepEqual([later?.claims, later?.failedCheck, later?.isRegistry], ['{"sub":"a"}', "", false]);
    });

    it("counts from the time at which the outcome of a shape changed, and keeps endpoints apart", async () => {
      await using ground = await arrange(database);
      const { present, flush, list } = ground;
      for (const time of [1, 2, 3]) present("{}", time);
      await flush(10);
      for (const time of [20, 21]) present("{}", time, { failedCheck: "ref" });
      await flush(30);
      present("{}", 15, { isRegistry: true });
      await flush(40);
      const found = (await list()).map(({ failedCheck, isRegistry, count, firstTime }) => [
        failedCheck,
        isRegistry,
        count,
        firstTime,
      ]);
      assert.deepEqual(found, [
        ["ref", false, 2, 20],
        ["", true, 1, 15],
      ]);
    });

    it("replaces the oldest accepted and denied shapes of an identity, each beyond their cap", async () => {
      await using ground = await arrange(database);
      const { present, flush, list } = ground;
      for (let i = 1; i <= 450; i++) present(`{"n":${i}}`, i, { failedCheck: i % 2 ? "" : "sub" });
      await flush(1000);
      const times = (isAccepted: boolean, rows: Awaited<ReturnType<typeof list>>) =>
        rows.filter(({ failedCheck }) => (failedCheck === "") === isAccepted).map(({ lastTime }) => lastTime);
      const stored = await list();
      assert.deepEqual(
        times(true, stored),
        Array.from({ length: 20 }, (_, i) => 449 - 2 * i),
      );
      assert.deepEqual(times(false, stored), [450, 448, 446, 444, 442]);
    });

    it("replaces the oldest shapes of an organization beyond its cap", async () => {
      await using ground = await arrange(database);
      const { present, flush, uids, list } = ground;
      for (const [i, identityUid] of uids.entries())
        for (let n = 1; n <= 15; n++) present(`{"n":${n}}`, 100 * i + n, { identityUid });
      await flush(1000);
      const counts = await Promise.all(uids.map(async (uid) => (await list(uid)).length));
      assert.deepEqual(counts, [0, 0, 15, 15]);
    });

    it("deletes the shapes of an identity with it, and stores none of one that does not exist", async () => {
      await using ground = await arrange(database);
      const { store, present, flush, uids, rows, list } = ground;
      present("{}", 1);
      present("{}", 1, { identityUid: `${rootOf(uids[0]!)}/0123456789abcdef` });
      await flush(1);
      const [row] = rows;
      await write(store.database, (tx) => deleteRow(tx, identities, row!));
      assert.deepEqual(await list(), []);
      present('{"other":1}', 2);
      await flush(2);
      const rest = await store.tamper("SELECT count(*) AS rows FROM seen_tokens");
      assert.equal(Number(rest[0]?.rows), 0);
    });

    it("keeps what a failed write did not store, and stores other shapes before it", async () => {
      await using ground = await arrange(database);
      const { store, present, flush, list, uids } = ground;
      present('{"n":1}', 1);
      const broken: Pick<Database, "write"> = { write: () => Promise.reject(new Error("disk full")) };
      await assert.rejects(flush(1, broken), /disk full/);
      present('{"n":1}', 2);
      await flush(3);
      const [row] = await list();
      assert.deepEqual([row?.count, row?.firstTime, row?.lastTime], [2, 1, 2]);
      assert.equal(await countSeenTokens(store.database.session, { identityUid: uids[0]!, since: 3 }), 0);
    });
  });
}

describe("the memory of the tally", () => {
  const written: unknown[] = [];
  const database = { write: async () => void written.push(1) } as unknown as Pick<Database, "write">;

  it("the shapes that wait have a limit for each organization, and another for all", async () => {
    const tally = new TokenTally({ ...limits, waitingShapes: 800, waitingShapesOfOrganization: 300 });
    const organizations = Array.from({ length: 3 }, (_, i) => `${i}`.repeat(40));
    for (const uid of organizations)
      for (let n = 0; n < 1000; n++)
        tally.record({ identityUid: `${uid}/0123456789abcdef`, shape: `${n}`, failedCheck: "", isRegistry: false }, 1);
    let batches = 0;
    do batches++;
    while (await tally.store(database, { ...context, time: 1 }));
    assert.equal(batches, 800 / 200 + 1);
    assert.equal(written.length, 4);
  });
});
