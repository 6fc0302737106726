// The rows of the built-in roles follow the program: brought up to date at start.
import { builtInRoles } from "../../../authz/built-in-roles.ts";
import { findRow, insertRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { roleCollection } from "../../../storage/iam/collections.ts";
import type { RoleRow } from "../../../storage/iam/rows.ts";

/** Writes what differs, in one transaction; nothing when nothing does. */
export async function syncBuiltInRoles(database: Database, now: number): Promise<void> {
  const stored = await Promise.all(builtInRoles.map(({ uid }) => findRow(database.session, roleCollection, uid)));
  if (builtInRoles.every((role, i) => isSame(stored[i], role))) return;
  await database.write({ actor: "", method: "start", requestId: "", time: now }, async (tx) => {
    // Servers that start at once on a new database would all find the roles missing.
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
