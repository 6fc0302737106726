// The change log.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readChanges } from "../../../src/storage/change-log/change-log.ts";
import { deleteRow, insertRow, updateRow } from "../../../src/storage/collection/rows.ts";
import { findLatestAccessRequest } from "../../../src/storage/iam/access-requests.ts";
import { accessRequests } from "../../../src/storage/schema/access-requests.ts";
import { context, groupRow, groups, identities, identityRow, write } from "../fixtures.ts";
import type { OpenStore } from "../stores.ts";

const root = groupRow(null, "root");
const child = groupRow(root.uid, "child");

/** Declares the tests of the change log. */
export function changesConformance(open: OpenStore): void {
  describe("change log", () => {
    it("the change log has every change in order, with the row before and after, and the actor", async () => {
      await using store = await open();
      const renamed = { ...child, name: "renamed" };
      await write(store.database, async (tx) => {
        await insertRow(tx, groups, root);
        await insertRow(tx, groups, child);
      });
      const other = { ...context, actor: "another", actorClaims: { iss: "i", sub: "s" }, requestId: "r-2", time: 7 };
      await store.database.write(other, async (tx) => {
        await updateRow(tx, groups, child, renamed);
        await deleteRow(tx, groups, renamed);
      });
      const log = await readChanges(store.database.session, 0, 10);
      const first = { ...context, actorClaims: null };
      const wanted = [
        { ...first, uid: root.uid, groupUid: root.uid, before: null, after: root },
        { ...first, uid: child.uid, groupUid: child.uid, before: null, after: child },
        { ...other, uid: child.uid, groupUid: child.uid, before: child, after: renamed },
        { ...other, uid: child.uid, groupUid: root.uid, before: renamed, after: null },
      ];
      assert.deepEqual(
        log.map(({ sequence: _, ...entry }) => entry),
        wanted.map((entry) => ({ kind: "groups", ...entry })),
      );
      const sequences = log.map(({ sequence }) => sequence);
      assert.deepEqual(
        sequences,
        [...new Set(sequences)].sort((a, b) => a - b),
      );
    });

    it("the change log has the entries of a service, in order among the changes of the write", async () => {
      await using store = await open();
      const request = { kind: accessRequests, uid: root.uid, groupUid: root.uid, before: null, after: { by: "me" } };
      await write(store.database, async (tx) => {
        await insertRow(tx, groups, root);
        tx.logChange(request);
        await insertRow(tx, groups, child);
      });
      const kinds = (await readChanges(store.database.session, 0, 10)).map(({ kind }) => kind);
      assert.deepEqual(kinds, ["groups", accessRequests, "groups"]);
      const { session } = store.database;
      assert.equal(await findLatestAccessRequest(session, root.uid, context.actor), context.time);
      assert.equal(await findLatestAccessRequest(session, root.uid, "someone else"), undefined);
    });

    it("the change log is read after a sequence number, in batches", async () => {
      await using store = await open();
      for (let i = 0; i < 5; i++) await write(store.database, (tx) => insertRow(tx, groups, groupRow(null, i)));
      const read: string[] = [];
      for (let after = 0; read.length <= 5; ) {
        const portion = await readChanges(store.database.session, after, 2);
        if (portion.length === 0) break;
        read.push(...portion.map(({ uid }) => uid));
        after = portion.at(-1)!.sequence;
      }
      assert.deepEqual(
        read,
        Array.from({ length: 5 }, (_, i) => groupRow(null, i).uid),
      );
    });

    it("the change log never has a change of a failed write", async () => {
      await using store = await open();
      const attempt = write(store.database, async (tx) => {
        await insertRow(tx, groups, root);
        throw new Error("on second thought");
      });
      await assert.rejects(attempt, { message: "on second thought" });
      await write(store.database, (tx) => insertRow(tx, groups, root));
      const log = await readChanges(store.database.session, 0, 10);
      assert.deepEqual(
        log.map(({ uid }) => uid),
        [root.uid],
      );
    });

    it("the change log never has a secret column", async () => {
      await using store = await open();
      const before = identityRow(null, "secretive");
      const after = { ...before, email: "other@example.org", company: "Acme" };
      await write(store.database, async (tx) => {
        await insertRow(tx, identities, before);
        await updateRow(tx, identities, before, after);
        await deleteRow(tx, identities, after);
      });
      const log = await readChanges(store.database.session, 0, 10);
      assert.equal(log.length, 3);
      assert.ok(!JSON.stringify(log).includes("@example.org"), JSON.stringify(log));
      assert.ok(JSON.stringify(log[1]!.after).includes("Acme"));
    });
  });
}
