// Bindings of subgroup identities that do not take effect where they are.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ConfinedBinding, confinedBindings } from "../../src/storage/check/confinement-check.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
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
} from "./fixtures.ts";
import type { OpenStore } from "./stores.ts";

const root = groupRow(null, "root");
const home = groupRow(root.uid, "home");
const below = groupRow(home.uid, "below");
const sibling = groupRow(root.uid, "sibling");
const other = groupRow(null, "other");
const role = roleRow(null, "role");
const person = identityRow(null, "person");
const ofRoot = identityRow(root.uid, "of the root");
const confined = identityRow(home.uid, "of the subgroup");

/** Declares the tests of the check of bindings. */
export function confinementConformance(open: OpenStore): void {
  describe("the check of bindings", () => {
    it("finds bindings of subgroup identities outside of the subgroup, and no others", async () => {
      await using store = await open();
      await write(store.database, async (tx) => {
        for (const row of [root, home, below, sibling, other]) await insertRow(tx, groups, row);
        await insertRow(tx, roles, role);
        for (const row of [person, ofRoot, confined]) await insertRow(tx, identities, row);
        for (const identity of [person, ofRoot, confined]) {
          for (const { uid } of [root, home, below, sibling, other])
            await insertRow(tx, roleBindings, bindingRow(uid, identity, role));
        }
      });
      const found = await store.database.read(async (session) => {
        const all: ConfinedBinding[] = [];
        for await (const binding of confinedBindings(session)) all.push(binding);
        return all;
      });
      assert.deepEqual(
        new Set(found.map(({ identityUid, home: at, roleUid }) => [identityUid, at, roleUid].join(" "))),
        new Set([[confined.uid, home.uid, role.uid].join(" ")]),
      );
      assert.deepEqual(
        new Map(found.map(({ groupUid, countsAtHome }) => [groupUid, countsAtHome])),
        new Map([root, sibling, other].map(({ uid }) => [uid, uid === root.uid])),
      );
      assert.equal(found.length, 3);
    });
  });
}
