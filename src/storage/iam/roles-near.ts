// Finds the people who hold a role at some places, below them or above them.
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";
import type { Membership } from "./memberships.ts";

/** Returns who of these identities holds a role at one of these groups, below it or above it, and in which organization. */
export async function findRolesNear(
  session: Session,
  identityUids: readonly string[],
  groupUids: readonly string[],
): Promise<Membership[]> {
  if (identityUids.length === 0 || groupUids.length === 0) return [];
  const statement = session.prepared("role_bindings.near", (db, { roleBindings }) => {
    const { uid, identityUid, parent } = roleBindings;
    const isBelow = sql`(${uid} >= value || '/' and ${uid} < value || '0')`;
    const isAbove = sql`substr(value, 1, length(${parent}) + 1) = ${parent} || '/'`;
    return db
      .selectDistinct({ identityUid, groupUid: organizationOf(uid).mapWith(String).as("organization") })
      .from(roleBindings)
      .where(
        and(
          session.isAmong(identityUid, textPlaceholder("identities")),
          sql`exists (select 1 from ${session.textsOf(textPlaceholder("groups"))} where ${isBelow} or ${isAbove})`,
        ),
      );
  });
  return await statement.execute({ identities: JSON.stringify(identityUids), groups: JSON.stringify(groupUids) });
}
