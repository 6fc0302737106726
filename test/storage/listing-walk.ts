// Pages through a set of groups that changes after every page.
import assert from "node:assert/strict";
import fc from "fast-check";
import { deleteRow, insertRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import type { Transaction } from "../../src/storage/engine/session.ts";
import { cursorOf, type ListQuery, listRows, type Order, type Source } from "../../src/storage/list/list-rows.ts";
import { type GroupRow, groupRow, groups, write } from "./fixtures.ts";
import { names, orders } from "./forest.ts";
import { modelPage } from "./listing-model.ts";

/**
 * Pages through the groups, which change after every page in the database and in `rows`. Returns the uids on the pages.
 */
export async function pageThroughChanges(
  database: Database,
  rows: GroupRow[],
  { order, edits, limit }: Walk,
): Promise<string[]> {
  const sources: Source[] = [
    { type: "children", uid: null },
    ...rootsOf(rows).map((uid) => ({ type: "subtree", uid }) as const),
  ];
  const shown: string[] = [];
  let after: ListQuery["after"];
  for (let turn = 0; ; turn++) {
    const query: ListQuery = { sources, filters: {}, order, after, skip: 0, limit };
    const page = await listRows(database.session, groups, query);
    assert.deepEqual(page, modelPage(rows, query), JSON.stringify(query));
    shown.push(...page.map(({ uid }) => uid));
    const last = page.at(-1);
    if (!last) return shown;
    after = cursorOf(last, order.field);
    const edit = edits[turn];
    if (edit) await write(database, (tx) => change(tx, rows, edit, turn));
  }
}

interface Edit {
  readonly insert: boolean;
  readonly at: number;
  readonly name: string;
  readonly time: number;
}

/** A way through a list, and the changes of its rows between pages. */
export interface Walk {
  readonly order: Order;
  readonly edits: readonly Edit[];
  readonly limit: number;
}

/** Arbitrary walks. */
export const walks = fc.record({
  order: fc.constantFrom(...orders),
  edits: fc.array(
    fc.record({
      insert: fc.boolean(),
      at: fc.nat(),
      name: fc.constantFrom(...names),
      time: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 12 },
  ),
  limit: fc.integer({ min: 1, max: 5 }),
});

function rootsOf(rows: readonly GroupRow[]): string[] {
  return rows.filter(({ parent }) => parent === null).map(({ uid }) => uid);
}

/**
 * Inserts a group under another one or deletes a leaf, in the database and in the model. Each turn has its own uids.
 */
async function change(
  tx: Transaction,
  rows: GroupRow[],
  { insert, at, name, time }: Edit,
  turn: number,
): Promise<void> {
  const row = rows[at % rows.length]!;
  if (insert) {
    const added = groupRow(row.uid, `added in turn ${turn}`, { name, createTime: time, updateTime: time });
    await insertRow(tx, groups, added);
    rows.push(added);
  } else if (row.parent !== null && !rows.some(({ parent }) => parent === row.uid)) {
    await deleteRow(tx, groups, row);
    rows.splice(rows.indexOf(row), 1);
  }
}
