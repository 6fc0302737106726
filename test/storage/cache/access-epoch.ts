// The access epoch.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { deleteRow, insertRow, updateRow } from "../../../src/storage/collection/rows.ts";
import type { Database } from "../../../src/storage/database.ts";
import type { Transaction } from "../../../src/storage/engine/session.ts";
import {
  bindingRow,
  groupRow,
  groups,
  identities,
  identityRow,
  roleBindings,
  roleRow,
  roles,
  write,
} from "../fixtures.ts";
import type { OpenStore } from "../stores.ts";

const group = groupRow(null, "group");
const identity = identityRow(group.uid, "identity");
const role = roleRow(null, "role");
const binding = bindingRow(group.uid, identity, role);

/** Writes in order, and whether each can change permissions, as fixtures.ts declares. */
const steps: readonly { name: string; body: (tx: Transaction) => Promise<unknown>; changes: boolean }[] = [
  { name: "insert of a group", body: (tx) => insertRow(tx, groups, group), changes: false },
  { name: "insert of an identity", body: (tx) => insertRow(tx, identities, identity), changes: false },
  { name: "insert of a role", body: (tx) => insertRow(tx, roles, role), changes: false },
  { name: "insert of a binding", body: (tx) => insertRow(tx, roleBindings, binding), changes: true },
  {
    name: "update of an identity",
    body: (tx) => updateRow(tx, identities, identity, { ...identity, name: "new" }),
    changes: false,
  },
  { name: "update of a role", body: (tx) => updateRow(tx, roles, role, { ...role, name: "new" }), changes: true },
  { name: "delete of a binding", body: (tx) => deleteRow(tx, roleBindings, binding), changes: true },
  { name: "delete of a role", body: (tx) => deleteRow(tx, roles, { ...role, name: "new" }), changes: false },
  {
    name: "delete of an identity",
    body: (tx) => deleteRow(tx, identities, { ...identity, name: "new" }),
    changes: true,
  },
];

/** Waits until the epoch changes. Returns false if it stays long beyond the guaranteed second. */
async function becomesOther(database: Database, than: number): Promise<boolean> {
  for (let tries = 0; tries < 500; tries++) {
    if ((await database.accessEpoch.current()) !== than) return true;
    await pause(10);
  }
  return false;
}

/** Declares the tests of the access epoch. */
export function accessEpochConformance(open: OpenStore): void {
  describe("access epoch", () => {
    it("the access epoch changes with exactly the changes that a collection names, and immediately on the node that makes them", async () => {
      await using store = await open();
      const { accessEpoch } = store.database;
      for (const { name, body, changes } of steps) {
        const before = await accessEpoch.current();
        await write(store.database, body);
        // A cached number would not show that the stored one changed without reason.
        if (!changes) accessEpoch.invalidate();
        assert.equal((await accessEpoch.current()) !== before, changes, name);
      }
    });

    it("another node sees a new access epoch without a notification", async () => {
      await using store = await open();
      const other = await store.open();
      for (const { name, body } of steps) {
        const before = await other.accessEpoch.current();
        await write(store.database, body);
        if (name === "insert of a binding" || name === "delete of a binding") {
          assert.ok(await becomesOther(other, before), name);
        }
      }
    });

    it("the access epoch stays the same if the write that would change it fails", async () => {
      await using store = await open();
      const before = await store.database.accessEpoch.current();
      const attempt = write(store.database, async (tx) => {
        for (const { body } of steps) await body(tx);
        throw new Error("on second thought");
      });
      await assert.rejects(attempt, { message: "on second thought" });
      store.database.accessEpoch.invalidate();
      assert.equal(await store.database.accessEpoch.current(), before);
    });

    it("a service can advance the access epoch for changes that no collection declares", async () => {
      await using store = await open();
      const before = await store.database.accessEpoch.current();
      await write(store.database, async (tx) => tx.changeAccess());
      assert.notEqual(await store.database.accessEpoch.current(), before);
    });

    it("the access epoch is read once for concurrent callers", async () => {
      await using store = await open();
      store.database.accessEpoch.invalidate();
      const asked = [store.database.accessEpoch.current(), store.database.accessEpoch.current()];
      assert.equal(asked[0], asked[1]);
      await Promise.all(asked);
    });
  });
}
