// A document is completed while other writes of the same document have not committed.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import pg from "pg";
import {
  AdvisoryRecordSchema,
  ProductStatus,
  RecordFormat,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import { incomingRecord, storeRecord } from "../../../../src/services/vulnerabilities/records/store-record.ts";
import type { Transaction } from "../../../../src/storage/engine/session.ts";
import {
  findCompleteDocument,
  lockDocument,
  writeCompleteDocument,
} from "../../../../src/storage/vulnerabilities/complete-documents.ts";
import { findStoredCopy } from "../../../../src/storage/vulnerabilities/records.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { untilTrue } from "../../../harness/until.ts";
import { recordService } from "./records.ts";

after(stopPostgres);

const [earlier, later] = [Date.UTC(2025, 0, 1), Date.UTC(2025, 0, 2)];

for (const database of databases) {
  describe(`the completion of a document on ${database}`, () => {
    let server: TestServer;
    let locks: pg.Client | undefined;
    before(async () => {
      server = await startTestServer({ database });
      if (database === "sqlite") return;
      locks = new pg.Client(server.config.databaseUrl);
      await locks.connect();
    });
    after(async () => {
      await locks?.end();
      await server[Symbol.asyncDispose]();
    });

    /** Writes, and commits once `work` is done or has to wait for the write. */
    async function commitLate(
      write: (tx: Transaction) => Promise<unknown>,
      work: () => Promise<unknown>,
    ): Promise<void> {
      const context = { actor: "", method: "test", requestId: "", time: server.clock(), isAlone: true };
      const started = await server.server.database.write(context, async (tx) => {
        await write(tx);
        let isOver = false;
        const running = work().finally(() => {
          isOver = true;
        });
        running.catch(() => {});
        await (locks ? untilTrue(async () => isOver || (await isBlocked())) : manyTicks());
        return { running };
      });
      await started.running;
    }

    async function isBlocked(): Promise<boolean> {
      const waiting = await locks!.query("SELECT FROM pg_locks WHERE NOT granted");
      return waiting.rowCount !== 0;
    }

    it("deletes an earlier record whose write began before it, and commits after it began", async () => {
      const key = { source: "Team", document: "VEX-1", vulnerability: "CVE-1" };
      const record = create(AdvisoryRecordSchema, {
        ...key,
        format: RecordFormat.OPENVEX,
        modifyTime: toTimestamp(earlier),
        statements: [{ product: { purl: "pkg:npm/left" }, status: ProductStatus.AFFECTED }],
      });
      const { groupUid: parent } = server;
      await commitLate(
        (tx) => storeRecord(tx, parent, incomingRecord(record), undefined),
        () => recordService(server).complete(parent, key, later),
      );
      assert.equal(await findStoredCopy(server.server.database.session, { parent, ...key }), undefined);
    });

    it("the completion of a document does not replace the completion in a later version that began before it", async () => {
      const key = { parent: server.groupUid, source: "Team", document: "VEX-2" };
      await commitLate(
        async (tx) => {
          await lockDocument(tx, key, "exclusive");
          await writeCompleteDocument(tx, { ...key, modifyTime: later, modifyNanos: 0, revision: 0 });
        },
        () => recordService(server).complete(key.parent, key, earlier),
      );
      const complete = await findCompleteDocument(server.server.database.session, key);
      assert.equal(complete?.modifyTime, later);
    });
  });
}

/** Lets everything run that waits for no write: on SQLite, reads take no time. */
async function manyTicks(): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
}
