// Keeps the rows of the built-in roles equal to the code.
import { builtInRoles } from "../../../authz/built-in-roles.ts";
import { findRow, insertRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { roleCollection } from "../../../storage/iam/collections.ts";
import type { RoleRow } from "../../../storage/iam/rows.ts";

/** Updates the built-in roles that differ, in one transaction. `now` is in milliseconds since the epoch. */
export async function syncBuiltInRoles(database: Database, now: number): Promise<void> {
  const stored = await Promise.all(builtInRoles.map(({ uid }) => findRow(database.session, roleCollection, uid)));
  if (builtInRoles.every((role, i) => isSame(stored[i], role))) return;
  await database.write({ actor: "", method: "start", requestId: "", time: now }, async (tx) => {
    // Servers that start together on a new database would all insert the roles.
    await tx.lockTables([tx.tables.roles]);
    for (const role of builtInRoles) {
      const before = await findRow(tx, roleCollection, role.uid);
      if (isSame(before, role)) continue;
      const after: RoleRow = {
        ...role,
        capabilities: [...role.capabilities],
        parent: null,
        createTime: before?.createTime ?? now,
        updateTime: now,
      };
      if (before) await updateRow(tx, roleCollection, before, after);
      else await insertRow(tx, roleCollection, after);
    }
  });
}

function isSame(row: RoleRow | undefined, role: (typeof builtInRoles)[number]): boolean {
  return (
    row?.name === role.name &&
    row.description === role.description &&
    row.capabilities.join() === role.capabilities.join()
  );
}
