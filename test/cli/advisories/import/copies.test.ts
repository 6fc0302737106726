// Copies of one record within one import: each is counted, none is replaced without a word, and the order does not matter.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create, type DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  AdvisoryRecordsService,
  RecordFormat,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import { openRecordWriter } from "../../../../src/cli/advisories/import/record-writer.ts";
import { Report } from "../../../../src/cli/advisories/import/report.ts";
import type { Session } from "../../../../src/cli/client/session.ts";
import { type Opened, openTransport } from "../../../../src/cli/client/transport.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { addGroup } from "../../../security/tree.ts";

/** A copy of the record of a key: what it says, and the day on which the source said so. */
interface Said {
  readonly key: string;
  readonly says: string;
  readonly day?: number;
  readonly withdrawn?: boolean;
  /** The product; the one of the key when it is absent. */
  readonly product?: string;
}

const day = (of: number) => toTimestamp(Date.UTC(2020, 0, of));

function recordOf({ key, says, day: of, withdrawn, product = key.toLowerCase() }: Said): AdvisoryRecord {
  return create(AdvisoryRecordSchema, {
    source: "Team",
    document: key,
    vulnerability: key,
    advisoryId: key,
    format: RecordFormat.OSV,
    summary: says,
    ...(of === undefined ? {} : { modifyTime: day(of), publishTime: day(1) }),
    ...(of !== undefined && withdrawn ? { withdrawTime: day(of) } : {}),
    statements: [{ product: { purl: `pkg:golang/example.test/${product}` }, status: 1, time: day(1) }],
  });
}

describe("copies of one record in one import", () => {
  let server: TestServer;
  let opened: Opened;
  let made = 0;
  before(async () => {
    server = await startTestServer();
    const tokens = { current: async () => server.ownerToken, renewed: async () => undefined };
    opened = await openTransport(server.url, tokens);
  });
  after(async () => {
    opened.close();
    await server[Symbol.asyncDispose]();
  });

  const clientOf = <S extends DescService>(service: S): Client<S> =>
    createClient(service, opened.transport as Transport);
  const newGroup = () => addGroup(server, server.groupUid, `group ${++made}`);

  /** Imports the copies in their order, and answers the counts and the problems. */
  async function bring(group: string, copies: readonly Said[], dryRun = false) {
    const report = new Report();
    const session = { client: async (service: DescService) => clientOf(service) } as unknown as Session;
    const writer = await openRecordWriter(session, { group, dryRun, timeoutMs: 60_000 }, report, (call) => call());
    for (const [i, copy] of copies.entries()) {
      const place = { file: `${i}.json`, record: copy.key };
      await writer.add(recordOf(copy), place, { file: place.file, isWhole: true, replaced: 0 });
    }
    await writer.finish();
    return { report, counts: report.summary({ isDryRun: false, isComplete: true }) };
  }

  async function storedIn(group: string): Promise<string[]> {
    const { records } = await clientOf(AdvisoryRecordsService).listAdvisoryRecords({ parent: group, pageSize: 1000 });
    return records.map(({ document, digest }) => `${document} ${digest}`);
  }

  const counts = (created: number, updated: number, unchanged: number, withdrawn: number, leftOut: number) => {
    const all = created + updated + unchanged + withdrawn + leftOut;
    return `${all} records: ${created} created, ${updated} updated, ${unchanged} unchanged, ${withdrawn} withdrawn, ${leftOut} left out`;
  };
  const a = { key: "GO-1", says: "a", day: 1 };
  const cases: readonly (readonly [what: string, copies: readonly Said[], first: string, again: string])[] = [
    ["the same twice", [a, a], counts(1, 0, 1, 0, 0), counts(0, 0, 2, 0, 0)],
    ["a later one", [a, { ...a, says: "b", day: 2 }], counts(1, 1, 0, 0, 0), counts(0, 0, 2, 0, 0)],
    [
      "an older one",
      [
        { ...a, day: 2 },
        { ...a, says: "b" },
      ],
      counts(1, 0, 1, 0, 0),
      counts(0, 0, 2, 0, 0),
    ],
    ["one of the same time", [a, { ...a, says: "b" }], counts(1, 0, 0, 0, 1), counts(0, 0, 1, 0, 1)],
    ["two of the same time, twice", [a, { ...a, says: "b" }, a], counts(1, 0, 1, 0, 1), counts(0, 0, 1, 0, 2)],
    [
      "one without a time that says something else",
      [
        { key: "a", says: "a" },
        { key: "a", says: "b" },
        { key: "a", says: "a" },
      ],
      counts(1, 0, 1, 0, 1),
      counts(0, 0, 2, 0, 1),
    ],
    ["one that is withdrawn", [a, { ...a, day: 2, withdrawn: true }], counts(1, 0, 0, 1, 0), counts(0, 0, 2, 0, 0)],
  ];
  for (const [what, copies, first, again] of cases) {
    it(`${what}: counted in a dry run, in the run, and in a second run`, async () => {
      const group = await newGroup();
      const dry = await bring(group, copies, true);
      assert.deepEqual(await storedIn(group), []);
      const done = await bring(group, copies);
      if (!what.startsWith("two")) assert.equal(done.counts, first);
      assert.equal(dry.counts, done.counts);
      assert.deepEqual(dry.report.lines(), done.report.lines());
      const twice = await bring(group, copies);
      if (!what.startsWith("two")) assert.equal(twice.counts, again);
    });
  }

  it("an import says which copies of a record it leaves out, and for which other copy", async () => {
    const { report } = await bring(await newGroup(), [
      { key: "a", says: "a" },
      { key: "a", says: "b" },
    ]);
    assert.deepEqual(report.lines(), [
      "1.json: a: says something else than 0.json: a, and has no time that would tell which one is later (record left out)",
    ]);
    const tied = await bring(await newGroup(), [a, { ...a, says: "b" }]);
    assert.match(
      tied.report.lines().join("\n"),
      /^[01]\.json: GO-1: says something else than [01]\.json: GO-1, which has the same time; [^\n]+ \(record left out\)$/,
    );
  });

  it("an id of two files about different packages is never replaced without a word", async () => {
    const other = { ...a, says: "b", day: 2, product: "other" };
    for (const [copies, lost, kept] of [
      [[a, other], 0, 1],
      [[other, a], 1, 0],
    ] as const) {
      const group = await newGroup();
      for (const [dryRun, created] of [
        [true, counts(1, 0, 0, 0, 1)],
        [false, counts(1, 0, 0, 0, 1)],
        [false, counts(0, 0, 1, 0, 1)],
      ] as const) {
        const { report, counts: said } = await bring(group, copies, dryRun);
        assert.deepEqual([said, report.isWhole], [created, false]);
        assert.deepEqual(report.lines(), [
          `${lost}.json: GO-1: is about pkg:golang/example.test/go-1, which the later ${kept}.json: GO-1 of the same id is not; import one of them with another --author to keep both (record left out)`,
        ]);
      }
    }
    const withdrawn = await bring(await newGroup(), [a, { ...other, withdrawn: true }]);
    assert.ok(withdrawn.report.isWhole, "a withdrawn record is about nothing");
  });

  it("copies in any order result in the same records, with the counts of the dry run", async () => {
    // A generator of numbers, for the same copies at every run (Park and Miller).
    let state = 7;
    const below = (limit: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % limit;
    };
    for (let round = 0; round < 25; round++) {
      const copies = Array.from({ length: 2 + below(8) }, (): Said => {
        const key = `GO-${below(3)}`;
        return { key, says: `${below(2)}`, day: 1 + below(3), withdrawn: below(6) === 0 };
      });
      const shuffled = copies.toSorted(() => below(3) - 1);
      const [group, other] = [await newGroup(), await newGroup()];
      const dry = await bring(group, copies, true);
      const done = await bring(group, copies);
      await bring(other, shuffled);
      const shown = JSON.stringify(copies);
      assert.equal(done.report.records, copies.length, shown);
      assert.equal(dry.counts, done.counts, shown);
      assert.deepEqual(await storedIn(other), await storedIn(group), shown);
      const again = await bring(group, copies);
      assert.match(again.counts, /: 0 created, 0 updated, \d+ unchanged, 0 withdrawn/, shown);
    }
  });
});
