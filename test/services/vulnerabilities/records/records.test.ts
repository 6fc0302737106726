// Advisories are derived from the records of sources, regardless of the order and number of imports.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { EventTypeFilter } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  ProductStatus,
  RecordFormat,
  RecordOutcome,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import { collections } from "../../../../src/services/resources.ts";
import { lastChange } from "../../../../src/storage/change-log/change-log.ts";
import { checkDatabase, repairDatabase } from "../../../../src/storage/check/check-database.ts";
import { readExportState } from "../../../../src/storage/engine/export-states.ts";
import { eq, getTableColumns } from "../../../../src/storage/schema/drizzle.ts";
import { deleteAdvisoryEvents } from "../../../../src/storage/vulnerabilities/advisories.ts";
import { deleteRecordLink, findStoredCopy } from "../../../../src/storage/vulnerabilities/records.ts";
import { newDraws } from "../../../advisories/osv/generated.ts";
import { casesOf } from "../../../harness/quick.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { addGroup, arrange } from "../../../security/tree.ts";
import { allAdvisories, contentsByGroup, recordService } from "./records.ts";

const now = Date.UTC(2026, 0, 1);
const { NOT_AFFECTED, FIXED, UNDER_INVESTIGATION, AFFECTED } = ProductStatus;
/** From the best to the worst. */
const statuses: readonly ProductStatus[] = [NOT_AFFECTED, FIXED, UNDER_INVESTIGATION, AFFECTED];

/** A version of a document, with all of its records. */
interface Version {
  readonly source: string;
  readonly document: string;
  readonly time: number;
  readonly records: readonly AdvisoryRecord[];
  /** Whether it is said to be complete, as documents of several records are. */
  readonly isCompleted: boolean;
}

type Draws = ReturnType<typeof newDraws>;

/** Versions of some documents of two sources on the same few products and vulnerabilities. */
function generateVersions(draws: Draws): Version[] {
  return Array.from({ length: 2 + draws.below(3) }, (_, i) => {
    const source = draws.pick(["red", "blue"]);
    const document = `${source}-${i}`;
    const isOsv = draws.oneIn(3);
    const times = [...new Set(Array.from({ length: 1 + draws.below(3) }, () => 1 + draws.below(9)))];
    return times.map((day): Version => {
      const time = Date.UTC(2025, 0, day);
      const ids = isOsv ? [document] : ["CVE-1", "CVE-2", "CVE-3"].filter(() => !draws.oneIn(3));
      const records = ids.map((vulnerability) =>
        generateRecord(draws, { source, document, vulnerability, time, isOsv }),
      );
      return { source, document, time, records, isCompleted: !isOsv };
    });
  }).flat();
}

function generateRecord(
  draws: Draws,
  about: { source: string; document: string; vulnerability: string; time: number; isOsv: boolean },
): AdvisoryRecord {
  const { source, document, vulnerability, time, isOsv } = about;
  const statements = Array.from({ length: draws.below(4) }, () => ({
    product: { purl: draws.pick(["pkg:npm/a", "pkg:npm/b", "pkg:oci/x?repository_url=r"]) },
    status: draws.pick(statuses),
    versions: draws.oneIn(2) ? [draws.pick(["1", "2"])] : [],
    release: draws.oneIn(4) ? "12" : "",
    ...(draws.oneIn(4) && { time: toTimestamp(Date.UTC(2025, 0, 1 + draws.below(9))) }),
  }));
  return create(AdvisoryRecordSchema, {
    source,
    document,
    vulnerability,
    advisoryId: isOsv ? document : "",
    statements,
    format: isOsv ? RecordFormat.OSV : RecordFormat.OPENVEX,
    modifyTime: toTimestamp(time),
    ...(draws.oneIn(3) && { publishTime: toTimestamp(Date.UTC(2025, 0, 1 + draws.below(9))) }),
    ...(draws.oneIn(6) && { withdrawTime: toTimestamp(time) }),
    aliases: draws.oneIn(2) ? [`ALIAS-${draws.below(3)}`] : [],
  });
}

function shuffled<T>(draws: Draws, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: draws.below(1_000_000) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Returns the worst that holds, worked out on its own, of the latest versions: by public id and product. */
function worstByAdvisory(versions: readonly Version[]): Map<string, ProductStatus> {
  const latest = versions.filter(
    ({ document, time }) => !versions.some((other) => other.document === document && other.time > time),
  );
  const held = latest.flatMap(({ records }) => records).filter(({ withdrawTime }) => !withdrawTime);
  const said = held.flatMap((record) => record.statements.map((statement) => ({ record, statement })));
  const timeOf = ({ record, statement }: (typeof said)[number]) => (statement.time ?? record.modifyTime)!.seconds;
  const vulnerabilityOf = ({ advisoryId, vulnerability }: AdvisoryRecord) => advisoryId || vulnerability;
  const scopeOf = ({ record, statement: { product, release, versions: named } }: (typeof said)[number]) =>
    [vulnerabilityOf(record), record.source, product!.purl, release, named].join();
  const holding = said.filter(
    (each) => !said.some((other) => scopeOf(other) === scopeOf(each) && timeOf(other) > timeOf(each)),
  );
  const worst = new Map<string, ProductStatus>();
  for (const { record, statement } of holding) {
    const key = `${vulnerabilityOf(record)} ${statement.product!.purl}`;
    const known = statuses.indexOf(worst.get(key) ?? NOT_AFFECTED);
    worst.set(key, statuses[Math.max(known, statuses.indexOf(statement.status))]!);
  }
  return worst;
}

const statusOfType: ReadonlyMap<number, ProductStatus> = new Map<number, ProductStatus>([
  [EventTypeFilter.FALSE_POSITIVE_DETERMINATION, NOT_AFFECTED],
  [EventTypeFilter.FIXED, FIXED],
  [EventTypeFilter.DETECTION, UNDER_INVESTIGATION],
  [EventTypeFilter.TRUE_POSITIVE_DETERMINATION, AFFECTED],
]);

describe("an OSV record that names no product", () => {
  it("a record of another source with the same id neither changes nor withdraws the advisory of an OSV record without a product", async () => {
    await using server = await startTestServer({ clock: () => now });
    const service = recordService(server);
    const record = (source: string, purls: string[], changes: object = {}) =>
      create(AdvisoryRecordSchema, {
        source,
        document: "X-1",
        vulnerability: "X-1",
        advisoryId: "X-1",
        format: RecordFormat.OSV,
        modifyTime: toTimestamp(now),
        statements: purls.map((purl) => ({ product: { purl }, status: AFFECTED })),
        ...changes,
      });
    const records = [record("red", []), record("blue", ["pkg:npm/a"], { withdrawTime: toTimestamp(now) })];
    const groups = [await addGroup(server, null, "a"), await addGroup(server, null, "b")];
    await service.import(groups[0]!, records);
    for (const each of records.toReversed()) await service.import(groups[1]!, [each]);
    const contents = await contentsByGroup(server);
    assert.deepEqual(contents.get(groups[1]!), contents.get(groups[0]!));
    const live = (await allAdvisories(server)).map(({ name, product, author }) => [name, product, author]);
    assert.deepEqual(live, Array(2).fill(["X-1", "", "red"]));
  });
});

describe("records that are imported together", () => {
  it("records that are imported together have the same result as records that are imported one by one", async () => {
    await using server = await startTestServer({ clock: () => now });
    const service = recordService(server);
    for (let seed = 100; seed < 106; seed++) {
      const records = generateVersions(newDraws(seed)).flatMap((version) => version.records);
      const [together, apart] = [await addGroup(server, null, `t${seed}`), await addGroup(server, null, `a${seed}`)];
      const batch = await service.import(together, records);
      const single = [];
      for (const record of records) single.push(...(await service.import(apart, [record])));
      assert.deepEqual(batch, single, `seed ${seed}`);
      const contents = await contentsByGroup(server);
      assert.deepEqual(contents.get(together), contents.get(apart), `seed ${seed}`);
    }
  });
});

describe("the dry run of an import", () => {
  it("two records of one request that are older than the stored one both count as unchanged", async () => {
    await using server = await startTestServer({ clock: () => now });
    const service = recordService(server);
    const group = await addGroup(server, null, "a");
    const [first, second, third] = [1, 2, 3].map((day) =>
      create(AdvisoryRecordSchema, {
        source: "red",
        document: "X-1",
        vulnerability: "X-1",
        format: RecordFormat.OSV,
        modifyTime: toTimestamp(Date.UTC(2025, 0, day)),
      }),
    );
    await service.import(group, [third!]);
    const outcomes = (await service.import(group, [first!, second!], true)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, [RecordOutcome.UNCHANGED, RecordOutcome.UNCHANGED]);
  });
});

describe("the deletion of a record", () => {
  it("deletes a record with the digest that the request names, and keeps one that has changed since", async () => {
    await using server = await startTestServer({ clock: () => now });
    const service = recordService(server);
    const group = await addGroup(server, null, "a");
    const key = { parent: group, source: "red", document: "X-1", vulnerability: "X-1" };
    const store = async (day: number) => {
      const modifyTime = toTimestamp(Date.UTC(2025, 0, day));
      await service.import(group, [create(AdvisoryRecordSchema, { ...key, format: RecordFormat.OSV, modifyTime })]);
      return (await findStoredCopy(server.server.database.session, key))!.digest;
    };
    const earlier = await store(1);
    const present = await store(2);
    assert.equal(await service.delete(group, [{ ...key, digest: earlier }]), 0);
    assert.equal(await service.delete(group, [{ ...key, digest: present }]), 1);
  });
});

describe("advisories of generated records", () => {
  const cases = Array.from({ length: casesOf(10, 30) }, (_, seed) => ({
    seed,
    versions: generateVersions(newDraws(seed)),
  }));
  let server: TestServer;
  let service: ReturnType<typeof recordService>;
  const groups = new Map<number, readonly [string, string]>();

  async function importVersions(group: string, versions: readonly Version[]): Promise<void> {
    for (const { records, isCompleted, time, ...about } of versions) {
      const results = await service.import(group, records);
      for (const { outcome } of results) assert.notEqual(outcome, RecordOutcome.LEFT_OUT);
      if (isCompleted) await service.complete(group, about, time);
    }
  }

  before(async () => {
    server = await startTestServer({ clock: () => now });
    service = recordService(server);
    await Promise.all(
      cases.map(async ({ seed, versions }) => {
        const pair = [await addGroup(server, null, `a${seed}`), await addGroup(server, null, `b${seed}`)] as const;
        groups.set(seed, pair);
        await importVersions(pair[0], versions);
        await importVersions(pair[1], shuffled(newDraws(seed), versions));
      }),
    );
  });
  after(() => server[Symbol.asyncDispose]());

  it("advisories of generated records do not depend on the order in which documents and their versions are imported", async () => {
    const contents = await contentsByGroup(server);
    for (const [seed, [a, b]] of groups) assert.deepEqual(contents.get(b), contents.get(a), `seed ${seed}`);
    assert.ok(contents.size > cases.length, "hardly any case has contents");
  });

  it("advisories of generated records show the worst valid status, and nothing without a record", async () => {
    const byGroup = Map.groupBy(await allAdvisories(server), ({ parent }) => parent);
    for (const { seed, versions } of cases) {
      const shown = (byGroup.get(groups.get(seed)![0]) ?? []).flatMap(({ name, aliases, product, latestEventType }) => {
        const names = [name, ...aliases].filter((id) => /^(CVE|red|blue)-/.test(id));
        return latestEventType === 0 ? [] : [`${names[0]} ${product}: ${statusOfType.get(latestEventType)}`];
      });
      const due = [...worstByAdvisory(versions)].map(([key, status]) => `${key}: ${status}`);
      assert.deepEqual(shown.sort(), due.sort(), `seed ${seed}`);
    }
  });

  const findings = () =>
    server.server.database.read(async (session) => (await checkDatabase(session, collections)).findings);

  it("agree with their records, as `db check` confirms", async () => {
    assert.deepEqual(await findings(), []);
  });

  it("advisories of generated records do not change when everything is imported again, and nothing is written", async () => {
    const { session } = server.server.database;
    const [contents, change] = [await contentsByGroup(server), await lastChange(session)];
    const states = await Promise.all([...groups.values()].map(([group]) => readExportState(session, group)));
    await Promise.all(cases.map(({ seed, versions }) => importVersions(groups.get(seed)![0], versions)));
    assert.deepEqual(await contentsByGroup(server), contents);
    assert.equal(await lastChange(session), change);
    const again = await Promise.all([...groups.values()].map(([group]) => readExportState(session, group)));
    assert.deepEqual(again, states);
  });

  it("advisories of generated records are derived again by a repair of the database when events and links to records are missing", async () => {
    const contents = await contentsByGroup(server);
    // Of advisories with events: withdrawn ones have none, nor have those of records without a status.
    const links = server.server.database.session.prepared(
      "test.links",
      (db, { advisoryEvents, advisoryRecordLinks: all }) =>
        db
          .selectDistinct(getTableColumns(all))
          .from(all)
          .innerJoin(advisoryEvents, eq(advisoryEvents.advisoryUid, all.advisoryUid)),
    );
    const [first, ...others] = Map.groupBy(await links.execute({}), ({ advisoryUid }) => advisoryUid);
    await arrange(server, async (tx) => {
      await deleteAdvisoryEvents(tx, first![0]);
      for (const { advisoryUid, recordId } of others[0]![1]) await deleteRecordLink(tx, advisoryUid, recordId);
    });
    const found = (await findings()).join("\n");
    for (const uid of [first![0], others[0]![0]]) assert.match(found, new RegExp(`^advisories ${uid}: `, "m"));
    await arrange(server, (tx) => repairDatabase(tx, collections));
    assert.deepEqual(await findings(), []);
    assert.deepEqual(await contentsByGroup(server), contents);
  });

  it("advisories of generated records are withdrawn when all records are deleted, and restored when they are imported again", async () => {
    const contents = await contentsByGroup(server);
    for (const { seed, versions } of cases) {
      const [group] = groups.get(seed)!;
      await service.delete(
        group,
        versions.flatMap(({ records }) => records),
      );
    }
    const left = await contentsByGroup(server);
    for (const [group] of groups.values()) assert.equal(left.get(group), undefined);
    await Promise.all(cases.map(({ seed, versions }) => importVersions(groups.get(seed)![0], versions)));
    assert.deepEqual(await contentsByGroup(server), contents);
  });
});
