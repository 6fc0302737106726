// Tests how changes become deliveries, and which worker delivers them, on both databases.
import assert from "node:assert/strict";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { newNetworkList } from "../../src/base/network-address.ts";
import { deliverEvents } from "../../src/events/dispatcher.ts";
import { fanOut } from "../../src/events/fan-out.ts";
import { outboundLimits } from "../../src/outbound/http.ts";
import type { EventDefinition } from "../../src/resource/event-definition.ts";
import { deleteRow, insertRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import { writeSetting } from "../../src/storage/engine/settings.ts";
import {
  findDueQueues,
  findNextDelivery,
  readQueue,
  resetFutureRetries,
  stoppedTime,
} from "../../src/storage/events/delivery-queues.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../src/storage/events/rows.ts";
import { newEncryption } from "../../src/storage/installation/encryption.ts";
import { isLeaseFree, takeLease } from "../../src/storage/installation/lease.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { context, groupRow, groups, uidOf } from "../storage/fixtures.ts";
import { type OpenStore, openSqliteStore, type Store, storeOpeners } from "../storage/stores.ts";
import { accept, openSink, type Sink, standingClock, status } from "./sink.ts";

after(stopPostgres);

const root = groupRow(null, "root");
const day = 24 * 60 * 60 * 1000;

/** Writes at a time, as one call of a method that causes events. */
function at(time: number) {
  return { actor: "someone", method: "/CreateGroup", requestId: randomUUID(), time };
}

async function addGroup({ database }: Store, name: string, time = context.time, parent = root.uid): Promise<void> {
  await database.write(at(time), (tx) => insertRow(tx, groups, groupRow(parent, name)));
}

async function subscribe(
  { database }: Store,
  sink: string,
  time = context.time,
  parent = root.uid,
): Promise<SubscriptionRow> {
  const row = { uid: uidOf(parent, sink), parent, sink, createTime: time };
  await database.write({ ...at(time), method: "/Subscribe" }, (tx) => insertRow(tx, subscriptionCollection, row));
  return row;
}

/** Returns the event of a new group. `making` is called when its body is made. */
function definition(making: (uid: string) => unknown = () => {}): EventDefinition {
  return {
    cause: "/CreateGroup",
    type: "group.created",
    source: (baseUrl) => baseUrl,
    kind: groups.kind,
    group: (uid) => uid,
    subject: ([uid]) => uid!,
    async body([{ uid }]) {
      await making(uid);
      return undefined;
    },
  };
}

function dependencies(database: Database, told: EventDefinition = definition()) {
  return {
    database,
    find: (method: string) => (method === "/CreateGroup" ? told : undefined),
    baseUrl: "https://gatehouse.example.org",
    warn: (_about: object, message: string) => assert.fail(message),
  };
}

async function sentOf({ tamper }: Store, { uid }: SubscriptionRow): Promise<number[]> {
  const rows = await tamper(
    `SELECT sequence FROM event_deliveries WHERE subscription_uid = '${uid}' ORDER BY sequence`,
  );
  return rows.map(({ sequence }) => Number(sequence));
}

async function numberOf({ tamper }: Store, table: string): Promise<number> {
  return Number((await tamper(`SELECT count(*) AS rows FROM ${table}`))[0]!.rows);
}

async function openRooted(open: OpenStore): Promise<Store> {
  const store = await open();
  await store.database.write(context, async (tx) => {
    // A migration has set it, but a store may have been emptied since.
    await writeSetting(tx, "events_position", "0");
    await insertRow(tx, groups, root);
  });
  return store;
}

const stores = databases.map((database) => [database, storeOpeners[database]] as const);

for (const [name, open] of stores) {
  describe(`the change log on ${name}`, () => {
    it("is delivered from the subscription on, with any clocks", async () => {
      await using store = await openRooted(open);
      await addGroup(store, "before", context.time + day);
      const subscription = await subscribe(store, "https://sink.invalid/", context.time);
      await addGroup(store, "after", context.time - day);
      await fanOut(dependencies(store.database), context);
      const [sequence] = await store.tamper("SELECT max(sequence) AS last FROM changes");
      assert.deepEqual(await sentOf(store, subscription), [Number(sequence!.last)]);
    });

    it("is delivered to the others if a subscription is deleted while an event is built", async () => {
      await using store = await openRooted(open);
      const gone = await subscribe(store, "https://sink.invalid/gone");
      const stays = await subscribe(store, "https://sink.invalid/stays");
      await addGroup(store, "told");
      const told = definition(() =>
        store.database.write(at(context.time), (tx) => deleteRow(tx, subscriptionCollection, gone)),
      );
      await fanOut(dependencies(store.database, told), context);
      assert.equal((await sentOf(store, stays)).length, 1);
      assert.equal(await numberOf(store, "event_queues"), 1);
    });

    it("has due queues, except those of organizations that use all of their workers", async () => {
      await using store = await openRooted(open);
      const { uid } = await subscribe(store, "https://sink.invalid/");
      await addGroup(store, "told");
      await fanOut(dependencies(store.database), context);
      const due = (without: string[]) =>
        findDueQueues(store.database.session, { time: context.time, limit: 1, without });
      assert.deepEqual(await due([uidOf(null, "another")]), [uid]);
      assert.deepEqual(await due([uidOf(null, "another"), root.uid]), []);
    });

    it("has due queues by the duration of their last attempt", async () => {
      await using store = await openRooted(open);
      const { uid } = await subscribe(store, "https://sink.invalid/");
      await addGroup(store, "told");
      await fanOut(dependencies(store.database), context);
      await store.tamper("UPDATE event_queues SET last_duration = 2001");
      const due = (...lasted: [number, number]) =>
        findDueQueues(store.database.session, { time: context.time, limit: 1, lasted });
      assert.deepEqual(await due(0, 2000), []);
      assert.deepEqual(await due(2001, Number.MAX_SAFE_INTEGER), [uid]);
    });

    it("returns the queue first that is due for the longest time", async () => {
      await using store = await openRooted(open);
      const times = [context.time + 20, context.time, context.time + 30, context.time + 10];
      const uids: string[] = [];
      for (const time of times) {
        uids.push((await subscribe(store, `https://sink.invalid/${time}`)).uid);
        await addGroup(store, `told at ${time}`);
        await fanOut(dependencies(store.database), at(time));
      }
      const due = await findDueQueues(store.database.session, { time: context.time + 40, limit: 10 });
      assert.deepEqual(due, [uids[1], uids[3], uids[0], uids[2]]);
    });

    it("leaves no event behind if no subscription is left", async () => {
      await using store = await openRooted(open);
      const gone = await subscribe(store, "https://sink.invalid/gone");
      await addGroup(store, "told");
      const told = definition(() =>
        store.database.write(at(context.time), (tx) => deleteRow(tx, subscriptionCollection, gone)),
      );
      await fanOut(dependencies(store.database, told), context);
      assert.equal(await numberOf(store, "events"), 0);
    });

    it("a batch whose changes cross the end of what is read at once stays one event", async () => {
      await using store = await openRooted(open);
      const subscription = await subscribe(store, "https://sink.invalid/");
      // With the root and the subscription, 499 changes come before the batch: one fewer than are read at once.
      const other = { kind: "others", uid: root.uid, groupUid: root.uid, before: null, after: {} };
      await store.database.write({ ...at(context.time), method: "/Other" }, async (tx) => {
        for (let i = 0; i < 497; i++) tx.logChange(other);
      });
      const batch = ["first", "second", "third"].map((group) => groupRow(root.uid, group));
      await store.database.write(at(context.time), async (tx) => {
        for (const row of batch) await insertRow(tx, groups, row);
      });
      const told: string[][] = [];
      const whole: EventDefinition = {
        ...definition(),
        isBatch: true,
        body: (changes) => void told.push(changes.map(({ uid }) => uid)),
      };
      const deps = dependencies(store.database, whole);
      let times = 1;
      while (!(await fanOut(deps, context))) times++;
      assert.equal(times, 2);
      assert.deepEqual(told, [batch.map(({ uid }) => uid)]);
      assert.equal((await sentOf(store, subscription)).length, 1);
    });

    it("is fanned out in batches of limited size", async () => {
      await using store = await openRooted(open);
      for (let i = 0; i < 100; i++) await subscribe(store, `https://sink.invalid/${i}`);
      for (let i = 0; i < 30; i++) await addGroup(store, `${i}`);
      const deps = dependencies(store.database);
      const written = [];
      while (!(await fanOut(deps, context))) written.push(await numberOf(store, "event_deliveries"));
      assert.deepEqual(written, [2000]);
      assert.equal(await numberOf(store, "event_deliveries"), 3000);
    });
  });

  describe(`a clock that was a year ahead (${name})`, () => {
    const lease = { name: "lease", length: 1000 };
    const [wrong, right] = [context.time + 365 * day, context.time];

    it("does not block the lease after it was corrected", async () => {
      await using store = await openRooted(open);
      const take = (time: number, holder: string) =>
        store.database.write(at(time), (tx) => takeLease(tx, lease, holder));
      assert.equal(await take(wrong, "a"), wrong + 1000);
      assert.ok(await isLeaseFree(store.database.session, lease, "b", right));
      assert.equal(await take(right, "b"), right + 1000);
      // A clock that is ahead by less than the lease lasts is one to wait for.
      assert.equal(await take(right - 900, "c"), undefined);
    });

    it("does not delay deliveries after it was corrected", async () => {
      await using sink = await openSink();
      await using store = await openRooted(open);
      const { uid } = await subscribe(store, sink.url);
      await addGroup(store, "told");
      await fanOut(dependencies(store.database), context);
      await store.tamper(`UPDATE event_queues SET attempts = 3, next_time = ${wrong}`);
      assert.deepEqual(await findDueQueues(store.database.session, { time: right, limit: 10 }), []);
      // Without pending deliveries, the dispatcher does not look.
      await addGroup(store, "after");
      await using delivery = deliver(store.database, definition(), () => right);
      await sink.wait(2);
      // Draining waits for deliveries in flight.
      await delivery.drain(60_000);
      assert.equal(await findNextDelivery(store.database.session, uid), undefined);
    });

    it("a clock that was a year ahead does not delay deliveries of a dispatcher that runs while it is corrected", async () => {
      await using sink = await openSink();
      await using store = await openRooted(open);
      const { uid } = await subscribe(store, sink.url);
      await addGroup(store, "told", wrong);
      sink.answer = status(503);
      let now = wrong;
      await using delivery = deliver(store.database, definition(), () => now);
      while ((await readQueue(store.database.session, uid))?.attempts !== 1) await turn();
      [now, sink.answer] = [right, accept];
      // Without pending deliveries, the dispatcher does not look.
      await addGroup(store, "after");
      await sink.wait(3);
      assert.equal(delivery.counts.failed, 1);
    });

    it("queues that were stopped are not started again", async () => {
      await using store = await openRooted(open);
      const { uid } = await subscribe(store, "https://sink.invalid/");
      await addGroup(store, "told");
      await fanOut(dependencies(store.database), context);
      await store.tamper(`UPDATE event_queues SET next_time = ${stoppedTime}`);
      await store.database.write(at(right), (tx) => resetFutureRetries(tx, day));
      assert.equal((await readQueue(store.database.session, uid))?.nextTime, stoppedTime);
    });
  });
}

for (const [name, open] of stores) {
  describe(`sinks that are slow (${name})`, () => {
    it("delay only each other, and are still retried", async () => {
      await using sink = await openSink();
      await using store = await openRooted(open);
      // More than there are places, and each with more than an organization is served.
      const roots = Array.from({ length: 9 }, (_, i) => groupRow(null, `slow ${i}`));
      for (const [i, row] of roots.entries()) await addOrganization(store, row, sink, [1, 2, 3, 4], `/slow/${i}`);
      await fanOut(dependencies(store.database), context);
      await store.tamper("UPDATE event_queues SET attempts = 1, last_duration = 10000");
      const isSlow = ({ path }: { path: string }) => path.startsWith("/slow/");
      const held = Promise.withResolvers<void>();
      sink.answer = async (received, response) => {
        if (isSlow(received)) await held.promise;
        accept(received, response);
      };
      await using delivery = deliver(store.database, definition(), () => context.time);
      const organizationOf = ({ path }: { path: string }) => path.split("/")[2];
      const first = new Set((await sink.wait(8, isSlow)).map(organizationOf));
      assert.equal(first.size, 8);

      await addOrganization(store, groupRow(null, "quick"), sink, [1], "/quick");
      await sink.wait(1, (one) => !isSlow(one));
      assert.equal(sink.received.filter(isSlow).length, 8);

      held.resolve();
      await sink.wait(1, (one) => isSlow(one) && !first.has(organizationOf(one)));
      assert.equal(delivery.counts.failed, 0);
    });

    it("are recognized by the duration of the last attempt, and count as fast after a fast one", async () => {
      await using sink = await openSink();
      await using store = await openRooted(open);
      const clock = standingClock();
      const { uid } = await subscribe(store, sink.url);
      for (const group of ["first", "second", "third"]) await addGroup(store, group, clock());
      const answers = [
        { lasts: 10_000, answer: status(503) },
        { lasts: 3_000, answer: accept },
        { lasts: 1_000, answer: accept },
        { lasts: 0, answer: status(503) },
      ];
      const durations: (number | undefined)[] = [];
      sink.answer = async (received, response) => {
        durations.push((await readQueue(store.database.session, uid))?.lastDuration);
        const { lasts, answer } = answers.shift()!;
        clock.advance(lasts);
        answer(received, response);
      };
      await using delivery = deliver(store.database, definition(), clock);
      await sink.wait(1);
      // Promises of SQLite alone give the event loop no chance to serve sockets.
      while ((await readQueue(store.database.session, uid))?.attempts !== 1) await turn();
      clock.advance(2_000);
      await sink.wait(4);
      await delivery.drain(60_000);
      const state = await readQueue(store.database.session, uid);
      assert.deepEqual([...durations, state?.lastDuration], [0, 10_000, 3_000, 1_000, 0]);
    });
  });
}

/** An organization with subscriptions to a sink, and a change that they are told of. */
async function addOrganization(
  store: Store,
  row: typeof root,
  sink: Sink,
  subscriptions: readonly number[],
  path: string,
): Promise<void> {
  await store.database.write(context, (tx) => insertRow(tx, groups, row));
  for (const i of subscriptions) await subscribe(store, `${sink.url}${path}/${i}`, context.time, row.uid);
  await addGroup(store, "told", context.time, row.uid);
}

function deliver(
  database: Database,
  told: EventDefinition,
  clock: () => number,
  warn: (about: object) => void = () => {},
) {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return deliverEvents({
    database,
    encryption: newEncryption([]),
    find: dependencies(database, told).find,
    inactivityOf: async () => undefined,
    log: { info: () => {}, warn },
    count: () => {},
    sender: {
      issuer: "https://gatehouse.example.org",
      keys: { signing: async () => ({ kid: "1", algorithm: "ES256", privateKey }) as never },
      clock,
      outbound: {
        ...outboundLimits,
        // Longer than any test.
        timeoutMs: 60_000,
        allowLoopbackHttp: false,
        allowedPrivate: newNetworkList([{ address: "127.0.0.0", prefix: 8, family: "ipv4" }]),
      },
    },
  });
}

describe("deliveries", () => {
  it("do not wait until a long log has been read completely", async () => {
    await using sink = await openSink();
    await using store = await openRooted(openSqliteStore);
    await subscribe(store, sink.url);
    const names = Array.from({ length: 120 }, (_, i) => `${i}`);
    for (const group of names) await addGroup(store, group);
    const last = uidOf(root.uid, names.at(-1)!);
    // The last event is made when the first has arrived.
    const told = definition((uid) => (uid === last ? sink.wait(1) : undefined));
    await using delivery = deliver(store.database, told, () => context.time);
    await sink.wait(names.length);
    assert.equal(delivery.counts.failed, 0);
  });

  it("deliveries in progress when the server stops are aborted in the end, and count as not tried", async () => {
    await using sink = await openSink();
    sink.answer = () => {};
    await using store = await openRooted(openSqliteStore);
    const { uid } = await subscribe(store, sink.url);
    await addGroup(store, "told");
    await using delivery = deliver(store.database, definition(), () => context.time);
    await sink.wait(1);
    await delivery.drain(0);
    assert.equal(delivery.counts.failed, 0);
    assert.equal((await findNextDelivery(store.database.session, uid))?.attempts, 0);
  });

  it("failed deliveries have the reason in the log, which does not reveal open ports to subscribers", async () => {
    const sink = await openSink();
    await sink[Symbol.asyncDispose]();
    await using store = await openRooted(openSqliteStore);
    const { uid } = await subscribe(store, sink.url);
    await addGroup(store, "told");
    const said = Promise.withResolvers<object>();
    const delivery = deliver(store.database, definition(), () => context.time, said.resolve);
    assert.match(String(((await said.promise) as { reason: string }).reason), /ECONNREFUSED/);
    await delivery.drain(60_000);
    const shown = "the host has no public address, or there was no answer at its private one";
    assert.equal((await readQueue(store.database.session, uid))?.lastFailure, shown);
  });

  it("read the response of a sink, unless it is too long", async () => {
    await using sink = await openSink();
    await using store = await openRooted(openSqliteStore);
    await subscribe(store, sink.url);
    const ended: Promise<boolean>[] = [];
    sink.answer = (_received, response) => {
      ended.push(new Promise((resolve) => response.on("close", () => resolve(response.writableFinished))));
      response.writeHead(200);
      response.write("thanks");
      // Behind the status by at least a turn of the receiver.
      if (ended.length === 1) setTimeout(() => response.end(), 50);
      else response.end(Buffer.alloc(16 << 20));
    };
    await addGroup(store, "first");
    await addGroup(store, "second");
    await using delivery = deliver(store.database, definition(), () => context.time);
    await sink.wait(2);
    assert.deepEqual(await Promise.all(ended), [true, false]);
    await delivery.drain(60_000);
    assert.equal(delivery.counts.delivered, 2);
  });
});
