// The rows of the built-in roles follow the newest version of the program that has run on the database.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, it } from "node:test";
import { builtInRoles, builtInRolesVersion } from "../../../src/authz/built-in-roles.ts";
import { syncBuiltInRoles } from "../../../src/services/iam/roles/built-in-role-rows.ts";
import { findRow, updateRow } from "../../../src/storage/collection/rows.ts";
import { writeSetting } from "../../../src/storage/engine/settings.ts";
import { roleCollection } from "../../../src/storage/iam/collections.ts";
import { write } from "../../storage/fixtures.ts";
import { openSqliteStore } from "../../storage/stores.ts";

describe("built-in roles", () => {
  it("have a version that changes with them", () => {
    const digest = hash("sha256", JSON.stringify(builtInRoles)).slice(0, 16);
    assert.deepEqual(
      { version: builtInRolesVersion, digest },
      { version: 1, digest: "090aa6c867745f24" },
      "increment builtInRolesVersion, and record it here with the new digest",
    );
  });

  for (const [title, version, expected] of [
    ["are written at the start of a newer version", builtInRolesVersion, ""],
    ["stay as a newer version has written them", builtInRolesVersion + 1, "of another version"],
  ] as const) {
    it(title, async () => {
      await using store = await openSqliteStore();
      const { database } = store;
      await syncBuiltInRoles(database, 1);
      const { uid, description } = builtInRoles[1]!;
      await write(database, async (tx) => {
        const row = (await findRow(tx, roleCollection, uid))!;
        await updateRow(tx, roleCollection, row, { ...row, description: "of another version" });
        await writeSetting(tx, "built_in_roles_version", String(version));
      });
      await syncBuiltInRoles(database, 2);
      assert.equal((await findRow(database.session, roleCollection, uid))?.description, expected || description);
    });
  }
});
