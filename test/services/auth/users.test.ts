// People who sign in: one twice at once, on PostgreSQL; and one who holds a role already.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { viewerRole } from "../../../src/authz/built-in-roles.ts";
import {
  ensureRoleBinding,
  findUser,
  type Person,
  preRegisterUser,
  registerUser,
} from "../../../src/services/auth/users.ts";
import { createGroup } from "../../../src/services/iam/bootstrap.ts";
import { identityDirectory } from "../../../src/services/iam/identities/directory.ts";
import { syncBuiltInRoles } from "../../../src/services/iam/roles/built-in-role-rows.ts";
import { createPendingUser, deleteUnusedPendingUser } from "../../../src/services/iam/users/pending-users.ts";
import { userUid } from "../../../src/services/iam/users/user-uid.ts";
import { collections } from "../../../src/services/resources.ts";
import { checkDatabase } from "../../../src/storage/check/check-database.ts";
import { findRow } from "../../../src/storage/collection/rows.ts";
import type { Transaction } from "../../../src/storage/engine/session.ts";
import { identityCollection } from "../../../src/storage/iam/collections.ts";
import { findGrants } from "../../../src/storage/iam/grants.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { write } from "../../storage/fixtures.ts";
import { openPostgresStore, type Store, storeOpeners } from "../../storage/stores.ts";

after(stopPostgres);

const alice: Person = { issuer: "https://idp.acme.test", subject: "alice", name: "Alice", claims: { act: {} } };

/** Runs a write twice: the second has begun, and waits for the first, when that commits. */
async function twice<T>(store: Store, body: (tx: Transaction) => Promise<T>): Promise<T[]> {
  const other = await store.open();
  const begun = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const first = write(store.database, async (tx) => {
    const result = await body(tx);
    begun.resolve();
    await mayCommit.promise;
    return result;
  });
  await begun.promise;
  const second = write(other, body);
  while ((await store.tamper("SELECT 1 FROM pg_locks WHERE NOT granted")).length === 0);
  mayCommit.resolve();
  return await Promise.all([first, second]);
}

describe("a user who signs in twice concurrently", () => {
  it("a user who signs in twice concurrently is registered once, and both sign-ins return the same uid", async () => {
    await using store = await openPostgresStore();
    const [first, second] = await twice(store, (tx) => registerUser(tx, alice));
    assert.equal(first, second);
    const { rows, findings } = await store.database.read((session) => checkDatabase(session, collections));
    assert.deepEqual({ rows, findings }, { rows: 1, findings: [] });
  });

  it("a user who signs in twice concurrently gets a role binding once", async () => {
    await using store = await openPostgresStore();
    await syncBuiltInRoles(store.database, 1);
    const { uid, groupUid } = await write(store.database, async (tx) => ({
      uid: await registerUser(tx, alice),
      groupUid: (await createGroup(tx, null, "acme", "")).uid,
    }));
    await twice(store, (tx) => ensureRoleBinding(tx, uid, viewerRole.uid, groupUid, null));
    const { findings } = await store.database.read((session) => checkDatabase(session, collections));
    assert.deepEqual(findings, []);
    assert.equal((await store.tamper("SELECT uid FROM role_bindings")).length, 1);
  });
});

/** Returns a role that is bound to Alice at a group, before she has ever signed in. */
async function bindBeforehand(tx: Transaction) {
  const { uid: groupUid } = await createGroup(tx, null, "acme", "");
  const uid = userUid(alice.issuer, alice.subject);
  await createPendingUser(tx, uid);
  await ensureRoleBinding(tx, uid, viewerRole.uid, groupUid, null);
  return { uid, groupUid };
}

for (const database of databases) {
  const openStore = storeOpeners[database];
  describe(`a pending user, on ${database}`, () => {
    it("nobody can sign in as a pending user", async () => {
      await using store = await openStore();
      await syncBuiltInRoles(store.database, 1);
      const { uid } = await write(store.database, bindBeforehand);
      const directory = identityDirectory(store.database, () => 1, { pinNames: "first-use" });
      assert.equal(await write(store.database, (tx) => findUser(tx, alice)), undefined);
      assert.equal(await directory.find(uid), undefined);
      assert.equal(await directory.findUser(alice.issuer, alice.subject), undefined);
    });

    for (const [way, come] of [
      ["registers", async (tx: Transaction) => void (await registerUser(tx, alice))],
      ["is enrolled", (tx: Transaction, groupUid: string) => preRegisterUser(tx, alice, groupUid, [])],
    ] as const) {
      it(`holds the bound roles once she ${way}`, async () => {
        await using store = await openStore();
        await syncBuiltInRoles(store.database, 1);
        const { uid, groupUid } = await write(store.database, bindBeforehand);
        await write(store.database, (tx) => come(tx, groupUid));
        const person = await write(store.database, (tx) => findUser(tx, alice));
        assert.deepEqual([person?.uid, person?.issuer, person?.subject], [uid, alice.issuer, alice.subject]);
        assert.notEqual(person?.name, "");
        const holder = await findGrants(store.database.session, uid);
        assert.deepEqual(
          holder?.roles.map(({ role }) => role.groupUid),
          [groupUid],
        );
        const { findings } = await store.database.read((session) => checkDatabase(session, collections));
        assert.deepEqual(findings, []);
      });
    }

    it("a pending user is deleted only before registration, and without role bindings", async () => {
      await using store = await openStore();
      await syncBuiltInRoles(store.database, 1);
      const { uid } = await write(store.database, bindBeforehand);
      const forget = () => write(store.database, (tx) => deleteUnusedPendingUser(tx, uid));
      const isKept = async () => (await findRow(store.database.session, identityCollection, uid)) !== undefined;
      await forget();
      assert.equal(await isKept(), true);
      await store.tamper("DELETE FROM role_bindings");
      await forget();
      assert.equal(await isKept(), false);
      await write(store.database, (tx) => registerUser(tx, alice));
      await forget();
      assert.equal(await isKept(), true);
    });
  });
}
