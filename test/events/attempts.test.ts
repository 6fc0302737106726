// Attempts to deliver as their subscribers see them: reasons of failures, payloads, test events and redeliveries.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { readKeyRing } from "../../src/config/key-ring-file.ts";
import { formatPayload, parsePayload } from "../../src/storage/events/attempt-payload.ts";
import { findAttempt, payloadColumn } from "../../src/storage/events/delivery-attempts.ts";
import { reencryptColumns } from "../../src/storage/installation/encrypted-columns.ts";
import { newEncryption } from "../../src/storage/installation/encryption.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { addCaller } from "../security/tree.ts";
import { type Body, callAsOwner, stateAt, subscribe } from "./owner-calls.ts";
import { openSink, standingClock, startSendingServer, status } from "./sink.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`attempts to deliver (${database})`, () => {
    it("a subscription has ten test events per minute, and the audit log has each", async () => {
      await using sink = await openSink();
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock, settings: { eventDelivery: "off" } });
      const { url, ownerToken, groupUid } = server;
      const uid = await subscribe(server, sink.url);
      const test = () => rest(url, ownerToken, "POST", `${stateAt(uid)}:sendTestEvent`, {});
      for (let i = 0; i < 10; i++) assert.equal((await test()).status, 200);
      assert.equal((await test()).status, 429);
      clock.advance(60_000);
      assert.equal((await test()).status, 200);
      assert.equal(sink.received.length, 11);
      const changes = await callAsOwner(server)(
        "GET",
        `/gatehouse/changes/v1/changes?parent=${groupUid}&kind=test_events`,
      );
      assert.deepEqual(
        changes.changes.map(({ resourceUid, after: shown }: Body) => [resourceUid, shown]),
        Array.from({ length: 11 }, () => [uid, { sink: sink.url }]),
      );
    });

    it("the payload of an attempt has neither signature nor claims, and needs the capability to list what it is about", async () => {
      await using sink = await openSink();
      sink.answer = (_received, response) => void response.setHeader("set-cookie", "a=b").end("x".repeat(5_000));
      await using server = await startSendingServer({ database });
      const { url, groupUid } = server;
      const call = callAsOwner(server);
      const uid = await subscribe(server, sink.url);
      await call("POST", `/iam/v2beta1/groups/${groupUid}`, { name: "team" });
      const isGroup = ({ headers }: Body) => headers["ce-type"] === "dev.chainguard.api.iam.group.created.v1";
      const [event] = await sink.wait(1, isGroup);
      const attempt = await until("the attempt", async () => {
        const { recentAttempts } = await call("GET", stateAt(uid));
        return recentAttempts.find(({ eventId }: Body) => eventId === event!.headers["ce-id"]);
      });
      const at = `/gatehouse/events/v1/attempts/${attempt.uid}`;
      const details = await call("GET", at);
      assert.equal(details.requestBody, event!.body);
      const names = details.requestHeaders.map(({ name }: Body) => name);
      assert.ok(names.includes("ce-id") && !names.includes("authorization"), names.join());
      assert.ok(!details.responseHeaders.some(({ name }: Body) => name === "set-cookie"));
      assert.deepEqual([details.responseBody, details.responseBodyTruncated], ["x".repeat(4096), true]);

      const roleWith = (name: string, ...capabilities: string[]) =>
        call("POST", `/iam/v2beta1/roles/${groupUid}`, { name, capabilities });
      const hears = await roleWith("hears", "CAP_EVENTS_SUBSCRIPTION_LIST");
      const reads = await roleWith("reads", "CAP_EVENTS_SUBSCRIPTION_LIST", "CAP_IAM_GROUPS_LIST");
      const hearing = await addCaller(server, groupUid, hears.uid);
      const hidden = await call("GET", at, undefined, hearing.token);
      assert.deepEqual(
        [hidden.payloadState, hidden.missingCapability, hidden.requestBody ?? "", hidden.responseBody ?? ""],
        ["PAYLOAD_STATE_HIDDEN", "groups.list", "", ""],
      );
      const reading = await addCaller(server, groupUid, reads.uid);
      const { requestBody } = await call("GET", at, undefined, reading.token);
      const { actor, body } = JSON.parse(event!.body);
      assert.deepEqual(JSON.parse(requestBody), { actor: { ...actor, act: {} }, body });
      const stranger = await rest(url, hearing.token, "GET", `/gatehouse/events/v1/attempts/${"0".repeat(40)}`);
      assert.equal(stranger.status, 403);
    });

    it("the payload of an attempt is encrypted in the database, and re-encrypted after a change of keys", async () => {
      await using sink = await openSink();
      await using server = await startSendingServer({ database, settings: { eventDelivery: "off" } });
      const uid = await subscribe(server, sink.url);
      const attempt = await callAsOwner(server)("POST", `${stateAt(uid)}:sendTestEvent`, {});
      const { database: stored } = server.server;
      const payloadOf = async () => (await findAttempt(stored.session, attempt.uid))?.payload ?? "";
      const before = await payloadOf();
      assert.match(before, /^gatehouse-sealed:1:/);
      const next = newEncryption([Buffer.alloc(32, 1), ...readKeyRing(server.config)]);
      await reencryptColumns(stored, next, { actor: "", method: "test", requestId: "", time: server.clock() });
      const after = await payloadOf();
      assert.notEqual(after, before);
      const { request } = parsePayload(next.decrypt(payloadColumn(attempt.uid), after));
      assert.equal(request.text, sink.received[0]!.body);
    });

    it("a redelivery has the same id and body, and what waits already is not queued again", async () => {
      await using sink = await openSink();
      const clock = standingClock();
      await using server = await startSendingServer({ database, clock });
      const call = callAsOwner(server);
      const uid = await subscribe(server, sink.url);
      const [first] = await sink.wait(1);
      const eventId = first!.headers["ce-id"];
      await until("the attempt", async () => (await call("GET", stateAt(uid))).recentAttempts[0]);
      // Older than the time after which events are dropped: it counts from the redelivery on.
      clock.advance(5 * 24 * 60 * 60 * 1000);
      sink.answer = status(500);
      const unknown = "00000000-0000-0000-0000-000000000000";
      const redeliver = async () =>
        (await call("POST", `${stateAt(uid)}:redeliver`, { eventIds: [eventId, unknown] })).redeliveries.map(
          ({ outcome }: Body) => outcome,
        );
      assert.deepEqual(await redeliver(), ["REDELIVERY_OUTCOME_QUEUED", "REDELIVERY_OUTCOME_NOT_STORED"]);
      const [, again] = await sink.wait(2);
      assert.deepEqual([again!.headers["ce-id"], again!.body], [eventId, first!.body]);
      await until("the failure", async () => (await call("GET", stateAt(uid))).failedAttempts || undefined);
      assert.deepEqual(await redeliver(), ["REDELIVERY_OUTCOME_WAITING", "REDELIVERY_OUTCOME_NOT_STORED"]);
      sink.answer = (_received, response) => void response.end();
      await call("POST", `${stateAt(uid)}:retry`, {});
      await until("the delivery", async () => (await call("GET", stateAt(uid))).waiting === 0 || undefined);
      const { changes } = await call(
        "GET",
        `/gatehouse/changes/v1/changes?parent=${server.groupUid}&kind=redeliveries`,
      );
      assert.deepEqual(
        changes.map(({ after: shown }: Body) => shown),
        [{ eventIds: [eventId] }],
      );
      const tooMany = { eventIds: Array.from({ length: 101 }, () => unknown) };
      const rejected = await rest(
        server.url,
        await server.tokenOf(server.ownerUid),
        "POST",
        `${stateAt(uid)}:redeliver`,
        tooMany,
      );
      assert.match(rejected.body.message, /event_ids: must not have more than 100 items/);
    });
  });
}

describe("the payload of an attempt", () => {
  it("the stored payload of an attempt has at most 64 KiB of the request and 4 KiB of the response, of whole characters", () => {
    const event = { headers: { "ce-id": "1" }, data: `a${"ü".repeat(40_000)}` };
    const reply = { headers: [], beginning: Buffer.from("ü".repeat(2_048)) };
    const { request, response } = parsePayload(formatPayload({ event, reply }));
    assert.deepEqual(request, { text: `a${"ü".repeat(32_767)}`, isCut: true });
    assert.deepEqual(response, { text: "ü".repeat(2_048), isCut: false });
  });
});
