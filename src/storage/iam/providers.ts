// Finds mappings, default roles, accepted terms and members of identity providers.

import { limitOf, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";

/** Returns the mappings of an identity provider by uid, `limit` at most. */
export async function findMappingsOf(session: Session, providerUid: string, limit: number) {
  const statement = session.prepared("external_group_role_mappings.of", (db, { externalGroupRoleMappings: mappings }) =>
    db
      .select()
      .from(mappings)
      .where(eq(mappings.parent, textPlaceholder("providerUid")))
      .orderBy(mappings.uid)
      .limit(limitOf("limit")),
  );
  return await statement.execute({ providerUid, limit });
}

/** Returns the roles that the mappings of an identity provider grant, with their scopes, each pair once. */
export async function findMappedRoles(session: Session, providerUid: string) {
  const statement = session.prepared(
    "external_group_role_mappings.roles",
    (db, { externalGroupRoleMappings: mappings }) =>
      db
        .selectDistinct({ roleUid: mappings.roleUid, scope: mappings.scope })
        .from(mappings)
        .where(eq(mappings.parent, sql.placeholder("providerUid"))),
  );
  return await statement.execute({ providerUid });
}

/** Returns whether a mapping grants the role. */
export async function isMapped(session: Session, roleUid: string): Promise<boolean> {
  const statement = session.prepared(
    "external_group_role_mappings.by_role",
    (db, { externalGroupRoleMappings: mappings }) =>
      db
        .select({ uid: mappings.uid })
        .from(mappings)
        .where(eq(mappings.roleUid, sql.placeholder("roleUid")))
        .limit(limitOf(1)),
  );
  return (await statement.execute({ roleUid })).length > 0;
}

/** Returns whether the role is the default role of an identity provider. */
export async function isDefaultRole(session: Session, roleUid: string): Promise<boolean> {
  const statement = session.prepared("identity_providers.by_role", (db, { identityProviders }) =>
    db
      .select({ uid: identityProviders.uid })
      .from(identityProviders)
      .where(eq(identityProviders.defaultRole, sql.placeholder("roleUid")))
      .limit(limitOf(1)),
  );
  return (await statement.execute({ roleUid })).length > 0;
}

/** Returns the terms accepted for exactly this group: at most one row per document. */
export async function findAcceptancesOf(session: Session, groupUid: string) {
  if (!session.gather) return await findAcceptances(session, [groupUid]);
  const found = await session.gather.read("terms_acceptances.of", [groupUid], findAcceptances);
  return found.filter(({ parent }) => parent === groupUid);
}

async function findAcceptances(session: Session, groupUids: readonly string[]) {
  const statement = session.prepared("terms_acceptances.of", (db, { termsAcceptances }) =>
    db
      .select()
      .from(termsAcceptances)
      .where(session.isAmong(termsAcceptances.parent, textPlaceholder("groupUids"))),
  );
  return await statement.execute({ groupUids: JSON.stringify(groupUids) });
}

/** Returns the role that a mapping grants, with its scope, or undefined if there is no such mapping. */
export async function findMappedRole(session: Session, mappingUid: string) {
  const statement = session.prepared(
    "external_group_role_mappings.role",
    (db, { externalGroupRoleMappings: mappings, roles }) =>
      db
        .select({ groupUid: mappings.scope, capabilities: roles.capabilities })
        .from(mappings)
        .innerJoin(roles, eq(roles.uid, mappings.roleUid))
        .where(eq(mappings.uid, sql.placeholder("uid"))),
  );
  return (await statement.execute({ uid: mappingUid }))[0];
}

/** Returns the identity providers of an organization, `limit` at most. */
export async function findProvidersOf(session: Session, groupUid: string, limit: number) {
  const statement = session.prepared("identity_providers.of", (db, { identityProviders }) =>
    db
      .select({ uid: identityProviders.uid })
      .from(identityProviders)
      .where(eq(identityProviders.parent, sql.placeholder("groupUid")))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ groupUid, limit });
}

/**
 * Returns the identity providers with one of these issuers that a user may sign in by, `limit` at most: those of an organization, and
 * those by which the user signed in before.
 */
export async function findSignInProviders(
  session: Session,
  user: { readonly issuers: readonly string[]; readonly identityUid: string; readonly groupUid: string },
  limit: number,
): Promise<string[]> {
  const statement = session.prepared("identity_providers.of_user", (db, { identityProviders, providerMembers }) => {
    const { uid, parent, issuer } = identityProviders;
    const isMember = sql`exists (select 1 from ${providerMembers} where ${providerMembers.providerUid} = ${uid}
      and ${providerMembers.identityUid} = ${textPlaceholder("identityUid")})`;
    return db
      .select({ uid })
      .from(identityProviders)
      .where(
        and(
          session.isAmong(issuer, textPlaceholder("issuers")),
          sql`(${parent} = ${textPlaceholder("groupUid")} or ${isMember})`,
        ),
      )
      .limit(limitOf("limit"));
  });
  const { issuers, identityUid, groupUid } = user;
  const found = await statement.execute({ issuers: JSON.stringify(issuers), identityUid, groupUid, limit });
  return found.map(({ uid }) => uid);
}

/** Returns the organizations with owners who have signed in by a provider, in the order of their uids, `limit` at most. */
export async function findOrganizationsOfMembers(
  session: Session,
  { providerUid, roleUid, limit }: { readonly providerUid: string; readonly roleUid: string; readonly limit: number },
): Promise<string[]> {
  const statement = session.prepared("provider_members.organizations", (db, { providerMembers, roleBindings }) =>
    db
      .selectDistinct({ parent: roleBindings.parent })
      .from(providerMembers)
      .innerJoin(roleBindings, eq(roleBindings.identityUid, providerMembers.identityUid))
      .where(
        and(
          eq(providerMembers.providerUid, textPlaceholder("providerUid")),
          eq(roleBindings.roleUid, textPlaceholder("roleUid")),
          sql`${roleBindings.parent} not like '%/%'`,
        ),
      )
      .orderBy(roleBindings.parent)
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ providerUid, roleUid, limit })).map(({ parent }) => parent);
}

/** Stores that a user signed in through a provider. Returns whether it was the first time. */
export async function insertProviderMember(tx: Transaction, providerUid: string, identityUid: string) {
  const statement = tx.prepared("provider_members.insert", (db, { providerMembers }) =>
    db
      .insert(providerMembers)
      .values(rowPlaceholders(["providerUid", "identityUid", "createTime"]))
      .onConflictDoNothing()
      .returning({ uid: providerMembers.identityUid }),
  );
  return (await statement.execute({ providerUid, identityUid, createTime: tx.context.time })).length > 0;
}

/** Returns whether a user has signed in through a provider. */
export async function isProviderMember(session: Session, providerUid: string, identityUid: string): Promise<boolean> {
  const statement = session.prepared("provider_members.get", (db, { providerMembers }) =>
    db
      .select({ uid: providerMembers.identityUid })
      .from(providerMembers)
      .where(
        and(
          eq(providerMembers.providerUid, sql.placeholder("providerUid")),
          eq(providerMembers.identityUid, sql.placeholder("identityUid")),
        ),
      ),
  );
  return (await statement.execute({ providerUid, identityUid })).length > 0;
}

/** Returns the identity providers that a user signed in through, with their default roles and groups. */
export async function findMemberships(session: Session, identityUid: string) {
  const statement = session.prepared("provider_members.of", (db, { providerMembers, identityProviders }) =>
    db
      .select({
        providerUid: providerMembers.providerUid,
        groupUid: identityProviders.parent,
        defaultRole: identityProviders.defaultRole,
      })
      .from(providerMembers)
      .innerJoin(identityProviders, eq(identityProviders.uid, providerMembers.providerUid))
      .where(eq(providerMembers.identityUid, sql.placeholder("identityUid"))),
  );
  return await statement.execute({ identityUid });
}

/** Deletes that a user signed in through a provider. */
export async function deleteMembership(tx: Transaction, providerUid: string, identityUid: string): Promise<void> {
  const statement = tx.prepared("provider_members.delete", (db, { providerMembers }) =>
    db
      .delete(providerMembers)
      .where(
        and(
          eq(providerMembers.providerUid, sql.placeholder("providerUid")),
          eq(providerMembers.identityUid, sql.placeholder("identityUid")),
        ),
      ),
  );
  await statement.execute({ providerUid, identityUid });
}
