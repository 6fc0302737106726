// Keeps the rows of the built-in roles equal to the code.
import { builtInRoles, builtInRolesVersion } from "../../../authz/built-in-roles.ts";
import { findRow, insertRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { raiseSettingTo, readSetting } from "../../../storage/engine/settings.ts";
import { roleCollection } from "../../../storage/iam/collections.ts";
import type { RoleRow } from "../../../storage/iam/rows.ts";

const versionSetting = "built_in_roles_version";

/**
 * Updates the built-in roles that differ, in one transaction, unless a newer version of the program has written them.
 * `now` is in milliseconds since the epoch.
 */
export async function syncBuiltInRoles(database: Database, now: number): Promise<void> {
  const stored = await Promise.all(builtInRoles.map(({ uid }) => findRow(database.session, roleCollection, uid)));
  if (builtInRoles.every((role, i) => isSame(stored[i], role))) return;
  if (await areNewer(database.session)) return;
  await database.write({ actor: "", method: "start", requestId: "", time: now }, async (tx) => {
    // Servers that start together on a new database would all insert the roles.
    await tx.lockTables([tx.tables.roles]);
    if (await areNewer(tx)) return;
    await raiseSettingTo(tx, versionSetting, builtInRolesVersion);
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

/** Servers of two versions run side by side during an upgrade, and either may restart. */
async function areNewer(session: Session): Promise<boolean> {
  return Number((await readSetting(session, versionSetting)) ?? 0) > builtInRolesVersion;
}

function isSame(row: RoleRow | undefined, role: (typeof builtInRoles)[number]): boolean {
  return (
    row?.name === role.name &&
    row.description === role.description &&
    row.capabilities.join() === role.capabilities.join()
  );
}
