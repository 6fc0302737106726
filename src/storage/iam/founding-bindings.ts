// The owner bindings that identities got by creating an organization: they need the authority of no other identity
// (docs/decisions/0035).
import { limitOf } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { eq, inArray, sql } from "../schema/drizzle.ts";

/** How many organizations that an identity created count as such: a token that is narrowed to them has a uid of each. */
export const maxFounded = 100;

/** Records that an identity got a binding by creating the organization. */
export async function insertFoundingBinding(tx: Transaction, uid: string): Promise<void> {
  const statement = tx.prepared("founding_bindings.insert", (db, { foundingBindings }) =>
    db.insert(foundingBindings).values({ uid: sql.placeholder("uid") }),
  );
  await statement.execute({ uid });
}

/** Forgets that a binding came from creating the organization. */
export async function deleteFoundingBinding(tx: Transaction, uid: string): Promise<void> {
  const statement = tx.prepared("founding_bindings.delete", (db, { foundingBindings }) =>
    db.delete(foundingBindings).where(eq(foundingBindings.uid, sql.placeholder("uid"))),
  );
  await statement.execute({ uid });
}

/** Forgets it for all bindings of an identity: another identity has chosen who may assume it. */
export async function deleteFoundingBindingsOf(tx: Transaction, identityUid: string): Promise<void> {
  const statement = tx.prepared("founding_bindings.delete_of", (db, { foundingBindings, roleBindings }) =>
    db.delete(foundingBindings).where(
      inArray(
        foundingBindings.uid,
        db
          .select({ uid: roleBindings.uid })
          .from(roleBindings)
          .where(eq(roleBindings.identityUid, sql.placeholder("identityUid"))),
      ),
    ),
  );
  await statement.execute({ identityUid });
}

/** Returns the organizations that an identity created and owns since; the first `maxFounded` of them. */
export async function findFoundedOrganizations(session: Session, identityUid: string): Promise<string[]> {
  const statement = session.prepared("founding_bindings.of", (db, { foundingBindings, roleBindings }) =>
    db
      .select({ groupUid: roleBindings.parent })
      .from(roleBindings)
      .innerJoin(foundingBindings, eq(foundingBindings.uid, roleBindings.uid))
      .where(eq(roleBindings.identityUid, sql.placeholder("identityUid")))
      .orderBy(roleBindings.uid)
      .limit(limitOf(maxFounded)),
  );
  return (await statement.execute({ identityUid })).map(({ groupUid }) => groupUid);
}
