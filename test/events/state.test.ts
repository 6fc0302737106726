// The state of deliveries, for callers who may see the subscription.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { DatabaseKind } from "../harness/server.ts";
import { accept, openSink, standingClock, startSendingServer, status } from "./sink.ts";

after(stopPostgres);

/** The attempts of a state, without what differs from run to run. */
function attemptsOf(state: Record<string, unknown>) {
  return (state.recentAttempts as Record<string, unknown>[]).map(
    ({ startTime, httpStatus, failure, responseLine }) => ({ startTime, httpStatus, failure, responseLine }),
  );
}

for (const database of ["sqlite", "postgres"] satisfies DatabaseKind[]) {
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
      const state = async (): Promise<Record<string, unknown>> => (await rest(url, ownerToken, "GET", at)).body;
      await sink.wait(1);
      let failing = await state();
      while (failing.failedAttempts !== 1) failing = await state();
      const now = new Date(clock()).toISOString();
      assert.deepEqual(
        { ...failing, nextAttemptTime: undefined, recentAttempts: undefined },
        {
          ...{ subscriptionUid: body.uid, sink: sink.url, waiting: 1, waitingSince: now, failedAttempts: 1 },
          ...{ lastFailure: "the sink answered 503", nextAttemptTime: undefined, recentAttempts: undefined },
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
      let done = await state();
      while (done.waiting !== 0) done = await state();
      assert.deepEqual(
        { ...done, recentAttempts: undefined },
        { subscriptionUid: body.uid, sink: sink.url, waiting: 0, failedAttempts: 0, recentAttempts: undefined },
      );
      assert.deepEqual(
        attemptsOf(done).map(({ httpStatus, failure }) => ({ httpStatus, failure })),
        [
          { httpStatus: 200, failure: undefined },
          { httpStatus: 503, failure: "the sink answered 503" },
        ],
      );
      const [event] = sink.received;
      const [attempt] = done.recentAttempts as Record<string, unknown>[];
      assert.equal(attempt?.eventType, event?.headers["ce-type"]);
      assert.equal(attempt?.eventId, event?.headers["ce-id"]);

      const list = await rest(url, ownerToken, "GET", "/gatehouse/events/v1/deliveryStates?page_size=1");
      const latest = { ...done, recentAttempts: [attempt] };
      assert.deepEqual(list.body, { deliveryStates: [latest], skipped: 0, totalCount: "1" });
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
