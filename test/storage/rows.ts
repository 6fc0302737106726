// Reads, inserts, updates and deletes of single rows.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { deleteRow, findRow, insertRow, lockRow, updateRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import { ReferenceViolation, UniqueViolation } from "../../src/storage/engine/errors.ts";
import type { Transaction } from "../../src/storage/engine/session.ts";
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

const group = groupRow(null, "group", { verified: true, resourceLimits: { repositories: 3, clusters: 0 }, kind: 2 });
const child = groupRow(group.uid, "child");
const role = roleRow(null, "role", { capabilities: [301, 101, 201] });
const identity = identityRow(group.uid, "identity", {
  name: 'Zoë "😀" \\ \n',
  metadata: { zulu: 1, alpha: [true, null, { deep: "" }], "": 0.5 },
  lastSeenTime: 253_402_300_799_999,
});
const binding = bindingRow(group.uid, identity, role);
const missing = groupRow(null, "missing");

async function insertAll(database: Database): Promise<void> {
  await write(database, async (tx) => {
    await insertRow(tx, groups, group);
    await insertRow(tx, groups, child);
    await insertRow(tx, roles, role);
    await insertRow(tx, identities, identity);
    await insertRow(tx, roleBindings, binding);
  });
}

interface Refusal {
  readonly name: string;
  readonly body: (tx: Transaction) => Promise<unknown>;
  readonly error: typeof UniqueViolation | typeof ReferenceViolation;
}

const refusals: readonly Refusal[] = [
  {
    name: "a second row of the same uid",
    body: (tx) => insertRow(tx, groups, { ...group, name: "another" }),
    error: UniqueViolation,
  },
  {
    name: "a second binding of one identity to one role at one group",
    body: (tx) => insertRow(tx, roleBindings, { ...binding, uid: `${group.uid}/0123456789abcdef` }),
    error: UniqueViolation,
  },
  {
    name: "a row whose parent does not exist",
    body: (tx) => insertRow(tx, groups, groupRow(missing.uid, "orphan")),
    error: ReferenceViolation,
  },
  {
    name: "a row that refers to what does not exist",
    body: (tx) => insertRow(tx, roleBindings, bindingRow(child.uid, identity, roleRow(null, "missing role"))),
    error: ReferenceViolation,
  },
  {
    name: "an update that refers to what does not exist",
    body: (tx) => updateRow(tx, roleBindings, binding, { ...binding, roleUid: missing.uid }),
    error: ReferenceViolation,
  },
  { name: "the end of a row that has children", body: (tx) => deleteRow(tx, groups, group), error: ReferenceViolation },
  { name: "the end of a row that is referred to", body: (tx) => deleteRow(tx, roles, role), error: ReferenceViolation },
];

/** Declares the tests of single rows. */
export function rowsConformance(open: OpenStore): void {
  describe("rows", () => {
    it("rows are read exactly as they were stored, with maps in the same order", async () => {
      await using store = await open();
      await insertAll(store.database);
      const { session } = store.database;
      assert.deepEqual(await findRow(session, groups, group.uid), group);
      assert.deepEqual(await findRow(session, groups, child.uid), child);
      assert.deepEqual(await findRow(session, roles, role.uid), role);
      assert.deepEqual(await findRow(session, roleBindings, binding.uid), binding);
      const found = await findRow(session, identities, identity.uid);
      assert.deepEqual(found, identity);
      assert.equal(JSON.stringify(found?.metadata), JSON.stringify(identity.metadata));
    });

    it("reading a row that does not exist returns undefined, also with a lock", async () => {
      await using store = await open();
      assert.equal(await findRow(store.database.session, groups, missing.uid), undefined);
      assert.equal(await write(store.database, (tx) => lockRow(tx, groups, missing.uid)), undefined);
    });

    it("rows are replaced by an update, which changes no other", async () => {
      await using store = await open();
      await insertAll(store.database);
      const after = {
        ...group,
        name: "renamed",
        resourceLimits: {},
        verified: false,
        updateTime: group.updateTime + 1,
      };
      await write(store.database, async (tx) => updateRow(tx, groups, (await lockRow(tx, groups, group.uid))!, after));
      assert.deepEqual(await findRow(store.database.session, groups, group.uid), after);
      assert.deepEqual(await findRow(store.database.session, groups, child.uid), child);
    });

    it("a deleted row cannot be read", async () => {
      await using store = await open();
      await insertAll(store.database);
      await write(store.database, async (tx) => {
        await deleteRow(tx, roleBindings, binding);
        await deleteRow(tx, identities, identity);
      });
      assert.equal(await findRow(store.database.session, identities, identity.uid), undefined);
      assert.deepEqual((await store.database.read((session) => checkDatabase(session, collections))).findings, []);
    });

    for (const { name, body, error } of refusals) {
      it(`reject ${name}, and the write is undone`, async () => {
        await using store = await open();
        await insertAll(store.database);
        const attempt = write(store.database, async (tx) => {
          await insertRow(tx, groups, groupRow(group.uid, "in the same write"));
          await body(tx);
        });
        await assert.rejects(attempt, (thrown) => thrown instanceof error);
        const { rows, findings } = await store.database.read((session) => checkDatabase(session, collections));
        assert.deepEqual({ rows, findings }, { rows: 5, findings: [] });
      });
    }

    it("rows are not written if the body of the write throws, and its error is returned unchanged", async () => {
      await using store = await open();
      const reason = new RangeError("the service's own");
      const attempt = write(store.database, async (tx) => {
        await insertRow(tx, groups, group);
        throw reason;
      });
      await assert.rejects(attempt, (error) => error === reason);
      assert.equal(await findRow(store.database.session, groups, group.uid), undefined);
    });

    it("rows are rejected if their uid does not start with that of their parent: entries would name another row", async () => {
      await using store = await open();
      const stray = { ...roleRow(null, "stray"), parent: group.uid };
      const attempt = write(store.database, async (tx) => {
        await insertRow(tx, groups, group);
        await insertRow(tx, roles, stray);
      });
      await assert.rejects(attempt, { message: `${stray.uid} is not below ${group.uid}` });
    });

    it("rows do not reveal the parameters of a failed statement, which may be secrets", async () => {
      await using store = await open();
      await insertAll(store.database);
      const error = await write(store.database, (tx) => insertRow(tx, identities, identity)).then(
        () => assert.fail("it was accepted"),
        (reason: unknown) => reason,
      );
      for (let cause = error; cause instanceof Error; cause = cause.cause) {
        assert.ok(!`${cause.stack} ${JSON.stringify(cause)}`.includes(identity.email), `${cause.stack}`);
      }
    });
  });
}
