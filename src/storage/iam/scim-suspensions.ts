// User identities without access to an organization, because an identity provider of it deactivated or deleted the person
// (docs/design/sign-in.md).
import type { SQL, SQLWrapper } from "drizzle-orm";
import { rootOf } from "../../model/uid.ts";
import { limitOf, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, count, eq, getTableColumns, gt, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";
import type { Tables } from "../schema/tables.ts";

/** Returns a condition for role bindings: no identity provider of the organization has suspended the identity. */
export function isNotSuspended({ roleBindings, scimSuspensions }: Tables): SQL {
  return sql`not exists (select 1 from ${scimSuspensions}
    where ${scimSuspensions.identityUid} = ${roleBindings.identityUid}
    and ${organizationOf(scimSuspensions.providerUid)} = ${organizationOf(roleBindings.parent)})`;
}

/** Takes away the access of an identity to the organization of a provider. */
export async function insertSuspension(tx: Transaction, providerUid: string, identityUid: string): Promise<void> {
  const statement = tx.prepared("scim_suspensions.insert", (db, { scimSuspensions }) =>
    db
      .insert(scimSuspensions)
      .values(rowPlaceholders(["identityUid", "providerUid", "createTime"]))
      .onConflictDoNothing(),
  );
  await statement.execute({ identityUid, providerUid, createTime: tx.context.time });
}

/** Ends the suspension of an identity by a provider. Returns whether there was one. */
export async function deleteSuspension(tx: Transaction, providerUid: string, identityUid: string): Promise<boolean> {
  const statement = tx.prepared("scim_suspensions.delete", (db, { scimSuspensions }) =>
    db
      .delete(scimSuspensions)
      .where(
        and(
          eq(scimSuspensions.identityUid, sql.placeholder("identityUid")),
          eq(scimSuspensions.providerUid, sql.placeholder("providerUid")),
        ),
      )
      .returning({ identityUid: scimSuspensions.identityUid }),
  );
  return (await statement.execute({ identityUid, providerUid })).length > 0;
}

/** Returns the identities that a provider has suspended, in the order of their uids, beginning after a uid. */
export async function listSuspensions(
  session: Session,
  page: { readonly providerUid: string; readonly after: string; readonly skip: number; readonly limit: number },
): Promise<string[]> {
  const statement = session.prepared("scim_suspensions.list", (db, { scimSuspensions: { identityUid, providerUid } }) =>
    db
      .select({ identityUid })
      .from(session.tables.scimSuspensions)
      .where(and(eq(providerUid, textPlaceholder("providerUid")), gt(identityUid, textPlaceholder("after"))))
      .orderBy(asc(identityUid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip")),
  );
  return (await statement.execute(page)).map(({ identityUid }) => identityUid);
}

/** Counts the identities that a provider has suspended. */
export async function countSuspensions(session: Session, providerUid: string): Promise<number> {
  const statement = session.prepared("scim_suspensions.count", (db, { scimSuspensions }) =>
    db
      .select({ rows: count() })
      .from(scimSuspensions)
      .where(eq(scimSuspensions.providerUid, textPlaceholder("providerUid"))),
  );
  return Number((await statement.execute({ providerUid }))[0]?.rows ?? 0);
}

/** Returns which of these identities a provider has suspended. */
export async function findSuspendedAmong(
  session: Session,
  providerUid: string,
  identityUids: readonly string[],
): Promise<ReadonlySet<string>> {
  const statement = session.prepared("scim_suspensions.among", (db, { scimSuspensions }) =>
    db
      .select({ identityUid: scimSuspensions.identityUid })
      .from(scimSuspensions)
      .where(
        and(
          eq(scimSuspensions.providerUid, textPlaceholder("providerUid")),
          session.isAmong(scimSuspensions.identityUid, textPlaceholder("identities")),
        ),
      ),
  );
  const found = await statement.execute({ providerUid, identities: JSON.stringify(identityUids) });
  return new Set(found.map(({ identityUid }) => identityUid));
}

/** Returns the uids of the providers that have suspended an identity. */
export async function findSuspensionsOf(session: Session, identityUid: string): Promise<string[]> {
  const statement = session.prepared("scim_suspensions.of", (db, { scimSuspensions }) =>
    db
      .select({ providerUid: scimSuspensions.providerUid })
      .from(scimSuspensions)
      .where(eq(scimSuspensions.identityUid, textPlaceholder("identityUid"))),
  );
  return (await statement.execute({ identityUid })).map(({ providerUid }) => providerUid);
}

/** Returns the uids of the organizations in which one of these identities is suspended. */
export async function suspendedOrganizations(
  session: Session,
  ...identityUids: readonly string[]
): Promise<ReadonlySet<string>> {
  const suspensions = await Promise.all(identityUids.map((uid) => findSuspensionsOf(session, uid)));
  return new Set(suspensions.flat().map(rootOf));
}

/** Returns a condition for uids: an identity provider of their organization has suspended a person. */
export function hasSuspensions({ scimSuspensions, scimSuspensions: { providerUid } }: Tables, uid: SQLWrapper): SQL {
  // The uids of an organization are one range, in which "0" follows "/".
  const root = organizationOf(uid);
  return sql`exists (select 1 from ${scimSuspensions}
    where ${providerUid} > ${root} || '/' and ${providerUid} < ${root} || '0')`;
}

/** Returns the role bindings in the organization of a provider that its suspensions keep from having effect. */
export async function findSuspendedBindings(session: Session, providerUid: string, limit: number) {
  const statement = session.prepared("scim_suspensions.bindings", (db, { scimSuspensions, roleBindings }) =>
    db
      .select(getTableColumns(roleBindings))
      .from(scimSuspensions)
      .innerJoin(roleBindings, eq(roleBindings.identityUid, scimSuspensions.identityUid))
      .where(
        and(
          eq(scimSuspensions.providerUid, textPlaceholder("providerUid")),
          eq(organizationOf(roleBindings.parent), organizationOf(scimSuspensions.providerUid)),
        ),
      )
      .limit(limitOf("limit")),
  );
  return await statement.execute({ providerUid, limit });
}
