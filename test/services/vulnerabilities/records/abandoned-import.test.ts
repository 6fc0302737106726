// An import whose client leaves ends on the server between two records: each is stored with its advisory, or not at all.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { recordTables } from "../../../../src/services/vulnerabilities/records/record-check.ts";
import { findStoredCopy } from "../../../../src/storage/vulnerabilities/records.ts";
import { writingServers } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { isQuick } from "../../../harness/quick.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { until } from "../../../harness/until.ts";

after(stopPostgres);

const path = "/gatehouse.vulnerabilities.v1.AdvisoryRecordsService/ImportAdvisoryRecords";
const count = 1000;
const key = { source: "Team", document: "GO-1", vulnerability: "GO-1" };

/** Copies of one record, which are written one after another. */
const records = Array.from({ length: count }, (_, i) => ({
  ...key,
  format: "RECORD_FORMAT_OSV",
  revision: String(i + 1),
  modifyTime: "2020-01-01T00:00:00Z",
  statements: [
    {
      product: { purl: "pkg:golang/example.test/m" },
      status: "PRODUCT_STATUS_AFFECTED",
      versions: [`1.0.${i + 1}`],
    },
  ],
}));

for (const [title, options] of Object.entries(writingServers)) {
  describe(`an abandoned import: ${title}`, { skip: isQuick && options.forwardsWrites }, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(options);
    });
    after(() => server[Symbol.asyncDispose]());

    const importAll = (signal?: AbortSignal) =>
      fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${server.ownerToken}` },
        body: JSON.stringify({ parent: server.groupUid, records }),
        ...(signal && { signal }),
      });

    async function stored(): Promise<number> {
      const copy = await findStoredCopy(server.server.database.session, { parent: server.groupUid, ...key });
      return copy?.revision ?? 0;
    }

    async function findings(): Promise<string[]> {
      const found: string[] = [];
      for await (const each of recordTables.findings(server.server.database.session)) found.push(each);
      return found;
    }

    /** Excludes all other writes of records while `work` runs. */
    function whileLocked(work: () => Promise<void>): Promise<void> {
      const context = { actor: "", method: "test", requestId: "", time: server.clock(), isAlone: true };
      return server.server.database.write(context, async (tx) => {
        await tx.lockTables([tx.tables.advisoryRecords as never]);
        await work();
      });
    }

    /** Returns the revision that is stored once no write of the import follows ten others. */
    async function settled(): Promise<number> {
      return await until("the end of the import", async () => {
        const revision = await stored();
        for (let i = 0; i < 10; i++) await whileLocked(async () => {});
        return (await stored()) === revision ? revision : undefined;
      });
    }

    it("stores no record after its client has left, and each stored record with its advisory", async () => {
      const leave = new AbortController();
      const response = importAll(leave.signal);
      response.catch(() => {});
      await until("the first record", async () => (await stored()) || undefined);
      await whileLocked(async () => leave.abort());
      await assert.rejects(response, { name: "AbortError" });
      const revision = await settled();
      assert.ok(revision > 0 && revision < count, `revision ${revision} of ${count} is stored`);
      assert.deepEqual(await findings(), []);

      assert.equal((await importAll()).status, 200);
      assert.equal(await stored(), count);
      assert.deepEqual(await findings(), []);
    });
  });
}
