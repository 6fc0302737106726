// Records that 0.3.0 stored under a spelling of an ecosystem that it did not know.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  AdvisoryRecordSchema,
  ProductStatus,
  RangeEventType,
  RecordFormat,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import { collections } from "../../../../src/services/collections.ts";
import { findLocked, replaceState } from "../../../../src/services/vulnerabilities/advisories/advisory-state.ts";
import { repairDatabase } from "../../../../src/storage/check/check-database.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { arrange } from "../../../security/tree.ts";
import { allAdvisories, recordService } from "./records.ts";

after(stopPostgres);

const path = "/gatehouse.vulnerabilities.v1.AdvisoryQueryService/QueryAffected";

for (const database of ["sqlite", "postgres"] as const) {
  describe(`a record of the ecosystem opensuse-leap on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    async function found(query: Record<string, string>): Promise<unknown[]> {
      const response = await fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${server.ownerToken}` },
        body: JSON.stringify({ query, uidp: { descendantsOf: server.groupUid } }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: the JSON of a response
      const { advisories = [] }: any = await response.json();
      // biome-ignore lint/suspicious/noExplicitAny: the same
      return advisories.map(({ status, uncertain }: any) => [status, uncertain]);
    }

    it("is found by every spelling after a repair of the database, and its versions compare", async () => {
      const record = create(AdvisoryRecordSchema, {
        ...{ source: "s", document: "SU-1", vulnerability: "SU-1", advisoryId: "SU-1", format: RecordFormat.OSV },
        modifyTime: toTimestamp(Date.UTC(2025, 0, 1)),
        statements: [
          {
            product: { ecosystem: "opensuse-leap", name: "wget" },
            release: "15.6",
            status: ProductStatus.AFFECTED,
            ranges: [
              {
                type: "ECOSYSTEM",
                events: [
                  { type: RangeEventType.INTRODUCED, version: "0" },
                  { type: RangeEventType.FIXED, version: "8.0-1" },
                ],
              },
            ],
          },
        ],
      });
      await recordService(server).import(server.groupUid, [record]);
      const [advisory] = await allAdvisories(server);
      await arrange(server, async (tx) => {
        const state = (await findLocked(tx, advisory!.uid))!;
        // The keys of 0.3.0.
        await replaceState(tx, state, { ...state, row: { ...state.row, lookUpKeys: ["opensuse-leap:wget"] } });
      });
      const byPurl = { purl: "pkg:rpm/opensuse/wget@7.0-1" };
      assert.deepEqual(await found(byPurl), []);
      await arrange(server, (tx) => repairDatabase(tx, collections));
      for (const query of [
        byPurl,
        { purl: "pkg:rpm/opensuse-leap/wget@7.0-1?distro=opensuse-leap-15.6" },
        { ecosystem: "openSUSE:Leap 15.6", name: "wget", version: "7.0-1" },
        { ecosystem: "opensuse-leap:15.6", name: "wget", version: "7.0-1" },
      ])
        assert.deepEqual(await found(query), [["PRODUCT_STATUS_AFFECTED", undefined]], JSON.stringify(query));
      assert.deepEqual(await found({ ecosystem: "opensuse-leap:15.5", name: "wget", version: "7.0-1" }), []);
    });
  });
}
