// Finds identities for token exchange.

import { rangeBelow } from "../../model/uid.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, gte, lt, sql } from "../schema/drizzle.ts";

/** Returns the identities below a group with exactly this issuer and subject, `limit` at most. */
export async function findIdentitiesByClaims(
  session: Session,
  { groupUid, issuer, subject }: { readonly groupUid: string; readonly issuer: string; readonly subject: string },
  limit: number,
) {
  const statement = session.prepared("identities.by_claims", (db, { identities }) =>
    db
      .select()
      .from(identities)
      .where(
        and(
          eq(identities.issuer, sql.placeholder("issuer")),
          eq(identities.subject, sql.placeholder("subject")),
          gte(identities.uid, sql.placeholder("from")),
          lt(identities.uid, sql.placeholder("to")),
        ),
      )
      .limit(limitOf("limit")),
  );
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
