import type { Session } from "../engine/session.ts";
import { eq, sql } from "../schema/drizzle.ts";

/** Returns the invite whose code has this key id, or undefined. */
export async function findInvite(session: Session, keyId: string) {
  const statement = session.prepared("group_invites.by_key", (db, { groupInvites }) =>
    db
      .select()
      .from(groupInvites)
      .where(eq(groupInvites.keyId, sql.placeholder("keyId"))),
  );
  return (await statement.execute({ keyId }))[0];
}
