// Role bindings end on all servers of a database at one moment, by the time of the database.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { newChild } from "../../src/model/uid.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { databaseClock, followingClock } from "../../src/storage/engine/term-clock.ts";
import { roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { findEnded } from "../../src/storage/iam/role-bindings.ts";
import { newMigratedDatabase } from "../harness/migrated.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { type EmptyServer, startEmptyServer, startTestServer, type TestServer } from "../harness/server.ts";
import { until, untilTrue } from "../harness/until.ts";
import { addGroup, addIdentity, arrange, viewerRole } from "../security/tree.ts";

after(stopPostgres);

describe("the clock of terms", () => {
  it("a clock that is set back does not go back", () => {
    let now = 10;
    const clock = followingClock(() => now);
    assert.equal(clock.termTime(), 10);
    now = 5;
    assert.equal(clock.termTime(), 10);
    now = 11;
    assert.equal(clock.termTime(), 11);
  });

  it("a clock that follows a database is ahead of it by the time of a read at most, and does not go back", () => {
    const clock = databaseClock(() => 7);
    assert.equal(clock.termTime(), 7);
    clock.observe(1_000_000, performance.now() - 100);
    const ahead = clock.termTime() - 1_000_000;
    assert.ok(ahead >= 100 && ahead < 1_000, `${ahead}`);
    clock.observe(500_000, performance.now());
    assert.ok(clock.termTime() >= 1_000_100);
  });
});

describe("two servers with wrong clocks on one database", () => {
  let one: TestServer;
  let other: EmptyServer;

  before(async () => {
    const databaseUrl = await newMigratedDatabase();
    const skewed = (ms: number) => ({ clock: () => Date.now() + ms, termsFollowDatabase: true });
    one = await startTestServer({ settings: { databaseUrl }, ...skewed(-30_000) });
    const { baseUrl, dataDir } = one.config;
    other = await startEmptyServer({ settings: { databaseUrl, baseUrl, dataDir }, ...skewed(30_000) });
  });
  after(async () => {
    await other[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
  });

  it("no call that begins at the end or later is allowed by any server, and the binding is deleted", async () => {
    const { session } = one.server.database;
    const identityUid = await addIdentity(one, one.groupUid);
    const token = await one.tokenOf(identityUid);
    await one.server.database.accessEpoch.latest();
    const end = session.termTime() + 1_500;
    const binding = { uid: newChild(one.groupUid), parent: one.groupUid, identityUid, roleUid: viewerRole.uid };
    await arrange(one, (tx) =>
      insertRow(tx, roleBindingCollection, { ...binding, createTime: one.clock(), startTime: null, expireTime: end }),
    );
    const calls: { readonly began: number; readonly isAllowed: boolean; readonly node: number }[] = [];
    while (session.termTime() < end + 500) {
      for (const [node, { url }] of [one, other].entries()) {
        const began = session.termTime();
        const { status } = await rest(url, token, "GET", "/iam/v2beta1/groups?page_size=1");
        calls.push({ began, isAllowed: status === 200, node });
      }
    }
    for (const node of [0, 1]) {
      const own = calls.filter((call) => call.node === node);
      assert.ok(own.some(({ isAllowed }) => isAllowed));
      // The two servers read the time of the database with different round trips.
      assert.deepEqual(
        own.filter(({ began, isAllowed }) => isAllowed && began >= end + 20),
        [],
      );
    }
    await untilTrue(async () => {
      const found = await rest(one.url, one.ownerToken, "GET", `/access/v1/roleBindingTerms?identity=${identityUid}`);
      return found.status === 200 && (found.body.terms ?? []).length === 0;
    });
  });

  it("1,000 roles that end at one moment allow no call after it, and each is deleted once", async () => {
    const { session } = one.server.database;
    const groups = await Promise.all(Array.from({ length: 50 }, (_, i) => addGroup(one, one.groupUid, `group-${i}`)));
    const people = await Promise.all(Array.from({ length: 20 }, () => addIdentity(one, one.groupUid)));
    const tokens = await Promise.all(people.map((uid) => one.tokenOf(uid)));
    await one.server.database.accessEpoch.latest();
    const end = session.termTime() + 3_000;
    const held = groups.flatMap((parent) => people.map((identityUid) => ({ parent, identityUid })));
    const term = { startTime: null, expireTime: end };
    await arrange(one, async (tx) => {
      for (const binding of held) {
        const row = { uid: newChild(binding.parent), ...binding, roleUid: viewerRole.uid, createTime: one.clock() };
        await insertRow(tx, roleBindingCollection, { ...row, ...term });
      }
    });
    const late: object[] = [];
    let after = 0;
    for (let i = 0; after < 200; i++) {
      const { parent, identityUid } = held[(i * 37) % held.length]!;
      const { url } = [one, other][i % 2]!;
      const began = session.termTime();
      const { status } = await rest(url, tokens[people.indexOf(identityUid)], "GET", `/iam/v2beta1/groups/${parent}`);
      // The two servers read the time of the database with different round trips.
      if (began < end + 20) continue;
      after++;
      if (status === 200) late.push({ began: began - end, url });
    }
    assert.deepEqual(late, []);
    await until("the deletion of all", async () => (await findEnded(session, 1)).length === 0 || undefined, 60_000);
    const deleted: string[] = [];
    for (let pageToken = ""; ; ) {
      const query = `parent=${one.groupUid}&kind=role_bindings&pageSize=200&pageToken=${pageToken}`;
      const { body } = await rest(one.url, one.ownerToken, "GET", `/gatehouse/changes/v1/changes?${query}`);
      for (const { resourceUid, groupUid, after: kept } of body.changes ?? [])
        if (!kept && groups.includes(groupUid)) deleted.push(resourceUid);
      pageToken = encodeURIComponent(body.nextPageToken ?? "");
      if (pageToken === "") break;
    }
    assert.equal(deleted.length, held.length);
    assert.equal(new Set(deleted).size, held.length);
  });
});
