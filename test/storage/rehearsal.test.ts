// A rehearsal of a write ends as the write would, changes nothing, and neither waits for other writes nor delays them.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { noTerm } from "../../src/model/grants.ts";
import { newChild } from "../../src/model/uid.ts";
import { deleteRow, findRow, insertRow, updateRow } from "../../src/storage/collection/rows.ts";
import { findSubtreeRows } from "../../src/storage/collection/subtree-rows.ts";
import { readCounters } from "../../src/storage/engine/counters.ts";
import type { Transaction } from "../../src/storage/engine/session.ts";
import { groupCollection, identityCollection, roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { findDelegationsOf, vouch } from "../../src/storage/iam/delegations.ts";
import { insertMembership, isMember } from "../../src/storage/iam/memberships.ts";
import type { GroupRow } from "../../src/storage/iam/rows.ts";
import { repoCollection } from "../../src/storage/registry/rows.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

after(stopPostgres);

const time = 1_700_000_000_000;
const person = "c0ffee".padEnd(40, "0");

function groupIn(parent: string, name: string): GroupRow {
  const own = { name, description: "", resourceLimits: {}, verified: false, kind: 0, status: 0 };
  return { uid: newChild(parent), parent, ...own, createTime: time, updateTime: time };
}

/** Bodies of writes, which return what the transaction then shows. */
const bodies: Readonly<Record<string, (tx: Transaction, server: TestServer) => Promise<unknown>>> = {
  async "inserts, updates and deletes are seen by what follows"(tx, { groupUid }) {
    const parent = groupIn(groupUid, "parent");
    const child = groupIn(parent.uid, "child");
    await insertRow(tx, groupCollection, parent);
    await insertRow(tx, groupCollection, child);
    const renamed = await updateRow(tx, groupCollection, parent, { ...parent, name: "renamed" });
    await deleteRow(tx, groupCollection, child);
    await insertRow(tx, groupCollection, child);
    await deleteRow(tx, groupCollection, child);
    const names = (await findSubtreeRows(tx, groupCollection, groupUid, 100)).map(({ name }) => name);
    return [names.sort(), renamed.name, await findRow(tx, groupCollection, child.uid)];
  },
  async "stored rows change and vanish, and their keys can be used again"(tx, { groupUid }) {
    const [stored] = await findSubtreeRows(tx, groupCollection, groupUid, 1);
    const changed = await updateRow(tx, groupCollection, stored!, { ...stored!, name: "changed" });
    await deleteRow(tx, groupCollection, changed);
    const isGone = (await findRow(tx, groupCollection, changed.uid)) === undefined;
    await insertRow(tx, groupCollection, stored!);
    return [isGone, (await findRow(tx, groupCollection, stored!.uid))?.name];
  },
  async "a uid that is taken"(tx, { groupUid }) {
    const [stored] = await findSubtreeRows(tx, groupCollection, groupUid, 1);
    await insertRow(tx, groupCollection, { ...stored!, name: "other" });
  },
  async "unique columns that are taken by a row of the same write"(tx, { groupUid }) {
    const own = { description: "", catalogTier: 0, bundles: [], aliases: [], activeTags: [] };
    const repo = () => ({
      uid: newChild(groupUid),
      parent: groupUid,
      name: "api",
      ...own,
      createTime: time,
      updateTime: time,
    });
    await insertRow(tx, repoCollection, repo());
    await insertRow(tx, repoCollection, repo());
  },
  async "a reference to a row that is missing"(tx, { groupUid, ownerUid }) {
    const binding = { uid: newChild(groupUid), parent: groupUid, identityUid: ownerUid, roleUid: "missing" };
    await insertRow(tx, roleBindingCollection, { ...binding, createTime: time, ...noTerm });
    await tx.counterChanges.write(tx);
  },
  async "a row that others refer to"(tx, { ownerUid }) {
    await deleteRow(tx, identityCollection, (await findRow(tx, identityCollection, ownerUid))!);
  },
  async "a value that is missing"(tx, { groupUid }) {
    await insertRow(tx, groupCollection, { ...groupIn(groupUid, "nameless"), name: null as unknown as string });
  },
  async "a row that is written over, and one that may be there already"(tx, { groupUid }) {
    await vouch(tx, "group_invites", groupUid, [1]);
    await vouch(tx, "group_invites", groupUid, [2, 3]);
    await insertMembership(tx, { identityUid: person, groupUid });
    await insertMembership(tx, { identityUid: person, groupUid });
    const [delegation] = await findDelegationsOf(tx, groupUid);
    return [delegation?.capabilities, await isMember(tx, { identityUid: person, groupUid })];
  },
};

for (const database of databases) {
  describe(`rehearsals on ${database}`, () => {
    let server: TestServer;
    const context = { actor: "", method: "test", requestId: "", time };
    before(async () => {
      server = await startTestServer({ database });
      const stored = groupIn(server.groupUid, "stored");
      await server.server.database.write(context, (tx) => insertRow(tx, groupCollection, stored));
    });
    after(() => server[Symbol.asyncDispose]());

    /** Returns the result of a body, or the kind of error that it throws. */
    async function outcomeOf(run: Promise<unknown>): Promise<unknown> {
      return await run.then(
        (value) => ({ value }),
        (error: Error) => ({ error: error.name }),
      );
    }

    async function stored() {
      const { session } = server.server.database;
      const groups = await findSubtreeRows(session, groupCollection, server.groupUid, 100);
      const counters = await readCounters(session, server.groupUid);
      return {
        groups,
        counters,
        isMember: await isMember(session, { identityUid: person, groupUid: server.groupUid }),
      };
    }

    for (const [title, body] of Object.entries(bodies)) {
      it(`a rehearsal ends as the write does, and changes nothing: ${title}`, async () => {
        const { database: opened } = server.server;
        const earlier = await stored();
        const rehearsed = await outcomeOf(opened.rehearse(context, (tx) => body(tx, server)));
        assert.deepEqual(await stored(), earlier);
        // The write is undone, too: the next body begins with the same rows.
        class Undone extends Error {}
        let value: unknown;
        const write = opened.write({ ...context, isAlone: true }, async (tx) => {
          value = await body(tx, server);
          throw new Undone();
        });
        const written = await write.catch((error: Error) =>
          error instanceof Undone ? { value } : { error: error.name },
        );
        assert.deepEqual(rehearsed, written);
      });
    }

    it("a rehearsal runs while another write has begun, and another write commits while it runs", async () => {
      const { database: opened } = server.server;
      const rehearsed = groupIn(server.groupUid, "rehearsed");
      await opened.write({ ...context, isAlone: true }, async () => {
        await opened.rehearse(context, (tx) => insertRow(tx, groupCollection, rehearsed));
      });
      const during = groupIn(server.groupUid, "during");
      await opened.rehearse(context, async (tx) => {
        await insertRow(tx, groupCollection, rehearsed);
        await opened.write(context, (other) => insertRow(other, groupCollection, during));
        assert.ok(await findRow(opened.session, groupCollection, during.uid));
      });
      assert.equal(await findRow(opened.session, groupCollection, rehearsed.uid), undefined);
    });
  });
}
