// Inserts, renames and deletes of groups, for tests of caches and the offset index.
import fc from "fast-check";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import { removeChanges } from "../../src/storage/change-log/removal.ts";
import { deleteRow, insertRow, updateRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import type { Session, Transaction } from "../../src/storage/engine/session.ts";
import { context, type GroupRow, groupRow, groups, write } from "./fixtures.ts";
import { names } from "./forest.ts";

/** An edit of the group at an index. */
export interface Edit {
  readonly what: "insert" | "rename" | "delete";
  readonly at: number;
  readonly name: string;
}

/** Several edits. */
export const edits = fc.array(
  fc.record({
    what: fc.constantFrom<Edit["what"]>("insert", "insert", "rename", "delete"),
    at: fc.nat(),
    name: fc.constantFrom(...names),
  }),
  { maxLength: 15 },
);

/** Writes three root groups with 40 descendants. */
export async function plant(database: Database): Promise<GroupRow[]> {
  const rows = [0, 1, 2].map((i) => groupRow(null, `root ${i}`));
  for (let i = 0; i < 40; i++) {
    const parent = rows[i % 4 === 0 ? rows.length - 1 : i % 3]!.uid;
    rows.push(groupRow(parent, i, { name: names[i % names.length]!, createTime: i % 5, updateTime: i }));
  }
  await write(database, async (tx) => {
    for (const row of rows) await insertRow(tx, groups, row);
  });
  return rows;
}

/** Edits a group, in the database and among the rows. */
export async function apply(tx: Transaction, rows: GroupRow[], { what, at, name }: Edit): Promise<void> {
  const row = rows[at % rows.length]!;
  if (what === "insert") {
    const added = groupRow(row.uid, `${rows.length} ${at} ${name} ${tx.context.time}`, { name, createTime: at % 5 });
    if (rows.some(({ uid }) => uid === added.uid)) return;
    await insertRow(tx, groups, added);
    rows.push(added);
  } else if (what === "rename") {
    rows[rows.indexOf(row)] = await updateRow(tx, groups, row, { ...row, name, updateTime: at % 50 });
  } else if (row.parent !== null && !rows.some(({ parent }) => parent === row.uid)) {
    await deleteRow(tx, groups, row);
    rows.splice(rows.indexOf(row), 1);
  }
}

/** Deletes these groups, and those inserted since. */
export async function uproot(database: Database, rows: readonly GroupRow[]): Promise<void> {
  await write(database, async (tx) => {
    for (const row of rows.toReversed()) await deleteRow(tx, groups, row);
  });
}

/** How many changes stay in the log; null for all. */
export const remainders = fc.option(fc.nat({ max: 12 }));

/** Deletes the oldest changes, except for the last of each kind and this many others. */
export async function forgetChanges(database: Database, left: number | null): Promise<void> {
  if (left === null) return;
  await write(database, async (tx) => {
    const all = await readChanges(tx, 0, 1_000_000);
    await removeChanges(tx, context.time, Math.max(0, all.length - left));
  });
}

/** Returns a session that runs `work` before the first statement of this purpose. */
export function beforeFirst(session: Session, purpose: string, work: () => Promise<void>): Session {
  let done: Promise<void> | undefined;
  return {
    ...session,
    prepared(key, build) {
      const statement = session.prepared(key, build);
      if (!key.includes(purpose)) return statement;
      return {
        async execute(values) {
          done ??= work();
          await done;
          return await statement.execute(values);
        },
      };
    },
  };
}
