// The state of deliveries, for callers who may see the subscription.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { accept, openSink, standingClock, startSendingServer, status } from "./sink.ts";

after(stopPostgres);

type State = Record<string, unknown>;

/** Reads a state until it is the expected one, and returns it. */
function settled(read: () => Promise<State>, isReached: (found: State) => boolean): Promise<State> {
  return until("the state", async () => {
    const found = await read();
    return isReached(found) ? found : undefined;
  });
}

/** Returns the attempts of a state, without what differs from run to run. */
function attemptsOf(state: State) {
  return (state.recentAttempts as State[]).map(({ startTime, httpStatus, failure, responseLine }) => ({
    startTime,
    httpStatus,
    failure,
    responseLine,
  }));
}

for (const database of databases) {
  describe(`the state of deliveries (${database})`, () => {
    it("shows what waits and why, and can be retried at once", async () => {
      await using sink = await openSink();
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock });
      const { url, ownerToken, groupUid } = server;
      sink.answer = status(503);
      const { body } = await rest(url, ownerToken, "POST", `/events/v2beta1/subscriptions/${groupUid}`, {
        sink: sink.url,
      });
      const at = `/gatehouse/events/v1/deliveryStates/${body.uid}`;
      const state = async (): Promise<State> => (await rest(url, ownerToken, "GET", at)).body;
      await sink.wait(1);
      const failing = await settled(state, ({ failedAttempts }) => failedAttempts === 1);
      const now = new Date(clock()).toISOString();
      assert.deepEqual(
        { ...failing, nextAttemptTime: undefined, recentAttempts: undefined },
        {
          subscriptionUid: body.uid,
          sink: sink.url,
          waiting: 1,
          waitingSince: now,
          failedAttempts: 1,
          lastFailure: "the sink answered 503",
          nextAttemptTime: undefined,
          recentAttempts: undefined,
          stopped: false,
          settings: { uid: body.uid, sink: sink.url, paused: false, kinds: [] },
          droppedEvents: 0,
        },
      );
      assert.deepEqual(attemptsOf(failing), [
        // Its response is not shown: it came from a private network.
        { startTime: now, httpStatus: 503, failure: "the sink answered 503", responseLine: undefined },
      ]);
      assert.ok(String(failing.nextAttemptTime) > now);

      sink.answer = accept;
      clock.advance(1);
      const retried = await rest(url, ownerToken, "POST", `${at}:retry`, {});
      assert.equal(retried.body.nextAttemptTime, new Date(clock()).toISOString());
      await sink.wait(2);
      const done = await settled(state, ({ waiting }) => waiting === 0);
      assert.deepEqual(
        { ...done, recentAttempts: undefined },
        {
          subscriptionUid: body.uid,
          sink: sink.url,
          waiting: 0,
          failedAttempts: 0,
          recentAttempts: undefined,
          stopped: false,
          settings: { uid: body.uid, sink: sink.url, paused: false, kinds: [] },
          droppedEvents: 0,
        },
      );
      assert.deepEqual(
        attemptsOf(done).map(({ httpStatus, failure }) => ({ httpStatus, failure })),
        [
          { httpStatus: 200, failure: undefined },
          { httpStatus: 503, failure: "the sink answered 503" },
        ],
      );
      const [event] = sink.received;
      const [attempt] = done.recentAttempts as State[];
      assert.equal(attempt?.eventType, event?.headers["ce-type"]);
      assert.equal(attempt?.eventId, event?.headers["ce-id"]);

      const list = await rest(url, ownerToken, "GET", "/gatehouse/events/v1/deliveryStates?page_size=1");
      const latest = { ...done, recentAttempts: [attempt] };
      assert.deepEqual(list.body, { deliveryStates: [latest], skipped: 0, totalCount: "1" });
    });

    it("stops a subscription after 410 Gone until a user retries it, and lists it as a finding", async () => {
      await using sink = await openSink();
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock });
      const { url, ownerToken, groupUid } = server;
      const call = async (method: string, path: string, body?: object) => {
        const reply = await rest(url, ownerToken, method, path, body);
        assert.equal(reply.status, 200, JSON.stringify(reply.body));
        return reply.body;
      };
      sink.answer = status(410);
      const { uid } = await call("POST", `/events/v2beta1/subscriptions/${groupUid}`, { sink: sink.url });
      const state = () => call("GET", `/gatehouse/events/v1/deliveryStates/${uid}`);
      const stopped = await settled(state, ({ failedAttempts }) => failedAttempts === 1);
      assert.deepEqual([stopped.stopped, stopped.nextAttemptTime], [true, undefined]);
      const found = await call(
        "GET",
        `/gatehouse/organizations/v1/findings?parent=${groupUid}&kinds=FINDING_KIND_FAILING_DELIVERY`,
      );
      assert.equal(found.findings[0].deliveryState.stopped, true);
      // Half an hour is more than the first back-off. A second subscription shows that deliveries go on.
      clock.advance(30 * 60 * 1000);
      await call("POST", `/iam/v2beta1/groups/${groupUid}`, { name: "later" });
      await using other = await openSink();
      await call("POST", `/events/v2beta1/subscriptions/${groupUid}`, { sink: other.url });
      await other.wait(1);
      assert.equal(sink.received.length, 1);
      sink.answer = accept;
      await call("POST", `/gatehouse/events/v1/deliveryStates/${uid}:retry`, {});
      await sink.wait(2);
      const done = await settled(state, ({ waiting }) => waiting === 0);
      assert.deepEqual([done.stopped, done.failedAttempts], [false, 0]);
    });

    it("does not try again before the time of Retry-After, as seconds or as a date, up to an hour", async () => {
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock });
      const { url, ownerToken, groupUid } = server;
      // Whole seconds: a date has no others.
      const now = Math.ceil(clock() / 1000) * 1000;
      clock.advance(now - clock());
      const table: readonly (readonly [header: string, seconds: number | undefined])[] = [
        ["1800", 1800],
        [new Date(now + 600_000).toUTCString(), 600],
        ["86400", 3600],
        ["9".repeat(400), undefined],
        [new Date(now - 600_000).toUTCString(), undefined],
        ["soon", undefined],
        ["-1", undefined],
      ];
      for (const [header, seconds] of table) {
        await using sink = await openSink();
        sink.answer = (_received, response) => void response.writeHead(503, { "retry-after": header }).end();
        const created = await rest(url, ownerToken, "POST", `/events/v2beta1/subscriptions/${groupUid}`, {
          sink: sink.url,
        });
        const at = `/gatehouse/events/v1/deliveryStates/${created.body.uid}`;
        let state: State = {};
        while (state.failedAttempts === undefined || state.failedAttempts === 0)
          state = (await rest(url, ownerToken, "GET", at)).body;
        const waited = (Date.parse(String(state.nextAttemptTime)) - now) / 1000;
        // Without a valid header: about the first back-off, of one second.
        if (seconds === undefined) assert.ok(waited < 2, `${header.slice(0, 40)}: ${waited}`);
        else assert.equal(waited, seconds, header);
        await rest(url, ownerToken, "DELETE", `/events/v2beta1/subscriptions/${created.body.uid}`);
      }
    });

    it("lists the states of the subscriptions that the caller may see, by page", async () => {
      await using server = await startSendingServer({ database, settings: { eventDelivery: "off" } });
      const { url, ownerToken, groupUid } = server;
      const at = "/gatehouse/events/v1/deliveryStates";
      const group = await rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name: "team" });
      const sinks = ["https://a.example.org/", "https://b.example.org/", "https://c.example.org/"];
      for (const [i, sink] of sinks.entries())
        await rest(url, ownerToken, "POST", `/events/v2beta1/subscriptions/${i < 2 ? groupUid : group.body.uid}`, {
          sink,
        });
      const first = await rest(url, ownerToken, "GET", `${at}?page_size=2`);
      assert.equal(first.body.totalCount, "3");
      const second = await rest(url, ownerToken, "GET", `${at}?page_size=2&page_token=${first.body.nextPageToken}`);
      assert.equal(second.body.nextPageToken, undefined);
      const listed = [...first.body.deliveryStates, ...second.body.deliveryStates].map(({ sink }) => sink);
      assert.deepEqual(listed.sort(), sinks);
      const here = await rest(url, ownerToken, "GET", `${at}?uidp.children_of=${group.body.uid}`);
      assert.deepEqual(
        here.body.deliveryStates.map(({ sink }: { sink: string }) => sink),
        ["https://c.example.org/"],
      );
    });
  });
}
