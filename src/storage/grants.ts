// The joins that no collection expresses: what an identity holds, and what a role binding names.
import type { AnyColumn, SQL } from "drizzle-orm";
import { depthOf, isBelow, isWithin, parentOf } from "../uid.ts";
import { and, eq, ne, sql } from "./drizzle.ts";
import { atMost } from "./placeholders.ts";
import type { Session } from "./session.ts";

/** Whether an identity is one of a subgroup, outside of which it holds nothing. */
export function isConfined(identityUid: string): boolean {
  return depthOf(identityUid) > 2;
}

/**
 * The uid where an identity holds what is bound to it at a group, there and below; undefined for nowhere.
 *
 * An identity of a subgroup is confined to it: what is bound above counts in the subgroup, and what is bound elsewhere not at
 * all. Identities of a root group, and people, hold a role where it is bound.
 */
export function placeOfBinding(identityUid: string, groupUid: string): string | undefined {
  const home = parentOf(identityUid);
  if (!isConfined(identityUid) || isWithin(groupUid, home)) return groupUid;
  return isBelow(home, groupUid) ? home : undefined;
}

/** A role that is held at a group. */
export interface HeldRole {
  readonly groupUid: string;
  /** Numbers of the Capability enum. */
  readonly capabilities: readonly number[];
}

/** The roles that an identity holds, and where it does; undefined when there is no such identity. */
export async function findHeldRoles(session: Session, identityUid: string): Promise<HeldRole[] | undefined> {
  const statement = session.prepared("grants.of", (db, { identities, roleBindings, roles }) =>
    db
      .select({ groupUid: roleBindings.parent, capabilities: roles.capabilities })
      .from(identities)
      .leftJoin(roleBindings, eq(roleBindings.identityUid, identities.uid))
      .leftJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .where(eq(identities.uid, sql.placeholder("uid"))),
  );
  const rows = await statement.execute({ uid: identityUid });
  if (rows.length === 0) return undefined;
  return rows.flatMap(({ groupUid: boundAt, capabilities }) => {
    const groupUid = boundAt ? placeOfBinding(identityUid, boundAt) : undefined;
    return groupUid && capabilities ? [{ groupUid, capabilities }] : [];
  });
}

/** Identities with exactly this issuer and subject, at most `limit`. */
export async function findIdentitiesByClaims(session: Session, issuer: string, subject: string, limit: number) {
  const statement = session.prepared("identities.by_claims", (db, { identities }) =>
    db
      .select()
      .from(identities)
      .where(and(eq(identities.issuer, sql.placeholder("issuer")), eq(identities.subject, sql.placeholder("subject"))))
      .limit(atMost("limit")),
  );
  return await statement.execute({ issuer, subject, limit });
}

/** Sets when an identity was last assumed, which is no change of the identity. */
export async function touchIdentity(session: Session, uid: string, time: number): Promise<void> {
  const statement = session.prepared("identities.touch", (db, { identities }) =>
    db
      .update(identities)
      .set({ lastSeenTime: sql`${sql.placeholder("time")}` })
      .where(eq(identities.uid, sql.placeholder("uid"))),
  );
  await statement.execute({ uid, time });
}

/** The bindings of an identity or of a role, at most `limit`. */
export async function findBindingsOf(session: Session, column: "identityUid" | "roleUid", uid: string, limit: number) {
  const statement = session.prepared(`role_bindings.of.${column}`, (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(eq(roleBindings[column], sql.placeholder("uid")))
      .limit(atMost("limit")),
  );
  return await statement.execute({ uid, limit });
}

/** The bindings made at exactly this group, at most `limit`. */
export async function findBindingsUnder(session: Session, groupUid: string, limit: number) {
  const statement = session.prepared("role_bindings.under", (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(eq(roleBindings.parent, sql.placeholder("groupUid")))
      .limit(atMost("limit")),
  );
  return await statement.execute({ groupUid, limit });
}

/** The binding of a role to an identity at exactly this group; undefined when there is none. */
export async function findBinding(session: Session, groupUid: string, roleUid: string, identityUid: string) {
  const statement = session.prepared("role_bindings.once", (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(
        and(
          eq(roleBindings.parent, sql.placeholder("groupUid")),
          eq(roleBindings.roleUid, sql.placeholder("roleUid")),
          eq(roleBindings.identityUid, sql.placeholder("identityUid")),
        ),
      ),
  );
  return (await statement.execute({ groupUid, roleUid, identityUid }))[0];
}

/** The invite whose code has this name; undefined when there is none. */
export async function findInvite(session: Session, keyId: string) {
  const statement = session.prepared("group_invites.by_key", (db, { groupInvites }) =>
    db
      .select()
      .from(groupInvites)
      .where(eq(groupInvites.keyId, sql.placeholder("keyId"))),
  );
  return (await statement.execute({ keyId }))[0];
}

/** Of bindings at a root group: whether the identity holds the role there, and is not confined to a subgroup. */
export function isHeldAtRoot(identityUid: AnyColumn): SQL {
  return sql`${identityUid} not like '%/%/%'`;
}

/** Whether somebody other than by this binding holds the role at exactly this root group. */
export async function isHeldOtherwise(
  session: Session,
  groupUid: string,
  roleUid: string,
  bindingUid: string,
): Promise<boolean> {
  const statement = session.prepared("role_bindings.otherwise", (db, { roleBindings }) =>
    db
      .select({ uid: roleBindings.uid })
      .from(roleBindings)
      .where(
        and(
          eq(roleBindings.parent, sql.placeholder("groupUid")),
          eq(roleBindings.roleUid, sql.placeholder("roleUid")),
          ne(roleBindings.uid, sql.placeholder("bindingUid")),
          isHeldAtRoot(roleBindings.identityUid),
        ),
      )
      .limit(atMost(1)),
  );
  return (await statement.execute({ groupUid, roleUid, bindingUid })).length > 0;
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
          eq(roleBindings.identityUid, sql.placeholder("identityUid")),
          // The group is the uid itself, or what it begins with up to a slash.
          sql`substr(${sql.placeholder("uid")}, 1, length(${roleBindings.parent}) + 1) = ${roleBindings.parent} || '/'`,
        ),
      )
      .orderBy(roleBindings.uid)
      .limit(atMost("limit")),
  );
  const bindings = await statement.execute({ identityUid, uid: `${uid}/`, limit });
  return bindings.filter(({ groupUid }) => {
    const place = placeOfBinding(identityUid, groupUid);
    return place !== undefined && isWithin(uid, place);
  });
}
