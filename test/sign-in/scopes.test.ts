// The names of groups that a sign-in narrows its token to.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { capabilitySet } from "../../src/model/capabilities.ts";
import { resolveScopes } from "../../src/sign-in/scopes.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { groupRow, groups, write } from "../storage/fixtures.ts";
import { openSqliteStore, type Store } from "../storage/stores.ts";

describe("a scope by name", () => {
  let store: Store;
  const own = groupRow(null, "own", { name: "own" });
  const engineering = groupRow(own.uid, "engineering", { name: "engineering" });
  const twins = ["a", "b"].map((key) => groupRow(engineering.uid, key, { name: "twin" }));
  const strangers = Array.from({ length: 150 }, (_, i) => groupRow(null, `stranger ${i}`, { name: "engineering" }));
  const hidden = groupRow(null, "hidden", { name: "hidden" });
  const grants = new Map([own.uid, engineering.uid].map((uid) => [uid, capabilitySet([])]));
  before(async () => {
    store = await openSqliteStore();
    await write(store.database, async (tx) => {
      for (const row of [...strangers, hidden, own, engineering, ...twins]) await insertRow(tx, groups, row);
    });
  });
  after(() => store[Symbol.asyncDispose]());
  const resolve = (name: string) => resolveScopes(store.database.session, [name], grants);

  it("a scope by name is the group that the user reaches, however many other groups have the name", async () => {
    assert.deepEqual(await resolve("engineering"), [engineering.uid]);
    assert.deepEqual(await resolve("own"), [own.uid]);
  });

  it("is rejected when several groups within reach have it, or none", async () => {
    await assert.rejects(resolve("twin"), /several groups have the name/);
    await assert.rejects(resolve("hidden"), /no group has the name/);
    await assert.rejects(resolve("nowhere"), /no group has the name/);
  });
});
