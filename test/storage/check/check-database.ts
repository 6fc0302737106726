// The check finds every inconsistency of redundant data, and the repair fixes it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkDatabase, repairDatabase } from "../../../src/storage/check/check-database.ts";
import { insertRow } from "../../../src/storage/collection/rows.ts";
import { countRows, listRows } from "../../../src/storage/list/list-rows.ts";
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
} from "../fixtures.ts";
import type { OpenStore, Store } from "../stores.ts";

const root = groupRow(null, "root");
const child = groupRow(root.uid, "child");
const identity = identityRow(child.uid, "identity");
const role = roleRow(null, "role");
const binding = bindingRow(child.uid, identity, role);

/** Opens a store with a few rows of every collection. */
async function openFilled(open: OpenStore): Promise<Store> {
  const store = await open();
  await write(store.database, async (tx) => {
    for (const row of [root, child]) await insertRow(tx, groups, row);
    await insertRow(tx, identities, identity);
    await insertRow(tx, roles, role);
    await insertRow(tx, roleBindings, binding);
  });
  return store;
}

interface Fault {
  readonly name: string;
  readonly damage: string;
  readonly findings: readonly string[];
}

const tailOfChild = child.uid.slice(root.uid.length);
const entryOfChild = `WHERE tail = '${tailOfChild}' AND key = '${root.uid}'`;

/** Inconsistencies that a repair fixes, because the rows are right. */
const mendable: readonly Fault[] = [
  {
    name: "a missing entry",
    damage: `DELETE FROM group_entries ${entryOfChild}`,
    findings: [`groups ${child.uid}: the entry under ${root.uid} is missing`],
  },
  {
    name: "an entry of a row that is gone",
    damage: `INSERT INTO group_entries (key, tail, name, create_time, update_time) VALUES ('/*', '${role.uid}', '', 1, 1)`,
    findings: [`groups ${role.uid}: an entry under /* does not belong to the row`],
  },
  {
    name: "an entry under a key that is not of the row",
    damage: `UPDATE group_entries SET key = '${child.uid}' ${entryOfChild}`,
    findings: [
      `groups ${child.uid}${tailOfChild}: an entry under ${child.uid} does not belong to the row`,
      `groups ${child.uid}: the entry under ${root.uid} is missing`,
      `groups: the counter of ${child.uid} is missing`,
    ],
  },
  {
    name: "an entry with another name",
    damage: `UPDATE group_entries SET name = 'another' ${entryOfChild}`,
    findings: [
      `groups ${child.uid}: an entry under ${root.uid} does not belong to the row`,
      `groups ${child.uid}: the entry under ${root.uid} is missing`,
    ],
  },
  {
    name: "an entry with another time",
    damage: `UPDATE group_entries SET update_time = 3 ${entryOfChild}`,
    findings: [`groups ${child.uid}: an entry under ${root.uid} does not belong to the row`],
  },
  {
    name: "a counter of a subtree that is too high",
    damage: `UPDATE counters SET count = 7 WHERE kind = 'identities' AND key = '${root.uid}'`,
    findings: [`identities: the counter of ${root.uid} is 7, but there are 1 rows`],
  },
  {
    name: "a counter of children that is too low",
    damage: `UPDATE counters SET count = 0 WHERE kind = 'role_bindings' AND key = '${child.uid}/*'`,
    findings: [`role_bindings: the counter of ${child.uid}/* is 0, but there are 1 rows`],
  },
  {
    name: "a counter of roots that is negative",
    damage: `UPDATE counters SET count = -1 WHERE kind = 'roles' AND key = '/*'`,
    findings: ["roles: the counter of /* is -1, but there are 1 rows"],
  },
  {
    name: "a counter where there is nothing",
    damage: `INSERT INTO counters (key, kind, count) VALUES ('${role.uid}', 'groups', 2)`,
    findings: [`groups: the counter of ${role.uid} is 2, but there are 0 rows`],
  },
  {
    name: "a missing counter",
    damage: `DELETE FROM counters WHERE kind = 'groups' AND key = '${root.uid}'`,
    findings: [`groups: the counter of ${root.uid} is missing`],
  },
];

/** Inconsistencies of the rows themselves: an operator has to decide. */
const lasting: readonly Fault[] = [
  {
    name: "a parent that does not exist",
    damage: `UPDATE roles SET parent = '${role.uid}' WHERE uid = '${role.uid}'`,
    findings: [`roles ${role.uid}: its parent ${role.uid} does not exist`],
  },
  {
    name: "a reference to what does not exist",
    damage: `UPDATE role_bindings SET identity_uid = '${root.uid}'`,
    findings: [`role_bindings ${binding.uid}: its identityUid ${root.uid} does not exist`],
  },
];

async function findingsIn({ database }: Store): Promise<readonly string[]> {
  return (await database.read((session) => checkDatabase(session, collections))).findings;
}

function repair({ database }: Store): Promise<number> {
  return write(database, (tx) => repairDatabase(tx, collections));
}

/** Declares the tests of the check. */
export function checkConformance(open: OpenStore): void {
  describe("check", () => {
    it("finds nothing in a consistent database, and the repair changes nothing", async () => {
      await using store = await openFilled(open);
      const result = await store.database.read((session) => checkDatabase(session, collections));
      assert.deepEqual(result, { rows: 5, findings: [], truncated: false });
      assert.equal(await repair(store), 0);
    });

    for (const { name, damage, findings } of mendable) {
      it(`finds and repairs ${name}`, async () => {
        await using store = await openFilled(open);
        await store.tamper(damage);
        assert.deepEqual(await findingsIn(store), findings);
        assert.ok((await repair(store)) > 0);
        assert.deepEqual(await findingsIn(store), []);
      });
    }

    for (const { name, damage, findings } of lasting) {
      it(`finds ${name}, and a repair leaves it`, async () => {
        await using store = await openFilled(open);
        await store.tamper(damage);
        const found = await findingsIn(store);
        assert.deepEqual(found.slice(0, findings.length), findings);
        await repair(store);
        assert.deepEqual(await findingsIn(store), findings);
      });
    }

    it("rebuilds everything from the rows alone, over many pages, and says if it stops reporting", async () => {
      await using store = await openFilled(open);
      const many = 1100;
      const digits = "substr(cast(10000000000000000 + i as text), 2)";
      await store.tamper(`
        INSERT INTO groups (uid, parent, name, description, resource_limits, verified, kind, status, create_time, update_time)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
        SELECT '${root.uid}/' || ${digits}, '${root.uid}', 'made ' || i, '', '{}', ${store.no}, 0, 0, i, i FROM n`);
      await store.tamper("DELETE FROM group_entries");
      await store.tamper("DELETE FROM counters");
      const { findings, truncated } = await store.database.read((session) => checkDatabase(session, collections));
      assert.deepEqual({ findings: findings.length, truncated }, { findings: 1000, truncated: true });
      await repair(store);
      assert.deepEqual(await findingsIn(store), []);
      const sources = [{ type: "subtree", uid: root.uid }] as const;
      assert.equal(await countRows(store.database.session, groups, { sources, filters: {} }), many + 1);
      const order = { field: "createTime", descending: false } as const;
      const query = { sources, filters: {}, order, after: undefined, skip: many - 1, limit: 2 };
      const page = await listRows(store.database.session, groups, query);
      assert.deepEqual(
        page.map(({ name }) => name),
        [`made ${many}`, child.name],
      );
    });
  });
}
