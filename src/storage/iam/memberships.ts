// The organizations that a user has joined: by signing in there, or by a request. Elsewhere, role bindings of the user
// do not count.

import { rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";

/** A user who has joined an organization. */
export interface Membership {
  readonly identityUid: string;
  /** The uid of the root group. */
  readonly groupUid: string;
}

/** Stores that a user has joined an organization. */
export async function insertMembership(tx: Transaction, { identityUid, groupUid }: Membership): Promise<void> {
  const statement = tx.prepared("memberships.insert", (db, { memberships }) =>
    db
      .insert(memberships)
      .values(rowPlaceholders(["identityUid", "groupUid", "createTime"]))
      .onConflictDoNothing(),
  );
  await statement.execute({ identityUid, groupUid, createTime: tx.context.time });
}

/** Returns whether a user has joined an organization. */
export async function isMember(session: Session, { identityUid, groupUid }: Membership): Promise<boolean> {
  const statement = session.prepared("memberships.get", (db, { memberships }) =>
    db
      .select({ groupUid: memberships.groupUid })
      .from(memberships)
      .where(
        and(
          eq(memberships.identityUid, sql.placeholder("identityUid")),
          eq(memberships.groupUid, sql.placeholder("groupUid")),
        ),
      ),
  );
  return (await statement.execute({ identityUid, groupUid })).length > 0;
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
