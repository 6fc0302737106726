// Entries of older databases, which held whole uids instead of tails.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { listRows, type Source } from "../../src/storage/list/list-rows.ts";
import { collections, groupRow, groups, roleRow, roles, write } from "./fixtures.ts";
import type { OpenStore, Store } from "./stores.ts";

const root = groupRow(null, "root");
const child = groupRow(root.uid, "child");
const grandchild = groupRow(child.uid, "grandchild");
const other = groupRow(null, "other");
const rows = [root, child, grandchild, other];

async function migrate(store: Store): Promise<void> {
  const dialect = store.url.startsWith("postgres") ? "postgres" : "sqlite";
  const file = new URL(`../../src/storage/schema/migrations/${dialect}/0017_entry_tails.sql`, import.meta.url);
  for (const statement of readFileSync(file, "utf8").split("--> statement-breakpoint")) await store.tamper(statement);
}

/** Restores the former uids and names of the entries. */
async function unmigrate(store: Store): Promise<void> {
  const names = Object.keys(store.database.session.tables).filter((name) => name.endsWith("Entries"));
  for (const name of names) {
    const table = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    await store.tamper(`ALTER TABLE ${table} RENAME COLUMN tail TO uid`);
    await store.tamper(`UPDATE ${table} SET uid = rtrim(key, '/*') || uid`);
    if (store.url.startsWith("postgres"))
      await store.tamper(
        `ALTER TABLE ${table} RENAME CONSTRAINT ${table}_key_name_tail_pk TO ${table}_key_name_uid_pk`,
      );
  }
}

/** Declares the tests of entries. */
export function entryTailsConformance(open: OpenStore): void {
  describe("entries", () => {
    it("of an older database are migrated, and all lists stay the same", async () => {
      await using store = await open();
      const { database } = store;
      await write(database, async (tx) => {
        for (const row of rows) await insertRow(tx, groups, row);
        await insertRow(tx, roles, roleRow(null, "built in"));
        await insertRow(tx, roles, roleRow(child.uid, "own"));
      });
      const listed = async () => {
        const sources: Source[] = [
          { type: "subtree", uid: root.uid },
          { type: "children", uid: root.uid },
          { type: "children", uid: null },
        ];
        const found: string[][] = [];
        for (const source of sources) {
          for (const field of ["name", "createTime", "updateTime"] as const) {
            const order = { field, descending: true };
            const query = { sources: [source], filters: {}, order, after: undefined, skip: 0, limit: 9 };
            found.push((await database.read((session) => listRows(session, groups, query))).map(({ uid }) => uid));
          }
        }
        return found;
      };
      const before = await listed();
      assert.equal(before.flat().length, 3 * (2 + 1 + 2));
      await unmigrate(store);
      await migrate(store);
      // The reads of one tick share a snapshot.
      await setImmediate();
      assert.deepEqual((await database.read((session) => checkDatabase(session, collections))).findings, []);
      assert.deepEqual(await listed(), before);
    });

    it("are rejected for a row whose uid does not start with that of its parent: they would name another one", async () => {
      await using store = await open();
      const stray = { ...roleRow(null, "stray"), parent: root.uid };
      const attempt = write(store.database, async (tx) => {
        await insertRow(tx, groups, root);
        await insertRow(tx, roles, stray);
      });
      await assert.rejects(attempt, { message: `${stray.uid} is not below ${root.uid}` });
    });
  });
}
