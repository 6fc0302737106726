// The joins that no collection expresses: what an identity holds, and what a role binding names.
import { and, eq, ne, sql } from "./drizzle.ts";
import { atMost } from "./placeholders.ts";
import type { Session } from "./session.ts";

/** A role that is held at a group. */
export interface HeldRole {
  readonly groupUid: string;
  /** Numbers of the Capability enum. */
  readonly capabilities: readonly number[];
}

/** The roles that an identity holds; undefined when there is no such identity. */
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
  return rows.flatMap(({ groupUid, capabilities }) => (groupUid && capabilities ? [{ groupUid, capabilities }] : []));
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

/** Whether somebody other than by this binding holds the role at exactly this group. */
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

/** The bindings of an identity at a uid and above it, at most `limit`. */
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
  return await statement.execute({ identityUid, uid: `${uid}/`, limit });
}
