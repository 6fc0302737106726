// Expired rows: when the sweeper deletes them, and in which batches.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openKeyRing } from "../../src/authn/key-ring.ts";
import { newChild } from "../../src/model/uid.ts";
import { hasAllAfter } from "../../src/storage/change-log/removal.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import { readCounter } from "../../src/storage/engine/counters.ts";
import { accessRequestCollection } from "../../src/storage/iam/requests/collections.ts";
import type { AccessRequestRow } from "../../src/storage/iam/requests/rows.ts";
import { newEncryption } from "../../src/storage/installation/encryption.ts";
import { keyStore, listSigningKeys } from "../../src/storage/installation/signing-keys.ts";
import { sweep } from "../../src/storage/sweep.ts";
import { context, groupRow, groups, identities, identityRow, write } from "./fixtures.ts";
import type { OpenStore, Store } from "./stores.ts";

const { time } = context;
const keeping = {
  registryEventMs: 1000,
  eventMs: 0,
  retiredKeyMs: 5000,
  nodeMs: 3000,
  countMs: 4000,
  usageMs: 6000,
  accessRecordMs: 7000,
  imageUseMs: 7000,
  seenTokenMs: 2000,
  changeMs: undefined,
};
const going = new AbortController().signal;

/** The columns of a row of each kind that expires at a time, and its retention. */
const kinds = [
  { table: "sign_ins", keptMs: 0, row: (id: string, end: number) => `('${id}', 'digest', 'encrypted', ${end})` },
  { table: "daily_counts", keptMs: 4000, row: (id: string, end: number) => `('${id}', 'changes', ${end}, 1)` },
  { table: "headless_sessions", keptMs: 0, row: (id: string, end: number) => `('${id}', 'key', 'token', ${end})` },
  {
    table: "refresh_families",
    keptMs: 0,
    row: (id: string, end: number) => `('${id}', '${someone.uid}', 'digest', '{}', 1, ${end})`,
  },
  {
    table: "seen_tokens",
    keptMs: 2000,
    row: (id: string, end: number) => `('${someone.uid}', '${id}', '${someone.uid}', '{}', '', false, 1, 1, ${end})`,
  },
  { table: "registry_events", keptMs: 1000, row: (id: string, end: number) => `('${id}', ${end})` },
  { table: "signing_keys", keptMs: 5000, row: (id: string, end: number) => `('${id}', 'ES256', '{}', 1, ${end})` },
  { table: "nodes", keptMs: 3000, row: (id: string, end: number) => `('${id}', 'host', '0.1.0', 1, 1, ${end})` },
] as const;

const changeColumns = "changes (time, actor, method, request_id, kind, uid, group_uid)";

function change(at: number, kind: string): string {
  return `(${at}, '', '', '', '${kind}', '${at}', '')`;
}

const someone = identityRow(null, "someone");

function requestRow(parent: string, reason: string, more: Partial<AccessRequestRow>): AccessRequestRow {
  return {
    uid: newChild(parent),
    parent,
    ruleUid: newChild(parent),
    identityUid: someone.uid,
    roleUid: newChild(parent),
    duration: 1,
    reason,
    state: "ENDED",
    decisions: [],
    session: { mappings: [], people: [] },
    decideBeforeTime: 1,
    dueTime: null,
    startTime: null,
    expireTime: null,
    roleBindingUid: null,
    ownExpireTime: null,
    breakGlass: false,
    acknowledgeTime: null,
    acknowledgerUid: null,
    acknowledgeComment: null,
    closeTime: null,
    createTime: 1,
    ...more,
  };
}

async function put(store: Store, table: string, rows: readonly string[]): Promise<void> {
  await store.tamper(`INSERT INTO ${table} VALUES ${rows.join(", ")}`);
}

async function countOf({ tamper }: Store, table: string): Promise<number> {
  return Number((await tamper(`SELECT count(*) AS rows FROM ${table}`))[0]?.rows);
}

async function sweepAt(
  database: Pick<Database, "write">,
  now: number,
  signal = going,
  changeMs?: number,
): Promise<void> {
  await sweep(database, { ...context, time: now }, { accessMs: undefined, ...keeping, changeMs }, signal);
}

/** Returns the database, and the number of rows of a table after each of its writes. */
function watched(store: Store, table: string) {
  const left: number[] = [];
  const database: Pick<Database, "write"> = {
    async write(...one) {
      const result = await store.database.write(...one);
      left.push(await countOf(store, table));
      return result;
    },
  };
  return { left, database };
}

/** Declares the tests of the sweeper. */
export function sweepConformance(open: OpenStore): void {
  describe("a sweep", () => {
    for (const { table, keptMs, row } of kinds) {
      it(`deletes rows of ${table} that expired ${keptMs} ms ago, and no others`, async () => {
        await using store = await open();
        await write(store.database, (tx) => insertRow(tx, identities, someone));
        const end = time - keptMs;
        await put(store, table, [row("past", end - 1), row("now", end), row("later", end + 1)]);
        await sweepAt(store.database, time);
        assert.equal(await countOf(store, table), 1);
        await sweepAt(store.database, time + 1);
        assert.equal(await countOf(store, table), 0);
      });

      it(`deletes expired rows of ${table} in batches until none is left`, async () => {
        await using store = await open();
        await write(store.database, (tx) => insertRow(tx, identities, someone));
        await put(
          store,
          table,
          Array.from({ length: 450 }, (_, i) => row(`r${i}`, i < 440 ? i + 1 : time + 1)),
        );
        const { left, database } = watched(store, table);
        await sweepAt(database, time);
        assert.deepEqual(left, [250, 50, 10]);
      });
    }

    it("deletes access requests that were over for their retention, except break-glass that nobody has acknowledged", async () => {
      await using store = await open();
      const group = groupRow(null, "group");
      const end = time - keeping.accessRecordMs;
      const acknowledged = { acknowledgeTime: time, acknowledgerUid: someone.uid, acknowledgeComment: "" };
      const rows = [
        requestRow(group.uid, "past", { closeTime: end - 1 }),
        requestRow(group.uid, "now", { closeTime: end }),
        requestRow(group.uid, "later", { closeTime: end + 1 }),
        requestRow(group.uid, "open", { state: "ACTIVE", dueTime: time, expireTime: 1 }),
        requestRow(group.uid, "unsettled", { closeTime: 1, breakGlass: true }),
        requestRow(group.uid, "settled", { closeTime: 1, breakGlass: true, ...acknowledged }),
      ];
      await write(store.database, async (tx) => {
        await insertRow(tx, groups, group);
        for (const row of rows) await insertRow(tx, accessRequestCollection, row);
      });
      await sweepAt(store.database, time);
      const left = await store.tamper("SELECT reason FROM access_requests");
      assert.deepEqual(left.map(({ reason }) => reason).sort(), ["later", "open", "unsettled"]);
      assert.equal(await readCounter(store.database.session, group.uid, accessRequestCollection.kind), 3);
    });

    it("does not delete from the change log without a retention", async () => {
      await using store = await open();
      await put(store, changeColumns, [change(1, "groups"), change(2, "groups")]);
      await sweepAt(store.database, time);
      assert.equal(await countOf(store, "changes"), 2);
    });

    it("deletes old changes in batches, but not the last of a kind", async () => {
      await using store = await open();
      const old = Array.from({ length: 440 }, (_, i) => change(i + 1, i === 3 ? "roles" : i < 9 ? "groups" : "tags"));
      await put(store, changeColumns, [...old, change(442, "tags"), change(443, "tags")]);
      const { left, database } = watched(store, "changes");
      await sweepAt(database, 541, going, 100);
      assert.deepEqual(left, [244, 46, 4], "of roles, groups, and of tags the two that are newer");
      await sweepAt(database, 542, going, 100);
      await sweepAt(database, 10_000, going, 100);
      const rest = await store.tamper("SELECT kind, time FROM changes ORDER BY sequence");
      assert.deepEqual(
        rest.map(({ kind, time: at }) => [kind, Number(at)]),
        [
          ["roles", 4],
          ["groups", 9],
          ["tags", 443],
        ],
      );
    });

    it("a client whose last change is exactly the last deleted one has missed nothing, unlike one before it", async () => {
      await using store = await open();
      await put(
        store,
        changeColumns,
        [1, 2, 3, 200].map((at) => change(at, "groups")),
      );
      const changes = await store.tamper("SELECT sequence, time FROM changes ORDER BY sequence");
      const positions = changes.map((one) => ({ sequence: Number(one.sequence), time: Number(one.time) }));
      await sweepAt(store.database, 250, going, 100);
      assert.equal(await countOf(store, "changes"), 1);
      const answers: boolean[] = [];
      for (const position of positions) answers.push(await hasAllAfter(store.database.session, position));
      assert.deepEqual(answers, [false, false, true, true]);
    });

    it("keeps the changes after one from a clock that was ahead, so readers miss none", async () => {
      await using store = await open();
      await put(
        store,
        changeColumns,
        [1, 2, 900, 4, 5].map((at) => change(at, "groups")),
      );
      await sweepAt(store.database, 200, going, 100);
      assert.equal(await countOf(store, "changes"), 3);
    });

    it("shares the change log with the sweep of another node, during writes", async () => {
      await using store = await open();
      await put(
        store,
        changeColumns,
        Array.from({ length: 2000 }, (_, i) => change(i + 1, i % 2 ? "groups" : "tags")),
      );
      const other = await store.open();
      const create = (i: number) => write(other, (tx) => insertRow(tx, groups, groupRow(null, i)));
      // Before the sweeps, which keep the last change of each kind that they find.
      await create(0);
      const writes = Array.from({ length: 19 }, (_, i) => create(i + 1));
      await Promise.all([sweepAt(store.database, time, going, 100), sweepAt(other, time, going, 100), ...writes]);
      const rest = await store.tamper("SELECT kind FROM changes WHERE request_id = ''");
      assert.deepEqual(rest, [{ kind: "tags" }]);
      assert.equal(await countOf(store, "changes"), 21);
    });

    it("shares the work with the sweep of another node", async () => {
      await using store = await open();
      const rows = Array.from({ length: 2000 }, (_, i) => `('e${i}', ${i + 1})`);
      await put(store, "registry_events", [...rows, `('late', ${time})`]);
      await Promise.all([sweepAt(store.database, time), sweepAt(await store.open(), time)]);
      assert.equal(await countOf(store, "registry_events"), 1);
    });

    it("begins no write after its signal is aborted", async () => {
      await using store = await open();
      await put(
        store,
        "registry_events",
        Array.from({ length: 450 }, (_, i) => `('e${i}', ${i + 1})`),
      );
      const stopping = new AbortController();
      const { left, database } = watched(store, "registry_events");
      const write: Database["write"] = (...one) => database.write(...one).finally(() => stopping.abort());
      await sweepAt({ write }, time, stopping.signal);
      assert.deepEqual(left, [250]);
    });

    it("leaves every key that signs or verifies, and the published keys, as they are", async () => {
      await using store = await open();
      let now = time;
      const encryption = newEncryption([Buffer.alloc(32, 1)]);
      const options = {
        algorithm: "ES256",
        clock: () => now,
        refreshCooldownMs: 1000,
        patienceMs: 30_000,
        maxAgeMs: Number.POSITIVE_INFINITY,
      } as const;
      const ring = await openKeyRing(keyStore(store.database, encryption, options.clock), options);
      const first = (await ring.signing("others")).kid;
      const { kid } = await ring.rotate(100);
      const kids = async () => (await listSigningKeys(store.database.session)).map((key) => key.kid).sort();
      const published = () => ring.jwks().keys.map((key) => key.kid);
      now += 99;
      await sweepAt(store.database, now);
      await ring.refresh();
      assert.deepEqual(published().sort(), [first, kid].sort());
      now += 1 + keeping.retiredKeyMs - 1;
      await sweepAt(store.database, now);
      assert.deepEqual(await kids(), [first, kid].sort(), "a node whose clock is slow may still verify by it");
      now += 1;
      await sweepAt(store.database, now);
      assert.deepEqual(await kids(), [kid]);
      await ring.refresh();
      assert.deepEqual([published(), (await ring.signing("others")).kid], [[kid], kid]);
      // A node that starts then creates no key of its own.
      await openKeyRing(keyStore(await store.open(), encryption, options.clock), options);
      assert.deepEqual(await kids(), [kid]);
    });
  });
}
