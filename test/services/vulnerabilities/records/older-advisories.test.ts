// Advisories that the version before records has imported, and what becomes of them when their sources are imported again. `rows.json`
// is what that version made of the first documents in `documents.json`, and of an event that was added with the API.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { AdvisoryRecord } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { RecordOutcome } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readDocument } from "../../../../src/advisories/formats.ts";
import { collections } from "../../../../src/services/resources.ts";
import { insertState } from "../../../../src/services/vulnerabilities/advisories/advisory-state.ts";
import { checkDatabase } from "../../../../src/storage/check/check-database.ts";
import type { Transaction } from "../../../../src/storage/engine/session.ts";
import {
  type AdvisoryEventRow,
  findAdvisoryEvents,
  insertDeletedAdvisory,
} from "../../../../src/storage/vulnerabilities/advisories.ts";
import { type AdvisoryRow, unknownProduct } from "../../../../src/storage/vulnerabilities/rows.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { arrange } from "../../../security/tree.ts";
import { allAdvisories, recordService } from "./records.ts";

after(stopPostgres);

type StoredRow = Readonly<Record<string, unknown>>;

const json = (name: string) => readFileSync(new URL(`older/${name}.json`, import.meta.url), "utf8");
const documents = JSON.parse(json("documents")) as Readonly<Record<"first" | "second", readonly unknown[]>>;
const jsonColumns = ["aliases", "severities", "sources", "event", "advisory", "events"];

/** Returns a row by the names of its properties. */
function rowOf(stored: StoredRow): StoredRow {
  const named = Object.entries(stored).map(([column, value]) => [
    column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    jsonColumns.includes(column) ? JSON.parse(String(value)) : value,
  ]);
  return Object.fromEntries(named);
}

/** Stores what the earlier version has made, as migrations left it. */
async function insertOlder(tx: Transaction, groupUid: string): Promise<void> {
  const tables = JSON.parse(json("rows").replaceAll("GROUP", groupUid)) as Record<string, StoredRow[]>;
  const events = tables.advisory_events!.map(
    (row) => ({ ...rowOf(row), derived: false }) as unknown as AdvisoryEventRow,
  );
  for (const stored of tables.advisories!) {
    const row = { ...(rowOf(stored) as unknown as AdvisoryRow), ...unknownProduct };
    await insertState(tx, { row, events: events.filter(({ advisoryUid }) => advisoryUid === row.uid) });
  }
  for (const stored of tables.deleted_advisories!) {
    const { advisory, ...row } = rowOf(stored);
    await insertDeletedAdvisory(tx, { ...row, advisory, changeTime: 0 } as never);
  }
}

function recordsOf(document: unknown): AdvisoryRecord[] {
  return [...readDocument(document, "auto", { source: "" }).items].map(({ record }) => record!);
}

/** Returns the advisories with their events, by the name of the artifact. */
async function shown(server: TestServer) {
  const rows = await allAdvisories(server);
  const events = await findAdvisoryEvents(
    server.server.database.session,
    rows.map(({ uid }) => uid),
  );
  return new Map(
    rows.map((row) => [
      row.artifactName,
      { row, events: events.filter(({ advisoryUid }) => advisoryUid === row.uid).map(wordsOf) },
    ]),
  );
}

function wordsOf({ event, author, derived }: AdvisoryEventRow): string {
  const { truePositiveDetermination, fixed, patched } = event as Record<string, { fixedVersion?: string } | undefined>;
  const what = fixed
    ? `fixed ${fixed.fixedVersion}`
    : patched
      ? "patched"
      : truePositiveDetermination
        ? "affected"
        : "?";
  return `${what} by ${author}${derived ? ", derived" : ""}`;
}

for (const database of databases) {
  describe(`advisories of an earlier version on ${database}`, () => {
    let server: TestServer;
    let service: ReturnType<typeof recordService>;
    let older: Awaited<ReturnType<typeof shown>>;
    before(async () => {
      server = await startTestServer({ database });
      service = recordService(server);
      await arrange(server, (tx) => insertOlder(tx, server.groupUid));
      older = await shown(server);
    });
    after(() => server[Symbol.asyncDispose]());

    const importAll = async (which: "first" | "second") =>
      (await Promise.all(documents[which].map((document) => service.import(server.groupUid, recordsOf(document)))))
        .flat()
        .map(({ outcome }) => outcome);

    it("advisories of an earlier version stay unchanged", async () => {
      assert.deepEqual([...older.keys()].toSorted(), ["app", "left", "middle", "right", "zlib"]);
      assert.deepEqual(older.get("left")!.events, ["fixed 1.2.0 by osv", "patched by ann"]);
      const { findings } = await server.server.database.read((session) => checkDatabase(session, collections));
      assert.deepEqual(findings, []);
    });

    it("advisories of an earlier version are not replaced by a copy that is older than what was imported", async () => {
      const [record] = recordsOf({ ...(documents.first[0] as object), modified: "2024-01-15T00:00:00Z" });
      const results = await service.import(server.groupUid, [record!]);
      assert.deepEqual([results[0]!.outcome, await shown(server)], [RecordOutcome.UNCHANGED, older]);
    });

    it("agree with their records once these are imported; uids and events of others stay", async () => {
      const { CREATED, WITHDRAWN } = RecordOutcome;
      assert.deepEqual(await importAll("first"), [CREATED, WITHDRAWN, CREATED, CREATED]);
      const now = await shown(server);
      const uids = (map: typeof now) => [...map].map(([name, { row }]) => [name, row.uid]).toSorted();
      assert.deepEqual(uids(now), uids(older));
      assert.deepEqual([...now].map(([name, { events }]) => [name, events]).toSorted(), [
        ["app", ["affected by Example Vendor, derived"]],
        ["left", ["fixed 1.2.0 by osv, derived", "patched by ann"]],
        ["middle", ["affected by osv, derived"]],
        ["right", ["affected by osv, derived"]],
        ["zlib", ["fixed 1.3-r1 by secdb, derived"]],
      ]);
      const products = [...now.values()].map(({ row }) => row.product);
      assert.ok(!products.includes(""), products.join());
    });

    it("advisories of an earlier version keep the public id, or are found by it if it has changed", async () => {
      for (const [name, { row }] of await shown(server)) {
        const { name: id } = older.get(name)!.row;
        assert.ok(row.name === id || row.legacyAdvisoryId === id, `${name}: ${id}, now ${row.name}`);
      }
    });

    it("advisories of an earlier version are withdrawn when a later copy of the record does not name their product", async () => {
      await importAll("second");
      const now = await shown(server);
      assert.deepEqual([...now.keys()].toSorted(), ["app", "left", "right", "zlib"]);
      assert.deepEqual(now.get("left")!.events, ["fixed 1.2.1 by osv, derived", "patched by ann"]);
      const { findings } = await server.server.database.read((session) => checkDatabase(session, collections));
      assert.deepEqual(findings, []);
    });
  });

  describe(`a record that dropped a product since it was imported by an earlier version on ${database}`, () => {
    it("importing a record that no longer names a product withdraws the advisory that an earlier version stored for the product", async () => {
      await using server = await startTestServer({ database });
      await arrange(server, (tx) => insertOlder(tx, server.groupUid));
      await recordService(server).import(server.groupUid, recordsOf(documents.second[0]));
      assert.deepEqual([...(await shown(server)).keys()].toSorted(), ["app", "left", "right", "zlib"]);
    });
  });
}
