// Counters of rows.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isBelow } from "../../../src/model/uid.ts";
import { checkDatabase } from "../../../src/storage/check/check-database.ts";
import { deleteRow, insertRow, updateRow } from "../../../src/storage/collection/rows.ts";
import type { Database } from "../../../src/storage/database.ts";
import { readCounters } from "../../../src/storage/engine/counters.ts";
import type { Transaction } from "../../../src/storage/engine/session.ts";
import { countRows } from "../../../src/storage/list/list-rows.ts";
import {
  bindingRow,
  collections,
  type GroupRow,
  groupRow,
  groups,
  identities,
  identityRow,
  type RoleBindingRow,
  roleBindings,
  roleRow,
  roles,
  write,
} from "../fixtures.ts";
import { names } from "../forest.ts";
import type { OpenStore } from "../stores.ts";

interface Model {
  readonly groups: GroupRow[];
  readonly bindings: RoleBindingRow[];
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom("group", "binding", "rename", "delete group", "delete binding"),
    at: fc.nat(),
    name: fc.constantFrom(...names),
    fails: fc.boolean(),
  }),
  { maxLength: 30 },
);

type Step = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never;

interface Plan {
  readonly write: (tx: Transaction) => Promise<unknown>;
  readonly apply: () => unknown;
}

const owner = identityRow(null, "owner");

/** Applies one step to the database and, after it, to the model; undefined if it changes nothing. */
function plan(model: Model, { what, at, name }: Step, turn: number): Plan | undefined {
  const group = model.groups[at % (model.groups.length || 1)];
  const binding = model.bindings[at % (model.bindings.length || 1)];
  if (what === "group") {
    const row = groupRow(group && at % 3 > 0 ? group.uid : null, turn, { name });
    return { write: (tx: Transaction) => insertRow(tx, groups, row), apply: () => model.groups.push(row) };
  }
  if (what === "binding" && group) {
    const role = roleRow(null, turn);
    const row = bindingRow(group.uid, owner, role);
    const insertBoth = async (tx: Transaction) => {
      await insertRow(tx, roles, role);
      await insertRow(tx, roleBindings, row);
    };
    return { write: insertBoth, apply: () => model.bindings.push(row) };
  }
  // An update without changes writes nothing, not even the update time.
  if (what === "rename" && group && name !== group.name) {
    const row = { ...group, name, updateTime: group.updateTime + 1 };
    const index = model.groups.indexOf(group);
    return {
      write: (tx: Transaction) => updateRow(tx, groups, group, row),
      apply: () => model.groups.splice(index, 1, row),
    };
  }
  if (what === "delete binding" && binding) {
    const index = model.bindings.indexOf(binding);
    return {
      write: (tx: Transaction) => deleteRow(tx, roleBindings, binding),
      apply: () => model.bindings.splice(index, 1),
    };
  }
  if (
    what === "delete group" &&
    group &&
    ![...model.groups, ...model.bindings].some(({ parent }) => parent === group.uid)
  ) {
    const index = model.groups.indexOf(group);
    return { write: (tx: Transaction) => deleteRow(tx, groups, group), apply: () => model.groups.splice(index, 1) };
  }
  return undefined;
}

/** Compares all totals with the model. */
async function compareTotals({ session }: Database, model: Model): Promise<void> {
  for (const { uid } of model.groups) {
    const below = { groups: model.groups, role_bindings: model.bindings };
    const wanted = Object.entries(below)
      .map(([kind, rows]) => [kind, rows.filter((row) => isBelow(row.uid, uid)).length] as const)
      .filter(([, count]) => count > 0);
    assert.deepEqual(Object.fromEntries(await readCounters(session, uid)), Object.fromEntries(wanted));
    const children = model.bindings.filter(({ parent }) => parent === uid).length;
    assert.equal(
      await countRows(session, roleBindings, { sources: [{ type: "children", uid }], filters: {} }),
      children,
    );
  }
  const roots = model.groups.filter(({ parent }) => parent === null).length;
  assert.equal(await countRows(session, groups, { sources: [{ type: "children", uid: null }], filters: {} }), roots);
}

/** Declares the tests of counters. */
export function countersConformance(open: OpenStore): void {
  describe("counters", () => {
    it("counters are exact after any inserts, updates and deletes, and without writes that fail", async () => {
      const property = fc.asyncProperty(steps, async (taken) => {
        await using store = await open();
        const model: Model = { groups: [], bindings: [] };
        await write(store.database, (tx) => insertRow(tx, identities, owner));
        for (const [turn, step] of taken.entries()) {
          const planned = plan(model, step, turn);
          if (!planned) continue;
          const attempt = write(store.database, async (tx) => {
            await planned.write(tx);
            if (step.fails) throw new RangeError("on second thought");
          });
          if (step.fails) {
            await assert.rejects(attempt, RangeError);
          } else {
            await attempt;
            planned.apply();
          }
        }
        await compareTotals(store.database, model);
        assert.deepEqual((await store.database.read((session) => checkDatabase(session, collections))).findings, []);
      });
      await fc.assert(property, { numRuns: 6 });
    });

    it("counters are empty for a deleted group, even if its uid is used again", async () => {
      await using store = await open();
      const [root, child] = [groupRow(null, "root"), groupRow(groupRow(null, "root").uid, "child")];
      await write(store.database, async (tx) => {
        await insertRow(tx, groups, root);
        await insertRow(tx, groups, child);
        await deleteRow(tx, groups, child);
        await deleteRow(tx, groups, root);
      });
      assert.deepEqual(await store.tamper(`SELECT * FROM counters WHERE key <> '/*'`), []);
    });

    it("count rows that a write deletes and inserts again", async () => {
      await using store = await open();
      const [root, child] = [groupRow(null, "root"), groupRow(groupRow(null, "root").uid, "child")];
      await write(store.database, async (tx) => {
        await insertRow(tx, groups, root);
        await insertRow(tx, groups, child);
      });
      await write(store.database, async (tx) => {
        await deleteRow(tx, groups, child);
        await deleteRow(tx, groups, root);
        await insertRow(tx, groups, root);
        await insertRow(tx, groups, child);
      });
      assert.deepEqual((await store.database.read((session) => checkDatabase(session, collections))).findings, []);
    });
  });
}
