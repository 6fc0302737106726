// Finds identities for token exchange.

import { rangeBelow } from "../../model/uid.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, eq, sql } from "../schema/drizzle.ts";

/**
 * Returns the identities below a group with exactly this issuer and subject, `limit` at most.
 *
 * Compares the columns of the index together: others may have many identities for the same subject. With one comparison for each column,
 * PostgreSQL expects to find some of these soon, and reads all identities of the group instead.
 */
export async function findIdentitiesByClaims(
  session: Session,
  { groupUid, issuer, subject }: { readonly groupUid: string; readonly issuer: string; readonly subject: string },
  limit: number,
) {
  const statement = session.prepared("identities.by_claims", (db, { identities }) => {
    const columns = [identities.issuer, identities.subject, identities.uid];
    const key = sql`(${sql.join(columns, sql`, `)})`;
    const bound = (uid: string) =>
      sql`(${sql.placeholder("issuer")}, ${sql.placeholder("subject")}, ${sql.placeholder(uid)})`;
    return db
      .select()
      .from(identities)
      .where(and(sql`${key} >= ${bound("from")}`, sql`${key} < ${bound("to")}`))
      .orderBy(...columns.map((column) => asc(column)))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ issuer, subject, ...rangeBelow(groupUid), limit });
}

/** Sets when an identity was last assumed. This does not count as a change of the identity: it is not logged. */
export async function touchIdentity(session: Session, uid: string, time: number): Promise<void> {
  const statement = session.prepared("identities.touch", (db, { identities }) =>
    db
      .update(identities)
      .set({ lastSeenTime: sql`${sql.placeholder("time")}` })
      .where(eq(identities.uid, sql.placeholder("uid"))),
  );
  await statement.execute({ uid, time });
}
