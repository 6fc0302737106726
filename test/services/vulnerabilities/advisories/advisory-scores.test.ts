// The scores by which advisories are sorted and counted: those of writes, and those filled in where an earlier release wrote none.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  ProductStatus,
  RecordFormat,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import { fillScores } from "../../../../src/services/vulnerabilities/advisories/advisory-scores.ts";
import { gte, sql } from "../../../../src/storage/schema/drizzle.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { arrange } from "../../../security/tree.ts";
import { allAdvisories, recordService } from "../records/records.ts";

const now = Date.UTC(2026, 0, 1);
const critical = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const high = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H";

/** A record about one package, changed on a day of January 2025. */
function recordOf(document: string, day: number, changes: Partial<AdvisoryRecord>): AdvisoryRecord {
  return create(AdvisoryRecordSchema, {
    source: "red",
    document,
    vulnerability: document,
    advisoryId: document,
    format: RecordFormat.OSV,
    modifyTime: toTimestamp(Date.UTC(2025, 0, day)),
    statements: [{ product: { purl: `pkg:npm/${document.toLowerCase()}` }, status: ProductStatus.AFFECTED }],
    ...changes,
  } as never);
}

const scored = (...vectors: string[]) => ({
  severities: vectors.map((score) => ({ type: "CVSS_V3", score })) as never,
});

async function scoresOf(server: TestServer) {
  const rows = await allAdvisories(server);
  return Object.fromEntries(rows.map(({ name, score, publishTime }) => [name, [score, publishTime]]));
}

after(stopPostgres);

for (const database of databases) {
  describe(`scores of advisories on ${database}`, () => {
    it("an import stores the highest score of an advisory and its first publication, and the next version replaces them", async () => {
      await using server = await startTestServer({ database, clock: () => now });
      const service = recordService(server);
      const publishTime = toTimestamp(Date.UTC(2025, 0, 2));
      await service.import(server.groupUid, [
        recordOf("X-1", 3, { ...scored(high, critical), publishTime }),
        recordOf("X-2", 3, {}),
      ]);
      const published = Date.UTC(2025, 0, 2);
      const [, modified] = (await scoresOf(server))["X-2"]!;
      assert.deepEqual(await scoresOf(server), { "X-1": [98, published], "X-2": [-1, modified] });
      await service.import(server.groupUid, [recordOf("X-1", 4, { ...scored(high), publishTime })]);
      assert.deepEqual((await scoresOf(server))["X-1"], [75, published]);
    });

    it("advisories of a release without scores get those that their next import would store", async () => {
      await using server = await startTestServer({ database, clock: () => now });
      const { server: running } = server;
      const records = Array.from({ length: 250 }, (_, i) =>
        recordOf(`X-${i}`, 3, {
          ...(i % 2 === 0 && scored(i % 4 === 0 ? high : critical)),
          ...(i % 3 === 0 && { publishTime: toTimestamp(Date.UTC(2024, 0, 1 + i)) }),
        }),
      );
      await recordService(server).import(server.groupUid, records);
      const before = await scoresOf(server);
      await arrange(server, async (tx) => {
        const clear = tx.prepared("test.clear_scores", (db, { advisories }) =>
          db
            .update(advisories)
            .set({ score: null, publishTime: null })
            .where(gte(advisories.uid, sql.placeholder("uid"))),
        );
        await clear.execute({ uid: "" });
      });
      assert.deepEqual(new Set(Object.values(await scoresOf(server)).flat()), new Set([null]));
      const context = { actor: "", method: "test", requestId: "", time: now };
      await fillScores(running.database, context, AbortSignal.abort());
      assert.deepEqual(
        new Set(Object.values(await scoresOf(server)).flat()),
        new Set([null]),
        "an aborted run writes nothing",
      );
      const { signal } = new AbortController();
      // Two servers at once.
      await Promise.all([1, 2].map(() => fillScores(running.database, context, signal)));
      assert.deepEqual(await scoresOf(server), before);
    });
  });
}
