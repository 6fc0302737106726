// Open advisories are counted by severity for each group and its ancestors, by one process at a time.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  AdvisoryRecordSchema,
  ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../src/aip/timestamps.ts";
import { countAdvisoryLevels } from "../../../src/services/statistics/advisory-levels.ts";
import { insertAdvisory } from "../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { startTestServer } from "../../harness/server.ts";
import { addGroup, arrange } from "../../security/tree.ts";
import { recordService } from "../vulnerabilities/records/records.ts";
import { ask } from "./requests.ts";

after(stopPostgres);

const hourMs = 60 * 60 * 1000;
const vectors = {
  critical: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  high: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H",
  medium: "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:N/A:H",
  low: "CVSS:3.1/AC:H/AV:P/PR:H/UI:R/S:U/C:L/I:N/A:N",
};
const severities = ["critical", "high", "medium", "low"] as const;
const { AFFECTED, FIXED, NOT_AFFECTED, UNDER_INVESTIGATION } = ProductStatus;

for (const database of databases) {
  describe(`levels of open advisories on ${database}`, () => {
    it("each group has the open advisories of its subtree, counted again an hour later, and none once all are fixed", async () => {
      let time = Date.UTC(2026, 6, 15, 22);
      await using server = await startTestServer({ database, clock: () => time });
      const child = await addGroup(server, server.groupUid);
      const service = recordService(server);
      let version = 0;
      const importOne = async (group: string, id: string, status: ProductStatus, ...found: string[]) => {
        const record = create(AdvisoryRecordSchema, {
          source: "red",
          document: id,
          vulnerability: id,
          advisoryId: id,
          format: RecordFormat.OSV,
          modifyTime: toTimestamp(Date.UTC(2026, 0, 1) + ++version * 1000),
          severities: found.map((score) => ({ type: "CVSS_V3", score })),
          statements: [{ product: { purl: `pkg:npm/${id.toLowerCase()}` }, status }],
        });
        await service.import(group, [record]);
      };
      const count = () => {
        const newWrite = () => ({ actor: "", method: "test", requestId: "", time });
        return countAdvisoryLevels(server.server.database, newWrite, new AbortController().signal);
      };
      /** The counts by severity on the last two days. */
      const levels = async (group: string) => {
        const metrics = severities.map((severity) => `advisories_open_${severity}`);
        const startDay = new Date(time - 24 * hourMs).toISOString().slice(0, 10);
        const token = await server.tokenOf(server.ownerUid);
        const { body } = await ask(server, group, { metrics, startDay }, token);
        const counts = body.metrics.map((each: { counts: string[] }) => each.counts.map(Number)) as number[][];
        return [0, 1].map((day) => counts.map((ofMetric) => ofMetric[day]));
      };

      await importOne(server.groupUid, "A-1", AFFECTED, vectors.high, vectors.critical);
      await importOne(child, "A-2", UNDER_INVESTIGATION, vectors.critical);
      await importOne(child, "A-3", AFFECTED, vectors.medium);
      await importOne(child, "A-4", AFFECTED);
      await importOne(child, "A-5", FIXED, vectors.high);
      await importOne(child, "A-6", NOT_AFFECTED, vectors.low);
      await count();
      const zeros = [0, 0, 0, 0];
      assert.deepEqual(await levels(server.groupUid), [zeros, [2, 0, 1, 0]]);
      assert.deepEqual(await levels(child), [zeros, [1, 0, 1, 0]]);

      await importOne(child, "A-7", AFFECTED, vectors.low);
      await count();
      assert.deepEqual(await levels(child), [zeros, [1, 0, 1, 0]], "within an hour nobody counts again");
      time += hourMs;
      await Promise.all([count(), count()]);
      assert.deepEqual(await levels(child), [zeros, [1, 0, 1, 1]]);

      // The next day.
      time += 3 * hourMs;
      for (const [id, severity] of [
        ["A-2", "critical"],
        ["A-3", "medium"],
        ["A-7", "low"],
      ] as const)
        await importOne(child, id, FIXED, vectors[severity]);
      await count();
      assert.deepEqual(await levels(child), [[1, 0, 1, 1], zeros]);
      assert.deepEqual(await levels(server.groupUid), [
        [2, 0, 1, 1],
        [1, 0, 0, 0],
      ]);
      // A day later the zeros of yesterday hold, and are not written again.
      time += 24 * hourMs;
      await count();
      assert.deepEqual(await levels(child), [zeros, zeros]);
      const rows = await server.server.database.session
        .prepared("test.daily_counts", (db, { dailyCounts }) => db.select().from(dailyCounts))
        .execute();
      const today = Math.floor(time / (24 * hourMs)) * 24 * hourMs;
      const written = rows.filter(({ day, metric }) => day === today && metric.startsWith("advisories"));
      assert.deepEqual(
        written.map(({ groupUid, metric, count: found }) => [groupUid, metric, found]),
        [[server.groupUid, "advisories_open_critical", 1]],
      );
    });

    it("an advisory counts while its latest approved event leaves it open", async () => {
      await using server = await startTestServer({ database });
      const events: readonly (readonly [isOpen: boolean, event: JsonObject])[] = [
        [true, { detection: { manual: {} } }],
        [true, { truePositiveDetermination: {} }],
        [true, { analysisNotPlanned: {} }],
        [true, { fixNotPlanned: {} }],
        [true, { pendingUpstreamFix: {} }],
        [false, { fixed: { fixedVersion: "1" } }],
        [false, { falsePositiveDetermination: { type: "TYPE_COMPONENT_VULNERABILITY_MISMATCH" } }],
        [false, { patched: {} }],
        [false, { reviewState: "REVIEW_STATE_PENDING", detection: { manual: {} } }],
      ];
      const groups: { group: string; isOpen: boolean; event: string }[] = [];
      for (const [isOpen, event] of events) {
        const group = await addGroup(server, server.groupUid);
        const approved = { reviewState: "REVIEW_STATE_APPROVED", ...event };
        const advisory = {
          advisoryId: "A-1",
          severities: [{ type: "TYPE_CVSS_V3", score: vectors.low }],
          events: [approved],
        };
        await arrange(server, (tx) => insertAdvisory(tx, group, fromJson(AdvisorySchema, advisory)));
        groups.push({ group, isOpen, event: JSON.stringify(event) });
      }
      const newWrite = () => ({ actor: "", method: "test", requestId: "", time: server.clock() });
      await countAdvisoryLevels(server.server.database, newWrite, new AbortController().signal);
      for (const { group, isOpen, event } of groups) {
        const { body } = await ask(server, group, { metrics: "advisories_open_low" });
        assert.equal(body.metrics[0].counts.at(-1), isOpen ? "1" : "0", event);
      }
    });
  });
}
