// The offset index finds the cursors of the model after all kinds of changes.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Database } from "../../../src/storage/database.ts";
import { textPlaceholder } from "../../../src/storage/engine/placeholders.ts";
import type { SessionDialect } from "../../../src/storage/engine/session.ts";
import type { Condition } from "../../../src/storage/list/condition.ts";
import { newOffsetIndex, type OffsetIndex } from "../../../src/storage/list/offset-index.ts";
import { compareCursors } from "../../../src/storage/list/order.ts";
import type { Range } from "../../../src/storage/list/range.ts";
import type { RangeSource } from "../../../src/storage/list/source.ts";
import { sql } from "../../../src/storage/schema/drizzle.ts";
import { apply, beforeFirst, edits, forgetChanges, plant, remainders, uproot } from "../edits.ts";
import { type GroupRow, groups, write } from "../fixtures.ts";
import { names, orders } from "../forest.ts";
import { modelCursor, modelRows } from "../listing-model.ts";
import type { OpenStore } from "../stores.ts";

/** Short segments, so a few dozen rows have several, which soon grow too long. */
const limits = { segmentRows: 4, maxSegmentRows: 8, maxSegments: 1000, maxChanges: 10 };

const questions = fc.array(
  fc.record({
    order: fc.constantFrom(...orders),
    place: fc.constantFrom("subtree", "children"),
    parent: fc.nat({ max: 2 }),
    after: fc.option(fc.nat({ max: 60 })),
    offset: fc.integer({ min: 0, max: 60 }),
    isPrepared: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

const turns = fc.array(fc.record({ edits, left: remainders, questions }), { minLength: 1, maxLength: 5 });

/** Returns a condition on the name. */
function named(name: string): Condition {
  const build = ({ tables }: SessionDialect) => sql`${tables.groups.name} = ${textPlaceholder("wanted")}`;
  return { name: "named", build, values: { wanted: name } };
}

/** Declares the tests of the offset index. */
export function milestonesConformance(open: OpenStore): void {
  describe("the offset index", () => {
    it("the offset index finds the same cursor as a scan, while rows come, go and move", async () => {
      await using store = await open();
      const { database } = store;
      const other = await store.open();
      const property = fc.asyncProperty(turns, async (all) => {
        const rows = await plant(database);
        const offsetIndex = newOffsetIndex((body) => database.read(body), limits);
        try {
          for (const turn of all) {
            // Another node writes: only the change log shows it.
            for (const edit of turn.edits) await write(other, (tx) => apply(tx, rows, edit));
            await forgetChanges(other, turn.left);
            for (const question of turn.questions) await ask(database, offsetIndex, rows, question);
          }
        } finally {
          await uproot(database, rows);
        }
      });
      await fc.assert(property, { numRuns: 15 });
    });

    it("the offset index is correct while it is built", async () => {
      await using store = await open();
      const { database } = store;
      const rows = await plant(database);
      let reads = 0;
      const offsetIndex = newOffsetIndex(async (body) => {
        // A row is inserted between any two of the snapshots in which a range is indexed.
        const at = reads++;
        await write(database, (tx) => apply(tx, rows, { what: "insert", at: 0, name: names[at % names.length]! }));
        return await database.read(body);
      }, limits);
      for (const order of orders) {
        const range: Range = { source: { type: "subtree", uid: rows[0]!.uid }, filters: {}, order, after: undefined };
        await offsetIndex.prepare(groups, [range], 100);
        for (let offset = 0; offset < rows.length; offset += 3)
          await compare(database, offsetIndex, rows, range, offset);
      }
    });

    const narrowed: readonly [what: string, narrow: (name: string) => Pick<Range, "filters" | "condition">][] = [
      ["filter", (name) => ({ filters: { name } })],
      ["condition", (name) => ({ filters: {}, condition: named(name) })],
    ];
    for (const [what, narrow] of narrowed) {
      it(`the offset index does not serve a range under a ${what}`, async () => {
        await using store = await open();
        const { database } = store;
        const rows = await plant(database);
        const offsetIndex = newOffsetIndex((body) => database.read(body), { ...limits, segmentRows: 1 });
        const source: RangeSource = { type: "subtree", uid: rows[0]!.uid };
        const whole: Range = { source, filters: {}, order: orders[0]!, after: undefined };
        const called = (name: string) => modelRows(rows, { sources: [source], filters: { name }, order: whole.order });
        const name = names.find((each) => called(each).length > 1)!;
        const range = { ...whole, ...narrow(name) };
        await offsetIndex.prepare(groups, [whole, range], 100);
        for (const [offset, row] of called(name).entries()) {
          const found = await database.read((session) => offsetIndex.find(session, groups, range, offset));
          assert.deepEqual({ ...found }, modelCursor(row, whole.order));
        }
      });
    }

    it("the offset index is rebuilt if the change log no longer has the next changes", async () => {
      await using store = await open();
      const { database } = store;
      const rows = await plant(database);
      const source: RangeSource = { type: "subtree", uid: rows[0]!.uid };
      const range: Range = { source, filters: {}, order: orders[0]!, after: undefined };
      let reads = 0;
      const counted: Parameters<typeof newOffsetIndex>[0] = (body) => {
        reads++;
        return database.read(body);
      };
      const offsetIndex = newOffsetIndex(counted, { ...limits, maxSegmentRows: 20, maxChanges: 100 });
      await offsetIndex.prepare(groups, [range], 100);
      const measured = reads;
      await write(database, async (tx) => {
        for (const at of [...rows.keys()])
          await apply(tx, rows, { what: "insert", at, name: names[at % names.length]! });
      });
      await forgetChanges(database, 3);
      for (const offset of [9, 12]) await compare(database, offsetIndex, rows, range, offset);
      await offsetIndex.prepare(groups, [range], 100);
      assert.ok(reads > 2 * measured, "all of the range is measured again");
      for (const offset of [9, 12]) await compare(database, offsetIndex, rows, range, offset);
    });

    it("the offset index matches the snapshot of a read, although another read updates it meanwhile", async () => {
      await using store = await open();
      const { database } = store;
      const other = await store.open();
      const rows = await plant(database);
      const source: RangeSource = { type: "subtree", uid: rows[0]!.uid };
      const whole: Range = { source, filters: {}, order: orders[0]!, after: undefined };
      const model = modelRows(rows, { sources: [source], filters: {}, order: whole.order });
      const offsetIndex = newOffsetIndex((body) => database.read(body), {
        ...limits,
        maxSegmentRows: 4,
        maxChanges: 100,
      });
      await offsetIndex.prepare(groups, [whole], 100);
      const last = model.at(-1)!;
      /** Inserts rows into all segments, and lets a later read apply them. */
      const moveOn = async () => {
        await write(other, async (tx) => {
          for (const at of model.keys()) await apply(tx, rows, { what: "insert", at, name: names[at % names.length]! });
        });
        await other.read((session) => offsetIndex.find(session, groups, whole, limits.segmentRows));
      };
      const range: Range = { ...whole, after: modelCursor(model[0]!, whole.order) };
      const found = await database.read(async (session) =>
        offsetIndex.find(beforeFirst(session, "ahead", moveOn), groups, range, model.length - 2),
      );
      assert.deepEqual({ ...found }, modelCursor(last, whole.order));
    });
  });
}

type Question = typeof questions extends fc.Arbitrary<(infer Q)[]> ? Q : never;

async function ask(
  database: Database,
  offsetIndex: OffsetIndex,
  rows: readonly GroupRow[],
  { order, place, parent, after, offset, isPrepared }: Question,
): Promise<void> {
  const source = { type: place, uid: rows[parent]!.uid } as RangeSource;
  const first = after === null ? undefined : modelRows(rows, { sources: [source], filters: {}, order })[after];
  const range: Range = { source, filters: {}, order, after: first && modelCursor(first, order) };
  if (isPrepared) await offsetIndex.prepare(groups, [range], limits.maxSegmentRows + offset);
  await compare(database, offsetIndex, rows, range, offset);
}

async function compare(
  database: Database,
  offsetIndex: OffsetIndex,
  rows: readonly GroupRow[],
  range: Range,
  offset: number,
): Promise<void> {
  const { source, order, after } = range;
  const all = modelRows(rows, { sources: [source], filters: {}, order });
  const start = after ? all.findIndex(({ uid }) => uid === after.uid) + 1 : 0;
  const expected = all[start + offset];
  const found = await database.read((session) => offsetIndex.find(session, groups, range, offset));
  assert.deepEqual(found && { ...found }, expected && modelCursor(expected, order), JSON.stringify({ range, offset }));
  if (!expected || after) return;
  // And back: the place of the cursor, and of the beginning of its value.
  const end = modelCursor(expected, order);
  const count = await database.read((session) => offsetIndex.countUntil(session, groups, range, end));
  assert.equal(count, offset + 1, JSON.stringify({ range, end }));
  if (order.field !== "name" || order.descending) return;
  const first = all.findIndex((row) => compareCursors(modelCursor(row, order), { ...end, uid: "" }, order) > 0);
  const beginning = { ...end, uid: "" };
  const ahead = await database.read((session) => offsetIndex.countUntil(session, groups, range, beginning));
  assert.equal(ahead, first, JSON.stringify({ range, beginning }));
}
