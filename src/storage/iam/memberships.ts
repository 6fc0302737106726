// The organizations that a user has joined, and those that wait for the user's decision.

import { rangeBelow } from "../../model/uid.ts";
import { limitOf, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, gt, lt, sql } from "../schema/drizzle.ts";

/** The kind of memberships in the change log. */
export const membershipKind = "memberships";

/** A user who has joined an organization. */
export interface Membership {
  readonly identityUid: string;
  /** The uid of the root group. */
  readonly groupUid: string;
}

/** Stores that a user has joined an organization. Returns whether that is new. */
export async function insertMembership(tx: Transaction, { identityUid, groupUid }: Membership): Promise<boolean> {
  const statement = tx.prepared("memberships.insert", (db, { memberships }) =>
    db
      .insert(memberships)
      .values(rowPlaceholders(["identityUid", "groupUid", "createTime"]))
      .onConflictDoNothing()
      .returning({ groupUid: memberships.groupUid }),
  );
  return (await statement.execute({ identityUid, groupUid, createTime: tx.context.time })).length > 0;
}

/** Deletes that a user has joined an organization. Returns when that was; undefined if the user had not joined. */
export async function deleteMembership(
  tx: Transaction,
  { identityUid, groupUid }: Membership,
): Promise<number | undefined> {
  const statement = tx.prepared("memberships.delete", (db, { memberships }) =>
    db
      .delete(memberships)
      .where(
        and(
          eq(memberships.identityUid, sql.placeholder("identityUid")),
          eq(memberships.groupUid, sql.placeholder("groupUid")),
        ),
      )
      .returning({ createTime: memberships.createTime }),
  );
  return (await statement.execute({ identityUid, groupUid }))[0]?.createTime;
}

/** Returns whether a user has joined an organization. */
export async function isMember(session: Session, membership: Membership): Promise<boolean> {
  return (await findJoinTime(session, membership)) !== undefined;
}

/** Returns when a user has joined an organization; undefined if the user has not. */
export async function findJoinTime(session: Session, { identityUid, groupUid }: Membership) {
  const statement = session.prepared("memberships.get", (db, { memberships }) =>
    db
      .select({ createTime: memberships.createTime })
      .from(memberships)
      .where(
        and(
          eq(memberships.identityUid, sql.placeholder("identityUid")),
          eq(memberships.groupUid, sql.placeholder("groupUid")),
        ),
      ),
  );
  return (await statement.execute({ identityUid, groupUid }))[0]?.createTime;
}

/** Returns the memberships of users. */
export async function findMembershipsOf(session: Session, identityUids: readonly string[]): Promise<Membership[]> {
  if (identityUids.length === 0) return [];
  const statement = session.prepared("memberships.of", (db, { memberships }) =>
    db
      .select({ identityUid: memberships.identityUid, groupUid: memberships.groupUid })
      .from(memberships)
      .where(session.isAmong(memberships.identityUid, textPlaceholder("identities"))),
  );
  return await statement.execute({ identities: JSON.stringify(identityUids) });
}

/** Returns the organizations after this one that a user has joined, in the order of their uids, `limit` at most. */
export async function findJoined(session: Session, identityUid: string, after: string, limit: number) {
  const statement = session.prepared("memberships.joined", (db, { memberships }) =>
    db
      .select({ groupUid: memberships.groupUid, createTime: memberships.createTime })
      .from(memberships)
      .where(
        and(
          eq(memberships.identityUid, sql.placeholder("identityUid")),
          gt(memberships.groupUid, textPlaceholder("after")),
        ),
      )
      .orderBy(asc(memberships.groupUid))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ identityUid, after, limit });
}

/**
 * Returns the organizations after this one in which a user has role bindings and that the user has not joined, in the order of their
 * uids, `limit` at most.
 */
export async function findPending(session: Session, identityUid: string, after: string, limit: number) {
  const statement = session.prepared("memberships.pending", (db, { roleBindings, memberships }) => {
    const root = sql<string>`substr(${roleBindings.uid}, 1, 40)`;
    return db
      .selectDistinct({ groupUid: root.as("group_uid") })
      .from(roleBindings)
      .where(
        and(
          eq(roleBindings.identityUid, textPlaceholder("identityUid")),
          gt(root, textPlaceholder("after")),
          sql`not exists (select 1 from ${memberships} where ${memberships.identityUid} = ${textPlaceholder("identityUid")}
            and ${memberships.groupUid} = ${root})`,
        ),
      )
      .orderBy(sql`group_uid`)
      .limit(limitOf("limit"));
  });
  return await statement.execute({ identityUid, after, limit });
}

/** Returns the roles that are bound to a user at an organization or below it, each once and by name, `limit` at most. */
export async function findRolesIn(session: Session, { identityUid, groupUid }: Membership, limit: number) {
  const statement = session.prepared("memberships.roles", (db, { roleBindings, roles }) =>
    db
      .selectDistinct({ uid: roles.uid, name: roles.name })
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .where(
        and(
          eq(roleBindings.identityUid, sql.placeholder("identityUid")),
          gt(roleBindings.uid, textPlaceholder("from")),
          lt(roleBindings.uid, textPlaceholder("to")),
        ),
      )
      .orderBy(asc(roles.name), asc(roles.uid))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ identityUid, ...rangeBelow(groupUid), limit });
}

/** Returns the role bindings of a user at an organization or below it, `limit` at most. */
export async function findBindingsIn(session: Session, { identityUid, groupUid }: Membership, limit: number) {
  const statement = session.prepared("memberships.bindings", (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(
        and(
          eq(roleBindings.identityUid, sql.placeholder("identityUid")),
          gt(roleBindings.uid, textPlaceholder("from")),
          lt(roleBindings.uid, textPlaceholder("to")),
        ),
      )
      .limit(limitOf("limit")),
  );
  return await statement.execute({ identityUid, ...rangeBelow(groupUid), limit });
}
