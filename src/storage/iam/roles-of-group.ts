import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { eq } from "../schema/drizzle.ts";
import type { RoleRow } from "./rows.ts";

/** Returns the custom roles directly in a group, at most `limit`. */
export async function findRolesIn(session: Session, groupUid: string, limit: number): Promise<readonly RoleRow[]> {
  const statement = session.prepared("roles.in_group", (db, { roles }) =>
    db
      .select()
      .from(roles)
      .where(eq(roles.parent, textPlaceholder("groupUid")))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ groupUid, limit });
}
