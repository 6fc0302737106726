// Settings, signing keys, and the version of the database.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DatabaseVersionMismatch, UniqueViolation } from "../../src/storage/engine/errors.ts";
import { getOrSetSetting, readSetting, writeSetting } from "../../src/storage/engine/settings.ts";
import {
  addSigningKeys,
  listSigningKeys,
  listUnretiredKeys,
  type SigningKeyRow,
} from "../../src/storage/installation/signing-keys.ts";
import { write } from "./fixtures.ts";
import type { OpenStore } from "./stores.ts";

function signingKey(kid: string, createTime: number): SigningKeyRow {
  return { kid, algorithm: "RS256", privateJwk: `{"secret":"${kid}"}`, createTime, retireTime: null };
}

/** Declares the tests of settings, signing keys and versions. */
export function installationConformance(open: OpenStore): void {
  describe("settings", () => {
    it("a setting is undefined until it is set, and has its last value then", async () => {
      await using store = await open();
      const { database } = store;
      assert.equal(await readSetting(database.session, "colour"), undefined);
      await write(database, (tx) => writeSetting(tx, "colour", "red"));
      await write(database, (tx) => writeSetting(tx, "colour", "blue"));
      assert.equal(await readSetting(database.session, "colour"), "blue");
      assert.equal(await readSetting(database.session, "shape"), undefined);
    });

    it("settings are initialized once: concurrent callers get the same value", async () => {
      await using store = await open();
      const nodes = [store.database, await store.open()];
      const asked = Array.from({ length: 20 }, (_, i) =>
        write(nodes[i % 2]!, (tx) => getOrSetSetting(tx, "key", `${i}`)),
      );
      const values = new Set(await Promise.all(asked));
      assert.equal(values.size, 1);
      assert.deepEqual([...values], [await readSetting(store.database.session, "key")]);
    });
  });

  describe("signing keys", () => {
    it("sign until a new one retires them; an earlier retirement is not postponed", async () => {
      await using store = await open();
      const [first, second, third] = [signingKey("a", 1), signingKey("b", 2), signingKey("c", 3)] as const;
      await write(store.database, (tx) => addSigningKeys(tx, [first], 0));
      assert.deepEqual(await listSigningKeys(store.database.session), [first]);
      await write(store.database, (tx) => addSigningKeys(tx, [second], 100));
      await write(store.database, (tx) => addSigningKeys(tx, [third], 200));
      const keys = (await listSigningKeys(store.database.session)).sort((a, b) => a.createTime - b.createTime);
      assert.deepEqual(keys, [{ ...first, retireTime: 100 }, { ...second, retireTime: 200 }, third]);
    });

    it("signing keys are read until they retire", async () => {
      await using store = await open();
      const { database } = store;
      for (const [i, kid] of ["a", "b", "c"].entries())
        await write(database, (tx) => addSigningKeys(tx, [signingKey(kid, i + 1)], i * 100));
      const kidsAt = async (now: number) =>
        (await listUnretiredKeys(database.session, now)).map(({ kid }) => kid).sort();
      assert.deepEqual(await kidsAt(99), ["a", "b", "c"]);
      assert.deepEqual(await kidsAt(100), ["b", "c"]);
      assert.deepEqual(await kidsAt(200), ["c"]);
      assert.equal((await listSigningKeys(database.session)).length, 3);
    });

    it("signing keys have unique ids; a rejected key retires no other and is not stored", async () => {
      await using store = await open();
      await write(store.database, (tx) => addSigningKeys(tx, [signingKey("a", 1)], 0));
      const attempt = write(store.database, (tx) => addSigningKeys(tx, [signingKey("a", 2)], 100));
      await assert.rejects(attempt, UniqueViolation);
      assert.deepEqual(await listSigningKeys(store.database.session), [signingKey("a", 1)]);
    });
  });

  describe("version", () => {
    it("a database of a newer version is used until it needs migrations that this version lacks", async () => {
      await using store = await open();
      const { migrationsTable } = store;
      await store.tamper(`INSERT INTO ${migrationsTable} (hash, created_at) VALUES ('later', 99999999999999)`);
      try {
        await (await store.open()).check();
        await write(store.database, (tx) => writeSetting(tx, "compatible_since", "0099_later"));
        await assert.rejects(store.open(), DatabaseVersionMismatch);
      } finally {
        await store.tamper(`DELETE FROM ${migrationsTable} WHERE hash = 'later'`);
      }
    });

    it("a database of this version is opened again as it is", async () => {
      await using store = await open();
      await write(store.database, (tx) => writeSetting(tx, "colour", "red"));
      const again = await store.open();
      assert.equal(await readSetting(again.session, "colour"), "red");
      await again.check();
    });
  });
}
