// What an identity holds, and where.
import type { AnyColumn, SQL } from "drizzle-orm";
import { depthOf, isBelow, isWithin, parentOf } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";

/** Whether an identity is one of a subgroup, outside of which it holds nothing. */
export function isSubgroupIdentity(identityUid: string): boolean {
  return depthOf(identityUid) > 2;
}

/**
 * The uid where an identity holds what is bound to it at a group, there and below; undefined for nowhere.
 *
 * An identity of a subgroup is confined to it: what is bound above counts in the subgroup, and what is bound elsewhere not at
 * all. Identities of a root group, and people, hold a role where it is bound.
 */
export function effectiveGroup(identityUid: string, groupUid: string): string | undefined {
  const home = parentOf(identityUid);
  if (!isSubgroupIdentity(identityUid) || isWithin(groupUid, home)) return groupUid;
  return isBelow(home, groupUid) ? home : undefined;
}

/** A role that is held at a group. */
export interface GrantedRole {
  readonly groupUid: string;
  /** Numbers of the Capability enum. */
  readonly capabilities: readonly number[];
}

/** An identity, as far as its access goes. */
export interface IdentityGrants {
  /** When it was made, in milliseconds since the epoch. */
  readonly createTime: number;
  /** The roles that it holds, and where it does. */
  readonly roles: readonly GrantedRole[];
}

/** What an identity holds; undefined when there is no such identity. */
export async function findGrants(session: Session, identityUid: string): Promise<IdentityGrants | undefined> {
  const statement = session.prepared("grants.of", (db, { identities, roleBindings, roles }) =>
    db
      .select({
        createTime: identities.createTime,
        groupUid: roleBindings.parent,
        capabilities: roles.capabilities,
      })
      .from(identities)
      .leftJoin(roleBindings, eq(roleBindings.identityUid, identities.uid))
      .leftJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .where(eq(identities.uid, sql.placeholder("uid"))),
  );
  const rows = await statement.execute({ uid: identityUid });
  const [first] = rows;
  if (!first) return undefined;
  const held = rows.flatMap(({ groupUid: boundAt, capabilities }) => {
    const groupUid = boundAt ? effectiveGroup(identityUid, boundAt) : undefined;
    return groupUid && capabilities ? [{ groupUid, capabilities }] : [];
  });
  return { createTime: first.createTime, roles: held };
}

/** Of bindings at a root group: whether the identity holds the role there, and is not confined to a subgroup. */
export function isHeldAtRoot(identityUid: AnyColumn): SQL {
  return sql`${identityUid} not like '%/%/%'`;
}

/** A role binding with its role and the name of its group. */
export interface ReachingBinding {
  readonly uid: string;
  readonly groupUid: string;
  readonly groupName: string;
  readonly roleUid: string;
  readonly roleName: string;
  readonly capabilities: readonly number[];
}

/** The bindings of an identity by which it holds something at a uid, among at most `limit` at the uid and above it. */
export async function findBindingsReaching(
  session: Session,
  identityUid: string,
  uid: string,
  limit: number,
): Promise<ReachingBinding[]> {
  const statement = session.prepared("role_bindings.reaching", (db, { roleBindings, roles, groups }) =>
    db
      .select({
        uid: roleBindings.uid,
        groupUid: roleBindings.parent,
        groupName: groups.name,
        roleUid: roles.uid,
        roleName: roles.name,
        capabilities: roles.capabilities,
      })
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .innerJoin(groups, eq(groups.uid, roleBindings.parent))
      .where(
        and(
          eq(roleBindings.identityUid, textPlaceholder("identityUid")),
          // The group is the uid itself, or what it begins with up to a slash.
          sql`substr(${sql.placeholder("uid")}, 1, length(${roleBindings.parent}) + 1) = ${roleBindings.parent} || '/'`,
        ),
      )
      .orderBy(roleBindings.uid)
      .limit(limitOf("limit")),
  );
  const bindings = await statement.execute({ identityUid, uid: `${uid}/`, limit });
  return bindings.filter(({ groupUid }) => {
    const place = effectiveGroup(identityUid, groupUid);
    return place !== undefined && isWithin(uid, place);
  });
}
