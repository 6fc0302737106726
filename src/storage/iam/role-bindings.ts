// Finds role bindings by identity, role and group.
import type { SQL } from "drizzle-orm";
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, count, eq, getTableColumns, gt, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { isHeldAtRoot } from "./grants.ts";
import type { IdentityRow } from "./rows.ts";
import { hasEnded, isLasting } from "./terms.ts";

/** Returns the bindings of an identity or of a role, `limit` at most. */
export async function findBindingsOf(session: Session, column: "identityUid" | "roleUid", uid: string, limit: number) {
  const statement = session.prepared(`role_bindings.of.${column}`, (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(eq(roleBindings[column], sql.placeholder("uid")))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ uid, limit });
}

/** Counts the bindings of roles at a group and below it, by the index of the role. Roles without any are missing. */
export async function countBindingsOf(
  session: Session,
  roleUids: readonly string[],
  groupUid: string,
): Promise<ReadonlyMap<string, number>> {
  const statement = session.prepared("role_bindings.count_of_roles", (db, { roleBindings }) => {
    const { roleUid, uid } = roleBindings;
    return db
      .select({ roleUid, count: count() })
      .from(roleBindings)
      .where(
        and(
          session.isAmong(roleUid, textPlaceholder("roles")),
          // The uids of a subtree are one range, in which "0" follows "/".
          gt(uid, textPlaceholder("from")),
          lt(uid, textPlaceholder("to")),
        ),
      )
      .groupBy(roleUid);
  });
  const values = { roles: JSON.stringify(roleUids), ...rangeBelow(groupUid) };
  return new Map((await statement.execute(values)).map((row) => [row.roleUid, Number(row.count)]));
}

/** Returns bindings at exactly this group that have ended, `limit` at most. */
export async function findEndedUnder(session: Session, groupUid: string, limit: number) {
  const statement = session.prepared("role_bindings.ended_under", (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(and(eq(roleBindings.parent, sql.placeholder("groupUid")), hasEnded(roleBindings)))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ groupUid, limit, now: session.termTime() });
}

/** Returns the bindings that ended first, `limit` at most. */
export async function findEnded(session: Session, limit: number) {
  const statement = session.prepared("role_bindings.ended", (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(hasEnded(roleBindings))
      .orderBy(roleBindings.expireTime)
      .limit(limitOf("limit")),
  );
  return await statement.execute({ limit, now: session.termTime() });
}

/** Returns the bindings at exactly this group, `limit` at most. */
export async function findBindingsUnder(session: Session, groupUid: string, limit: number) {
  const statement = session.prepared("role_bindings.under", (db, { roleBindings }) =>
    db
      .select()
      .from(roleBindings)
      .where(eq(roleBindings.parent, sql.placeholder("groupUid")))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ groupUid, limit });
}

/** Returns the binding of a role to an identity at exactly this group, or undefined. */
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

/** Whether a binding grants the role `roleUid` at exactly the root group `groupUid`, without a term. */
function grantsRoleAtRoot(tables: Tables): SQL | undefined {
  const { roleBindings } = tables;
  return and(
    eq(roleBindings.parent, sql.placeholder("groupUid")),
    eq(roleBindings.roleUid, sql.placeholder("roleUid")),
    isHeldAtRoot(roleBindings.identityUid),
    hasJoined(tables),
    isLasting(tables),
  );
}

// A role binding of a user counts once the user has joined the organization.
function hasJoined({ identities: { uid }, memberships }: Tables): SQL {
  return sql`(${uid} like '%/%' or exists (select 1 from ${memberships}
    where ${memberships.identityUid} = ${uid} and ${memberships.groupUid} = ${sql.placeholder("groupUid")}))`;
}

/** A role binding at a root group, with the columns that decide whether its identity can be assumed. */
export interface RootHolder {
  readonly bindingUid: string;
  readonly identity: Pick<IdentityRow, "uid" | "issuer" | "subject" | "relationship" | "createTime">;
  /** Whether the identity got the binding by creating the organization. */
  readonly isFounder: boolean;
}

/** Returns the bindings that grant the role at exactly this root group, after a binding in the order of their uids, `limit` at most. */
export async function findRootHolders(
  session: Session,
  page: { readonly groupUid: string; readonly roleUid: string; readonly after: string; readonly limit: number },
): Promise<RootHolder[]> {
  const statement = session.prepared("role_bindings.root_holders", (db, tables) => {
    const { roleBindings, identities, foundingBindings } = tables;
    const { uid, issuer, subject, relationship, createTime } = identities;
    return db
      .select({
        bindingUid: roleBindings.uid,
        uid,
        issuer,
        subject,
        relationship,
        createTime,
        isFounder: sql`${foundingBindings.uid} is not null`.mapWith(Boolean).as("is_founder"),
      })
      .from(roleBindings)
      .innerJoin(identities, eq(identities.uid, roleBindings.identityUid))
      .leftJoin(foundingBindings, eq(foundingBindings.uid, roleBindings.uid))
      .where(and(grantsRoleAtRoot(tables), gt(roleBindings.uid, textPlaceholder("after"))))
      .orderBy(roleBindings.uid)
      .limit(limitOf("limit"));
  });
  const rows = await statement.execute(page);
  return rows.map(({ bindingUid, isFounder, ...identity }) => ({ bindingUid, identity, isFounder }));
}

/** Returns the bindings of a role to an identity at root groups, `limit` at most, with whether it got them by creating the organization. */
export async function findRootBindingsOf(session: Session, identityUid: string, roleUid: string, limit: number) {
  const statement = session.prepared("role_bindings.at_roots_of", (db, { roleBindings, foundingBindings }) =>
    db
      .select({
        ...getTableColumns(roleBindings),
        isFounder: sql`${foundingBindings.uid} is not null`.mapWith(Boolean).as("is_founder"),
      })
      .from(roleBindings)
      .leftJoin(foundingBindings, eq(foundingBindings.uid, roleBindings.uid))
      .where(
        and(
          eq(roleBindings.identityUid, textPlaceholder("identityUid")),
          eq(roleBindings.roleUid, textPlaceholder("roleUid")),
          sql`${roleBindings.parent} not like '%/%'`,
        ),
      )
      .limit(limitOf("limit")),
  );
  return await statement.execute({ identityUid, roleUid, limit });
}

/** Returns the roles bound at exactly this group. */
export async function findRolesBoundAt(session: Session, groupUid: string) {
  const statement = session.prepared("role_bindings.roles_at", (db, { roleBindings, roles }) =>
    db
      .selectDistinct({ uid: roles.uid, capabilities: sql<string>`cast(${roles.capabilities} as text)` })
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .where(eq(roleBindings.parent, sql.placeholder("groupUid"))),
  );
  const found = await statement.execute({ groupUid });
  return found.map(({ uid, capabilities }) => ({ uid, capabilities: JSON.parse(capabilities) as number[] }));
}

/** Returns the identities with the role by a binding at exactly this root group, `limit` at most. */
export async function findHoldersAt(session: Session, groupUid: string, roleUid: string, limit: number) {
  const statement = session.prepared("role_bindings.holders_at", (db, tables) => {
    const { roleBindings, identities } = tables;
    return db
      .select({ identityUid: roleBindings.identityUid })
      .from(roleBindings)
      .innerJoin(identities, eq(identities.uid, roleBindings.identityUid))
      .where(grantsRoleAtRoot(tables))
      .limit(limitOf("limit"));
  });
  return (await statement.execute({ groupUid, roleUid, limit })).map(({ identityUid }) => identityUid);
}

/** Returns those of these groups at which a binding without a term gives the role to anyone. */
export async function findGroupsWithRole(
  session: Session,
  groupUids: readonly string[],
  roleUid: string,
): Promise<ReadonlySet<string>> {
  if (groupUids.length === 0) return new Set();
  const statement = session.prepared("role_bindings.groups_with", (db, tables) =>
    db
      .selectDistinct({ parent: tables.roleBindings.parent })
      .from(tables.roleBindings)
      .where(
        and(
          session.isAmong(tables.roleBindings.parent, textPlaceholder("groups")),
          eq(tables.roleBindings.roleUid, textPlaceholder("roleUid")),
          isLasting(tables),
        ),
      ),
  );
  const found = await statement.execute({ groups: JSON.stringify(groupUids), roleUid });
  return new Set(found.map(({ parent }) => parent));
}
