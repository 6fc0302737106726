// One person who signs in twice at once, on PostgreSQL.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { viewerRole } from "../../src/authz/built-in-roles.ts";
import { bindOnce, type Person, registerPerson } from "../../src/services/auth/people.ts";
import { collections } from "../../src/services/collections.ts";
import { syncBuiltInRoles } from "../../src/services/iam/built-in-role-rows.ts";
import { createGroup } from "../../src/services/iam/first-owner.ts";
import { checkDatabase } from "../../src/storage/check.ts";
import type { Transaction } from "../../src/storage/session.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { write } from "../storage/fixtures.ts";
import { openPostgresStore, type Store } from "../storage/stores.ts";

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

describe("a person who signs in twice at once", () => {
  it("is registered once, and both know who it is", async () => {
    await using store = await openPostgresStore();
    const [first, second] = await twice(store, (tx) => registerPerson(tx, alice));
    assert.equal(first, second);
    const { rows, findings } = await store.database.read((session) => checkDatabase(session, collections));
    assert.deepEqual({ rows, findings }, { rows: 1, findings: [] });
  });

  it("is given a role once", async () => {
    await using store = await openPostgresStore();
    await syncBuiltInRoles(store.database, 1);
    const { uid, groupUid } = await write(store.database, async (tx) => ({
      uid: await registerPerson(tx, alice),
      groupUid: (await createGroup(tx, null, "acme", "")).uid,
    }));
    await twice(store, (tx) => bindOnce(tx, uid, viewerRole.uid, groupUid));
    const { findings } = await store.database.read((session) => checkDatabase(session, collections));
    assert.deepEqual(findings, []);
    assert.equal((await store.tamper("SELECT uid FROM role_bindings")).length, 1);
  });
});
