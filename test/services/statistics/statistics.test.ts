// What a query for statistics returns, whom it is shown, and which queries are rejected.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { countedSinceSetting } from "../../../src/services/statistics/limits.ts";
import { metrics } from "../../../src/services/statistics/metrics.ts";
import { writeSetting } from "../../../src/storage/engine/settings.ts";
import { addDailyCounts, type DailyCount, setDailyCounts } from "../../../src/storage/statistics/daily-counts.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addRole, arrange, ownerRole, viewerRole } from "../../security/tree.ts";
import { ask, sumsOf } from "./requests.ts";

after(stopPostgres);

/** A Wednesday. */
const today = Date.UTC(2026, 6, 15);
const now = today + 13 * 60 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;
const day = (before: number) => today - before * dayMs;
const text = (before: number) => new Date(day(before)).toISOString().slice(0, 10);

for (const database of databases) {
  describe(`statistics on ${database}`, () => {
    let server: TestServer;
    let group: string;
    before(async () => {
      server = await startTestServer({ database, clock: () => now });
      await arrange(server, (tx) => writeSetting(tx, countedSinceSetting, String(day(500))));
      group = await addGroup(server, server.groupUid);
    });
    after(() => server[Symbol.asyncDispose]());

    const add = (...rows: (Omit<DailyCount, "groupUid"> & { groupUid?: string })[]) =>
      arrange(server, (tx) =>
        addDailyCounts(
          tx,
          rows.map((row) => ({ groupUid: group, ...row })),
        ),
      );

    it("a query without days returns the last 30, with zeros for days without counts", async () => {
      await add(
        { metric: "exchanges", day: day(0), count: 3 },
        { metric: "exchanges", day: day(29), count: 4 },
        { metric: "exchanges", day: day(30), count: 5 },
        { metric: "denials", day: day(0), count: 6 },
      );
      const { body } = await ask(server, group, { metrics: ["denials", "exchanges"] });
      assert.deepEqual(
        body.metrics.map(({ metric, counts }: { metric: string; counts: string[] }) => [
          metric,
          counts.length,
          counts[0],
          counts.at(-1),
        ]),
        [
          ["denials", 30, "0", "6"],
          ["exchanges", 30, "4", "3"],
        ],
      );
      assert.deepEqual([body.days.length, body.days[0], body.days.at(-1)], [30, text(29), text(0)]);
      assert.deepEqual(body.metrics[0].partialSince ?? "", "");
    });

    it("weeks begin on Monday; the first and the last have only the days of the query", async () => {
      const own = await addGroup(server, server.groupUid);
      const rows = Array.from({ length: 12 }, (_, i) => ({
        groupUid: own,
        metric: "changes",
        day: day(11 - i),
        count: 2 ** i,
      }));
      await add(...rows);
      const { body } = await ask(server, own, {
        metrics: "changes",
        step: "STATISTICS_STEP_WEEK",
        startDay: text(11),
        endDay: text(0),
      });
      // From Saturday to Wednesday.
      assert.deepEqual(body.days, [text(11), text(9), text(2)]);
      assert.deepEqual(body.metrics[0].counts, [String(0b11), String(0b111111100), String(0b111000000000)]);
    });

    it("a level holds until the next one, and a week has its last", async () => {
      const metric = "advisories_open_high";
      const own = await addGroup(server, server.groupUid);
      const levels = [
        [9, 5],
        [6, 7],
        [3, 0],
        [1, 2],
      ] as const;
      await arrange(server, (tx) =>
        setDailyCounts(
          tx,
          levels.map(([before, count]) => ({ groupUid: own, metric, day: day(before), count })),
        ),
      );
      const days = { startDay: text(10), endDay: text(-2) };
      const byDay = await ask(server, own, { metrics: metric, ...days });
      assert.deepEqual(byDay.body.metrics[0].counts.map(Number), [0, 5, 5, 5, 7, 7, 7, 0, 0, 2, 2, 0, 0]);
      const byWeek = await ask(server, own, { metrics: metric, ...days, step: "STATISTICS_STEP_WEEK" });
      assert.deepEqual(
        [byWeek.body.days, byWeek.body.metrics[0].counts.map(Number)],
        [
          [text(10), text(9), text(2)],
          [0, 0, 2],
        ],
      );
    });

    it("counts that are added are summed, those that are set are replaced, and groups that do not exist have none", async () => {
      const own = await addGroup(server, server.groupUid);
      const absent = `${own}/0123456789abcdef`;
      for (const count of [2, 3])
        await add(
          { groupUid: own, metric: "changes", day: day(0), count },
          { groupUid: absent, metric: "changes", day: day(0), count },
        );
      assert.deepEqual(await sumsOf(server, own, ["changes"]), { changes: 5 });
      await arrange(server, (tx) => setDailyCounts(tx, [{ groupUid: own, metric: "changes", day: day(0), count: 1 }]));
      assert.deepEqual(await sumsOf(server, own, ["changes"]), { changes: 1 });
      const { status } = await ask(server, absent, { metrics: "changes" });
      assert.equal(status, 404);
    });

    it("a deleted group leaves no counts, and its parent keeps them", async () => {
      const own = await addGroup(server, server.groupUid);
      const child = await addGroup(server, own);
      for (const groupUid of [own, child]) await add({ groupUid, metric: "exchanges", day: day(1), count: 9 });
      const { url, ownerToken } = server;
      const reply = await fetch(`${url}/iam/v2beta1/groups/${child}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${ownerToken}` },
      });
      assert.equal(reply.status, 200);
      const rows = await server.server.database.session
        .prepared("test.daily_counts", (db, { dailyCounts }) => db.select().from(dailyCounts))
        .execute();
      const left = rows.filter(({ metric, day: of }) => metric === "exchanges" && of === day(1));
      assert.deepEqual(
        left.map(({ groupUid }) => groupUid),
        [own],
      );
    });

    it("before counting began, and before what is kept, the counts are partial", async () => {
      let time = now;
      await using young = await startTestServer({ database, clock: () => time });
      const partialSince = async (startDay: string) => {
        const token = await young.tokenOf(young.ownerUid);
        const { body } = await ask(young, young.groupUid, { metrics: "changes", startDay }, token);
        return body.metrics[0].partialSince ?? "";
      };
      assert.deepEqual([await partialSince(text(0)), await partialSince(text(1))], ["", text(0)]);
      time += 5 * dayMs;
      assert.deepEqual([await partialSince(text(0)), await partialSince(text(1))], ["", text(0)]);
      const { body } = await ask(server, group, { metrics: "changes", startDay: text(400), endDay: text(20) });
      assert.equal(body.metrics[0].partialSince, text(399));
    });

    it("a metric is absent, with the reason, for callers without the capability for its kind", async () => {
      const viewer = await addCaller(server, group, viewerRole.uid);
      const role = await addRole(server, server.groupUid, [
        Capability.CAP_IAM_GROUPS_LIST,
        Capability.CAP_EVENTS_SUBSCRIPTION_LIST,
      ]);
      const onCall = await addCaller(server, group, role);
      const asked = ["changes", "deliveries", "advisories_open_low"];
      const seenBy = async (token: string) => {
        const { body } = await ask(server, group, { metrics: asked }, token);
        return [body.metrics ?? [], body.unavailableMetrics ?? []].map((list) =>
          list.map(({ metric, missingCapability: lacks }: { metric: string; missingCapability?: string }) =>
            lacks ? `${metric}: ${lacks}` : metric,
          ),
        );
      };
      assert.deepEqual(await seenBy(server.ownerToken), [asked, []]);
      assert.deepEqual(await seenBy(onCall.token), [
        ["deliveries"],
        ["changes: subscriptions.create", "advisories_open_low: advisories.list"],
      ]);
      const [shown, hidden] = await seenBy(viewer.token);
      assert.ok(
        !shown!.includes("changes") && hidden!.includes("changes: subscriptions.create"),
        JSON.stringify([shown, hidden]),
      );
    });

    it("a caller of another tenant, or of a sibling group, cannot tell whether a group exists", async () => {
      const other = await addGroup(server, null, "other");
      const stranger = await addCaller(server, other, ownerRole.uid);
      const sibling = await addCaller(server, await addGroup(server, server.groupUid), ownerRole.uid);
      for (const { token } of [stranger, sibling]) {
        const replies = await Promise.all(
          [group, `${server.groupUid}/${"f".repeat(16)}`].map((uid) => ask(server, uid, { metrics: "changes" }, token)),
        );
        const seen = replies.map(({ status, body }) => [status, body.message.replace(/ at [0-9a-f/]+/, "")]);
        assert.deepEqual(seen[0], seen[1]);
        assert.equal(seen[0]![0], 403);
      }
    });

    const all = Object.keys(metrics);
    const rejected: readonly (readonly [rule: string, parameters: Record<string, string | string[]>, field: string])[] =
      [
        ["a query names a metric", {}, "metrics"],
        ["a query has at most 12 metrics", { metrics: all.slice(0, 13) }, "metrics"],
        ["a metric is known", { metrics: ["changes", "logins"] }, "metrics[1]"],
        ["a metric is asked for once", { metrics: ["changes", "changes"] }, "metrics[1]"],
        ["a day exists", { metrics: "changes", startDay: "2026-02-30" }, "start_day"],
        ["a day has no time", { metrics: "changes", endDay: "2026-02-03T00:00:00Z" }, "end_day"],
        [
          "the first day is not after the last",
          { metrics: "changes", startDay: text(1), endDay: text(2) },
          "start_day",
        ],
        ["a query has at most 400 days", { metrics: "changes", startDay: text(400) }, "start_day"],
      ];
    for (const [rule, parameters, field] of rejected) {
      it(`a query for statistics is rejected unless ${rule}`, async () => {
        const { status, body } = await ask(server, group, parameters);
        assert.equal(status, 400, JSON.stringify(body));
        const violations = body.details.flatMap(
          ({ fieldViolations = [] }: { fieldViolations?: { field: string }[] }) => fieldViolations,
        );
        assert.deepEqual(
          violations.map((violation: { field: string }) => violation.field),
          [field],
        );
      });
    }

    it("a query may have 400 days and 12 metrics", async () => {
      const { status, body } = await ask(server, group, { metrics: all.slice(0, 12), startDay: text(399) });
      assert.deepEqual([status, body.days.length, body.metrics.length], [200, 400, 12]);
    });
  });
}
