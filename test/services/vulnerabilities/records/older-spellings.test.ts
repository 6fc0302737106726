// Records that 0.3.0 stored under a spelling of an ecosystem that it did not know.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  ProductSchema,
  ProductStatus,
  RangeEventType,
  RecordFormat,
  RecordOutcome,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { digestOf } from "../../../../src/advisories/digest.ts";
import { readDocument } from "../../../../src/advisories/formats.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import { collections } from "../../../../src/services/resources.ts";
import { findLocked, replaceState } from "../../../../src/services/vulnerabilities/advisories/advisory-state.ts";
import { checkDatabase, repairDatabase } from "../../../../src/storage/check/check-database.ts";
import { listRecords } from "../../../../src/storage/vulnerabilities/records.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { arrange } from "../../../security/tree.ts";
import { allAdvisories, recordService } from "./records.ts";

after(stopPostgres);

const path = "/gatehouse.vulnerabilities.v1.AdvisoryQueryService/QueryAffected";

for (const database of databases) {
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

    it("a record of the ecosystem opensuse-leap is found by every spelling after a repair of the database, and its versions compare", async () => {
      const record = create(AdvisoryRecordSchema, {
        source: "s",
        document: "SU-1",
        vulnerability: "SU-1",
        advisoryId: "SU-1",
        format: RecordFormat.OSV,
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

const spellings: readonly string[] = [
  "pypi",
  "PYPI",
  "pip",
  "golang",
  "debian:12",
  "opensuse-leap:15.6",
  "opensuse-tumbleweed",
  "maven:https://maven.example",
];

/** Documents of which, in each spelling, some have the greater digest before their repair and some after it. */
const documents = spellings.flatMap((ecosystem, i) =>
  Array.from({ length: 8 }, (_, j) => ({
    id: `OSV-2024-${100 * i + j}`,
    modified: "2024-05-01T00:00:00.123456789Z",
    affected: [{ package: { ecosystem, name: "g:a" }, versions: ["1.0"] }],
  })),
);

function recordsNow(): AdvisoryRecord[] {
  return documents.flatMap((each) =>
    [...readDocument(each, "auto", { source: "" }).items].map(({ record }) => record!),
  );
}

/** Returns the records as 0.3.0 read them: with the ecosystem as it is written, to which it knew no package URL. */
function recordsOf030(): AdvisoryRecord[] {
  return recordsNow().map((record, i) => {
    const [{ package: named }] = documents[i]!.affected as [(typeof documents)[number]["affected"][number]];
    const [, ecosystem = "", release = ""] = /^([^:]+(?::https:.*)?):?(.*)$/.exec(named.ecosystem) ?? [];
    const product = create(ProductSchema, { ecosystem, name: named.name });
    return { ...record, statements: record.statements.map((each) => ({ ...each, product, release })) };
  });
}

for (const database of databases) {
  describe(`documents that 0.3.0 imported in other spellings of ecosystems on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    const all = { source: "", document: "", isWithdrawn: false, limit: 1000 };
    const after0 = { parent: "", source: "", document: "", vulnerability: "" };
    async function storedDigests(): Promise<string[]> {
      const { session } = server.server.database;
      const rows = await listRecords(session, { ...all, from: "", to: "g", after: after0 }, false);
      return rows.map(({ digest }) => digest).sort();
    }
    const digestsOf = (records: readonly AdvisoryRecord[]) => records.map(digestOf).sort();

    it("records in another spelling are updated to that of OSV when they are imported again unchanged, and stay so", async () => {
      const service = recordService(server);
      const outcomes = async (records: readonly AdvisoryRecord[], isDryRun = false) => [
        ...new Set((await service.import(server.groupUid, records, isDryRun)).map(({ outcome }) => outcome)),
      ];
      const [old, now] = [recordsOf030(), recordsNow()];
      assert.ok(old.some((each, i) => digestOf(each) > digestOf(now[i]!)));
      assert.deepEqual(await outcomes(old), [RecordOutcome.CREATED]);
      assert.deepEqual(await storedDigests(), digestsOf(old));
      assert.deepEqual(await outcomes(now, true), [RecordOutcome.UPDATED]);
      assert.deepEqual(await outcomes(now), [RecordOutcome.UPDATED]);
      assert.deepEqual(await storedDigests(), digestsOf(now));
      assert.deepEqual(await outcomes(now), [RecordOutcome.UNCHANGED]);
      assert.deepEqual(await outcomes(old), [RecordOutcome.UNCHANGED]);
      assert.deepEqual(await storedDigests(), digestsOf(now));
      assert.equal((await allAdvisories(server)).length, documents.length);
      const { findings } = await server.server.database.read((session) => checkDatabase(session, collections));
      assert.deepEqual(findings, []);
    });
  });
}
