// Concurrent writers, in one database handle and in several, as several nodes have them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { deleteRow, findRow, insertRow, lockRow, updateRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import { readCounters } from "../../src/storage/engine/counters.ts";
import { ReferenceViolation, UniqueViolation } from "../../src/storage/engine/errors.ts";
import type { Transaction } from "../../src/storage/engine/session.ts";
import { countRows } from "../../src/storage/list/list-rows.ts";
import {
  bindingRow,
  collections,
  groupRow,
  groups,
  identities,
  identityRow,
  roleBindings,
  roleRow,
  roles,
  write,
} from "./fixtures.ts";
import type { OpenStore } from "./stores.ts";

const root = groupRow(null, "root");

/** The error of a service for a group that is not empty. */
class NotEmpty extends Error {}

/** The error of a service for a group that does not exist. */
class NotFound extends Error {}

async function assertSound(database: Database): Promise<void> {
  assert.deepEqual((await database.read((session) => checkDatabase(session, collections))).findings, []);
}

/** Deletes a group if it has no counted contents; foreign keys reject the deletion if that has changed since. */
async function deleteEmpty(tx: Transaction, uid: string, find: typeof findRow | typeof lockRow): Promise<void> {
  const row = await find(tx, groups, uid);
  if (!row) throw new NotFound();
  if ((await readCounters(tx, uid)).size > 0) throw new NotEmpty();
  await deleteRow(tx, groups, row);
}

async function createChild(tx: Transaction, parent: string, find: typeof findRow | typeof lockRow): Promise<void> {
  if (!(await find(tx, groups, parent))) throw new NotFound();
  await insertRow(tx, groups, groupRow(parent, "child"));
}

/** Declares the tests of concurrent writes. */
export function concurrencyConformance(open: OpenStore): void {
  describe("concurrency", () => {
    it("300 concurrent writes: those that must fail fail alone, each with its own error", async () => {
      await using store = await open();
      const { database } = store;
      await write(database, (tx) => insertRow(tx, groups, root));
      const reasons = Array.from({ length: 300 }, (_, i) =>
        i % 7 === 3 ? UniqueViolation : i % 11 === 5 ? RangeError : undefined,
      );
      const results = await Promise.allSettled(
        reasons.map((reason, i) =>
          write(database, async (tx) => {
            await insertRow(tx, groups, groupRow(root.uid, i));
            if (reason === UniqueViolation) await insertRow(tx, groups, root);
            if (reason === RangeError) throw new RangeError("on second thought");
          }),
        ),
      );
      for (const [i, result] of results.entries()) {
        const reason = reasons[i];
        const failed = result.status === "rejected" ? (result.reason as unknown) : undefined;
        assert.ok(reason ? failed instanceof reason : result.status === "fulfilled", `${i}: ${failed}`);
        const row = await findRow(database.session, groups, groupRow(root.uid, i).uid);
        assert.equal(row !== undefined, reason === undefined, `${i}`);
      }
      await assertSound(database);
    });

    it("no write is acknowledged before others can see it", async () => {
      await using store = await open();
      const other = await store.open();
      await write(store.database, (tx) => insertRow(tx, groups, root));
      const writes = Array.from({ length: 60 }, async (_, i) => {
        const row = groupRow(root.uid, i);
        await write(store.database, (tx) => insertRow(tx, groups, row));
        return await findRow(other.session, groups, row.uid);
      });
      assert.ok((await Promise.all(writes)).every((row) => row !== undefined));
    });

    for (const [how, find] of [
      ["locked", lockRow],
      ["only read", findRow],
    ] as const) {
      it(`either the deletion of an empty group or a creation in it succeeds, with the group ${how}`, async () => {
        await using store = await open();
        const nodes = [store.database, await store.open()] as const;
        const won = { deletes: 0, creates: 0 };
        for (let round = 0; round < 60; round++) {
          const group = groupRow(null, `round ${round}`);
          await write(nodes[0], (tx) => insertRow(tx, groups, group));
          const [deleting, creating] = await Promise.allSettled([
            pause(round % 3).then(() => write(nodes[round % 2]!, (tx) => deleteEmpty(tx, group.uid, find))),
            pause((round >> 1) % 3).then(() =>
              write(nodes[(round + 1) % 2]!, (tx) => createChild(tx, group.uid, find)),
            ),
          ]);
          assert.notEqual(deleting.status, creating.status, `round ${round}`);
          if (deleting.status === "fulfilled") won.deletes++;
          else
            assert.ok(
              [NotEmpty, ReferenceViolation].some((reason) => deleting.reason instanceof reason),
              deleting.reason,
            );
          if (creating.status === "fulfilled") won.creates++;
          else
            assert.ok(
              [NotFound, ReferenceViolation].some((reason) => creating.reason instanceof reason),
              creating.reason,
            );
        }
        assert.ok(won.deletes > 0 && won.creates > 0, JSON.stringify(won));
        await assertSound(store.database);
      });
    }

    it("no update is lost if many writers change one row after reading it", async () => {
      await using store = await open();
      const nodes = [store.database, await store.open()] as const;
      await write(nodes[0], (tx) => insertRow(tx, groups, { ...root, description: "" }));
      const names = Array.from({ length: 24 }, (_, i) => `${i}`);
      await Promise.all(
        names.map((name, i) =>
          write(nodes[i % 2]!, async (tx) => {
            const before = (await findRow(tx, groups, root.uid))!;
            await updateRow(tx, groups, before, { ...before, name, description: `${before.description} ${name}` });
          }),
        ),
      );
      const row = await findRow(nodes[0].session, groups, root.uid);
      assert.deepEqual(row?.description.trim().split(" ").sort(), names.toSorted());
      await assertSound(nodes[0]);
    });

    it("a row with several concurrent deletes is deleted, and counted, once", async () => {
      await using store = await open();
      const nodes = [store.database, await store.open()] as const;
      const child = groupRow(root.uid, "child");
      await write(nodes[0], async (tx) => {
        await insertRow(tx, groups, root);
        await insertRow(tx, groups, child);
      });
      const deletes = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          write(nodes[i % 2]!, async (tx) => {
            const row = await findRow(tx, groups, child.uid);
            if (row) await deleteRow(tx, groups, row);
            return row !== undefined;
          }),
        ),
      );
      assert.equal(deletes.filter((deleted) => deleted).length, 1);
      await assertSound(nodes[0]);
    });

    it("a locked row does not change, so one of two owners remains", async () => {
      await using store = await open();
      const nodes = [store.database, await store.open()] as const;
      const role = roleRow(null, "owner");
      const owners = [identityRow(null, "a"), identityRow(null, "b")] as const;
      const bindings = owners.map((owner) => bindingRow(root.uid, owner, role));
      await write(nodes[0], async (tx) => {
        await insertRow(tx, groups, root);
        await insertRow(tx, roles, role);
        for (const owner of owners) await insertRow(tx, identities, owner);
      });
      const sources = [{ type: "children", uid: root.uid }] as const;
      for (let round = 0; round < 10; round++) {
        await write(nodes[0], async (tx) => {
          for (const binding of bindings) await insertRow(tx, roleBindings, binding);
        });
        const results = await Promise.allSettled(
          bindings.map((binding, i) =>
            write(nodes[i]!, async (tx) => {
              await lockRow(tx, groups, root.uid);
              if ((await countRows(tx, roleBindings, { sources, filters: {} })) === 1) throw new NotEmpty();
              await deleteRow(tx, roleBindings, binding);
            }),
          ),
        );
        assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
        const left = bindings[results.findIndex(({ status }) => status === "rejected")]!;
        await write(nodes[0], (tx) => deleteRow(tx, roleBindings, left));
      }
    });

    it("a reader of the change log that keeps its position misses nothing", async () => {
      await using store = await open();
      const nodes = [store.database, await store.open()] as const;
      const parents = Array.from({ length: 16 }, (_, i) => groupRow(null, i));
      await write(nodes[0], async (tx) => {
        for (const parent of parents) await insertRow(tx, groups, parent);
      });
      let done = false;
      const seen: number[] = [];
      const reader = (async () => {
        for (let isLast = false; ; ) {
          const portion = await readChanges(store.database.session, seen.at(-1) ?? 0, 50);
          seen.push(...portion.map(({ sequence }) => sequence));
          if (isLast && portion.length === 0) return;
          isLast = done;
          await immediate();
        }
      })();
      await Promise.all(
        Array.from({ length: 160 }, (_, i) =>
          // In different organizations they do not wait for each other's counters; some append more than others.
          write(nodes[i % 2]!, async (tx) => {
            const row = groupRow(parents[i % 16]!.uid, i);
            await insertRow(tx, groups, row);
            for (let child = 0; child < (i % 3) * 2; child++) await insertRow(tx, groups, groupRow(row.uid, child));
          }),
        ),
      );
      done = true;
      await reader;
      const all = await readChanges(store.database.session, 0, 10_000);
      assert.deepEqual(
        seen,
        all.map(({ sequence }) => sequence),
      );
    });
  });
}
