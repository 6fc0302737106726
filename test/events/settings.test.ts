// The settings of subscriptions: pauses, kinds of events, and sinks.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { addCaller } from "../security/tree.ts";
import { type Body, callAsOwner, stateAt, subscribe } from "./owner-calls.ts";
import { openSink, type Received, standingClock, startSendingServer, typeOf } from "./sink.ts";

after(stopPostgres);

const hourMs = 60 * 60 * 1000;

/** Returns the function that changes the settings of a subscription. */
const setterOf =
  (server: TestServer, uid: string) =>
  (settings: object, mask = ""): Promise<Body> =>
    callAsOwner(server)("PATCH", `/gatehouse/events/v1/subscriptionSettings/${uid}${mask}`, settings);

const isGroup = (one: Received) => typeOf(one) === "iam.group.created.v1";
const namesIn = (received: readonly Received[]) =>
  received.filter(isGroup).map(({ body }) => JSON.parse(body).body.name as string);

for (const database of databases) {
  describe(`the settings of a subscription (${database})`, () => {
    it("a paused subscription collects events, and sends all of them in order once it is resumed", async () => {
      await using sink = await openSink();
      await using other = await openSink();
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock });
      const call = callAsOwner(server);
      const uid = await subscribe(server, sink.url);
      const set = setterOf(server, uid);
      await sink.wait(1);
      const paused = await set({ paused: true, description: "maintenance of the receiver" });
      assert.deepEqual(paused.settings, {
        uid,
        sink: sink.url,
        paused: true,
        kinds: [],
        description: "maintenance of the receiver",
      });
      const names = ["first", "second", "third"];
      for (const name of names) await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name });
      // Another subscription shows that deliveries go on.
      await subscribe(server, other.url);
      await other.wait(1);
      // More than any delay of a retry, and a retry asked for.
      clock.advance(2 * hourMs);
      await call("POST", `${stateAt(uid)}:retry`, {});
      await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: "fourth" });
      await other.wait(2);
      const { waiting, nextAttemptTime } = await until("the last event", async () => {
        const state = await call("GET", stateAt(uid));
        return state.waiting === 5 ? state : undefined;
      });
      assert.deepEqual([waiting, nextAttemptTime, sink.received.length], [5, undefined, 1]);
      const resumed = await set({ paused: false });
      assert.equal(resumed.settings.description, "maintenance of the receiver");
      await sink.wait(4, isGroup);
      assert.deepEqual(namesIn(sink.received), [...names, "fourth"]);
      await until("the end of the queue", async () => (await call("GET", stateAt(uid))).waiting === 0 || undefined);
    });

    it("a paused subscription drops events after three days, the oldest first, and a finding says so", async () => {
      await using sink = await openSink();
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock });
      const call = callAsOwner(server);
      const uid = await subscribe(server, sink.url);
      await sink.wait(1);
      await setterOf(server, uid)({ paused: true });
      await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: "lost" });
      const waiting = async (count: number) =>
        await until(`${count} events`, async () => {
          const state = await call("GET", stateAt(uid));
          return state.waiting === count ? state : undefined;
        });
      await waiting(1);
      clock.advance(48 * hourMs);
      await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: "kept" });
      await waiting(2);
      const findings = async () => {
        const path = `/gatehouse/organizations/v1/findings?parent=${server.groupUid}`;
        return (await call("GET", `${path}&kinds=FINDING_KIND_PAUSED_SUBSCRIPTION`)).findings;
      };
      assert.deepEqual(await findings(), []);
      clock.advance(25 * hourMs);
      const state = await waiting(1);
      const now = new Date(clock()).toISOString();
      assert.deepEqual([state.droppedEvents, state.lastDropTime], [1, now]);
      const [finding] = await findings();
      assert.deepEqual(
        [finding.resourceUid, finding.resourceName, finding.time, finding.deliveryState.droppedEvents],
        [uid, sink.url, now, 1],
      );
      const resumed = await setterOf(server, uid)({ paused: false });
      assert.equal(resumed.droppedEvents, 0);
      await sink.wait(1, isGroup);
      assert.deepEqual(namesIn(sink.received), ["kept"]);
      assert.deepEqual(await findings(), []);
    });

    it("a subscription with kinds receives events of these kinds only", async () => {
      await using sink = await openSink();
      await using server = await startSendingServer({ database });
      const call = callAsOwner(server);
      const uid = await subscribe(server, sink.url);
      await sink.wait(1);
      await setterOf(server, uid)({ kinds: ["roles", "roles"] });
      assert.deepEqual((await call("GET", stateAt(uid))).settings.kinds, ["roles"]);
      await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: "unsent" });
      await call("POST", `/iam/v2beta1/roles/${server.groupUid}`, { name: "sent", capabilities: ["CAP_REPO_LIST"] });
      await sink.wait(2);
      await setterOf(server, uid)({}, "?update_mask=kinds");
      await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: "all again" });
      await sink.wait(3);
      assert.deepEqual(sink.received.slice(1).map(typeOf), ["iam.roles.created.v1", "iam.group.created.v1"]);
    });

    it("a new sink gets the waiting events at once, and loses none that happened before it", async () => {
      await using before = await openSink();
      await using later = await openSink();
      before.answer = (_received, response) => void response.writeHead(503).end();
      await using server = await startSendingServer({ database, clock: standingClock() });
      const call = callAsOwner(server);
      const uid = await subscribe(server, before.url);
      await before.wait(1);
      await until("the failure", async () => (await call("GET", stateAt(uid))).failedAttempts || undefined);
      // In one part of the change log with the change of the sink.
      await Promise.all([
        call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: "before" }),
        setterOf(server, uid)({ sink: later.url }),
      ]);
      await later.wait(2);
      assert.deepEqual(namesIn(later.received), ["before"]);
      assert.equal((await call("GET", `/events/v2beta1/subscriptions/${uid}`)).sink, later.url);
    });

    it("the maker of a subscription is the caller who changed its sink last", async () => {
      await using server = await startSendingServer({ database, settings: { eventDelivery: "off" } });
      const call = callAsOwner(server);
      const uid = await subscribe(server, "https://a.example.org/");
      const { groupUid } = server;
      const capabilities = ["CAP_EVENTS_SUBSCRIPTION_CREATE", "CAP_EVENTS_SUBSCRIPTION_LIST"];
      const role = await call("POST", `/iam/v2beta1/roles/${groupUid}`, { name: "subscribes", capabilities });
      const caller = await addCaller(server, groupUid, role.uid);
      const at = `/gatehouse/events/v1/subscriptionSettings/${uid}`;
      await call("PATCH", at, { description: "of another" }, caller.token);
      await call("PATCH", at, { sink: "https://b.example.org/" }, caller.token);
      await call("DELETE", `/iam/v2beta1/identities/${caller.uid}`);
      assert.equal((await call("GET", stateAt(uid))).inactivity, "its maker was deleted");
    });

    it("changes are in the audit log, and invalid ones name the field and the rule", async () => {
      await using server = await startSendingServer({ database, settings: { eventDelivery: "off" } });
      const call = callAsOwner(server);
      const uid = await subscribe(server, "https://a.example.org/");
      const set = setterOf(server, uid);
      await set({ paused: true, kinds: ["groups"], description: "d", sink: "https://b.example.org/" });
      await set({ paused: true });
      const listed = async (kind: string) =>
        (await call("GET", `/gatehouse/changes/v1/changes?parent=${server.groupUid}&kind=${kind}`)).changes;
      const [settings, ...others] = await listed("subscription_settings");
      assert.deepEqual(
        [settings.before, settings.after, others],
        [{ paused: false }, { paused: true, kinds: ["groups"], description: "d" }, []],
      );
      const [{ after: subscription }] = await listed("subscriptions");
      assert.equal(subscription.sink, "https://b.example.org/");
      const invalid: readonly (readonly [field: string, settings: object, rule: RegExp])[] = [
        ["sink", { sink: "http://example.org/" }, /must be an https URL/],
        [
          "kinds",
          { kinds: ["sign_ins"] },
          /must be one of access_requests, access_reviews, account_associations, .*groups/,
        ],
        ["kinds", { kinds: Array.from({ length: 21 }, () => "groups") }, /must not have more than 20 items/],
        ["description", { description: "two\nlines" }, /description must match/],
      ];
      for (const [field, value, rule] of invalid) {
        const at = `/gatehouse/events/v1/subscriptionSettings/${uid}`;
        const { body } = await rest(server.url, server.ownerToken, "PATCH", at, value);
        const violation = body.details.flatMap((one: Body) => one.fieldViolations ?? [])[0];
        assert.match(violation.field, new RegExp(`^${field}(\\[0\\])?$`));
        assert.match(violation.description, rule);
      }
    });
  });
}
