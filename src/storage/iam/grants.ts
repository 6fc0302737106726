// The roles of an identity, and the groups where they take effect.
import type { AnyColumn, SQL } from "drizzle-orm";
import { type IdentityGrants, isInTerm, type Term, type TimedRole } from "../../model/grants.ts";
import { depthOf, isBelow, isWithin, parentOf } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { hasSuspensions, isNotSuspended } from "./scim-suspensions.ts";

/** Returns whether an identity belongs to a subgroup. Such an identity has no roles outside of the subgroup. */
export function isSubgroupIdentity(identityUid: string): boolean {
  return depthOf(identityUid) > 2;
}

/**
 * Returns the group where a role binding takes effect, or undefined if it has none. It takes effect in the whole
 * subtree.
 *
 * An identity of a subgroup is limited to it: a binding on an ancestor applies to the subgroup only, a binding
 * elsewhere to nothing. For identities of a root group, and users, a binding takes effect where it is.
 */
export function effectiveGroup(identityUid: string, groupUid: string): string | undefined {
  const home = parentOf(identityUid);
  if (!isSubgroupIdentity(identityUid) || isWithin(groupUid, home)) return groupUid;
  return isBelow(home, groupUid) ? home : undefined;
}

/** Returns the grants of an identity, or undefined if it does not exist. */
export async function findGrants(session: Session, identityUid: string): Promise<IdentityGrants | undefined> {
  const statement = session.prepared("grants.of", (db, tables) => {
    const { identities, roleBindings, roles } = tables;
    return db
      .select({
        createTime: identities.createTime,
        groupUid: roleBindings.parent,
        capabilities: roles.capabilities,
        startTime: roleBindings.startTime,
        expireTime: roleBindings.expireTime,
        hasSuspensions: sql`${hasSuspensions(tables, identities.uid)} or ${hasSuspensions(tables, roleBindings.parent)}`
          .mapWith(Boolean)
          .as("has_suspensions"),
      })
      .from(identities)
      .leftJoin(roleBindings, and(eq(roleBindings.identityUid, identities.uid), isNotSuspended(tables)))
      .leftJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .where(eq(identities.uid, sql.placeholder("uid")));
  });
  const rows = await statement.execute({ uid: identityUid });
  const [first] = rows;
  if (!first) return undefined;
  const held = rows.flatMap(({ groupUid: boundAt, capabilities, startTime, expireTime }): TimedRole[] => {
    const groupUid = boundAt ? effectiveGroup(identityUid, boundAt) : undefined;
    return groupUid && capabilities ? [{ role: { groupUid, capabilities }, startTime, expireTime }] : [];
  });
  return { createTime: first.createTime, roles: held, hasSuspensions: rows.some((row) => row.hasSuspensions) };
}

/**
 * For bindings at a root group, returns a condition: the role takes effect there, because the identity is not limited
 * to a subgroup.
 */
export function isHeldAtRoot(identityUid: AnyColumn): SQL {
  return sql`${identityUid} not like '%/%/%'`;
}

/**
 * For bindings at the uid in the placeholder or at its ancestors, returns a condition: the role takes effect at the uid. Agrees with
 * `effectiveGroup`: the identity is not limited to a subgroup, or the uid is in that subgroup.
 */
export function takesEffectAt(identityUid: AnyColumn, placeholder: string): SQL {
  const home = sql`length(${identityUid}) - 16`;
  return sql`(${isHeldAtRoot(identityUid)} or
    substr(${textPlaceholder(placeholder)} || '/', 1, ${home}) = substr(${identityUid}, 1, ${home}))`;
}

/** A role binding with its role, its term and the name of its group. */
export interface ReachingBinding extends Term {
  readonly uid: string;
  readonly groupUid: string;
  readonly groupName: string;
  readonly roleUid: string;
  readonly roleName: string;
  readonly capabilities: readonly number[];
  /** Whether an identity provider has deactivated the person: the binding has no effect then (docs/design/sign-in.md). */
  readonly isSuspended: boolean;
}

/** Returns the columns of a ReachingBinding. */
export function reachingColumns(tables: Tables) {
  const { roleBindings, roles, groups } = tables;
  return {
    uid: roleBindings.uid,
    groupUid: roleBindings.parent,
    groupName: groups.name,
    roleUid: roles.uid,
    roleName: roles.name,
    capabilities: roles.capabilities,
    startTime: roleBindings.startTime,
    expireTime: roleBindings.expireTime,
    // SQLite has 0 and 1 for truth values.
    isSuspended: sql`not (${isNotSuspended(tables)})`.mapWith(Boolean).as("is_suspended"),
  };
}

/**
 * Returns the group where a binding takes effect at a time: that of `effectiveGroup`, and none outside of its term and while the person is
 * deactivated.
 */
export function groupInForce(
  identityUid: string,
  binding: Pick<ReachingBinding, "groupUid" | "isSuspended" | keyof Term>,
  time: number,
): string | undefined {
  return binding.isSuspended || !isInTerm(binding, time) ? undefined : effectiveGroup(identityUid, binding.groupUid);
}

/**
 * Returns the bindings that give an identity roles at a uid in their terms, among at most `limit` bindings at the uid and its
 * ancestors.
 */
export async function findBindingsReaching(
  session: Session,
  identityUid: string,
  uid: string,
  limit: number,
): Promise<ReachingBinding[]> {
  const statement = session.prepared("role_bindings.reaching", (db, tables) => {
    const { roleBindings, roles, groups } = tables;
    return db
      .select(reachingColumns(tables))
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .innerJoin(groups, eq(groups.uid, roleBindings.parent))
      .where(
        and(
          eq(roleBindings.identityUid, textPlaceholder("identityUid")),
          // The group is the uid itself or an ancestor: a prefix up to a slash.
          sql`substr(${sql.placeholder("uid")}, 1, length(${roleBindings.parent}) + 1) = ${roleBindings.parent} || '/'`,
          isNotSuspended(tables),
        ),
      )
      .orderBy(roleBindings.uid)
      .limit(limitOf("limit"));
  });
  const bindings = await statement.execute({ identityUid, uid: `${uid}/`, limit });
  return bindings.filter(({ groupUid }) => {
    const effective = effectiveGroup(identityUid, groupUid);
    return effective !== undefined && isWithin(uid, effective);
  });
}
