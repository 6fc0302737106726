// The state of deliveries, for callers who may see the subscription.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { DatabaseKind } from "../harness/server.ts";
import { accept, openSink, standingClock, startSendingServer, status } from "./sink.ts";

after(stopPostgres);

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
        { ...failing, nextAttemptTime: undefined },
        {
          ...{ subscriptionUid: body.uid, waiting: 1, waitingSince: now, failedAttempts: 1 },
          ...{ lastFailure: "the sink answered 503", nextAttemptTime: undefined },
        },
      );
      assert.ok(String(failing.nextAttemptTime) > now);

      sink.answer = accept;
      const retried = await rest(url, ownerToken, "POST", `${at}:retry`, {});
      assert.equal(retried.body.nextAttemptTime, now);
      await sink.wait(2);
      let done = await state();
      while (done.waiting !== 0) done = await state();
      assert.deepEqual(done, { subscriptionUid: body.uid, waiting: 0, failedAttempts: 0 });
    });
  });
}
