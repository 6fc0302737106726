// Finds the role bindings of an identity, as far as a caller may see them, by the index of the identity.
import type { SQL, SQLWrapper } from "drizzle-orm";
import { parentOf } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, count, desc, eq, gt, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { isSubgroupIdentity, type ReachingBinding, reachingColumns } from "./grants.ts";
import { isInForce } from "./terms.ts";

/** The bindings to find. */
export interface HeldRoleQuery {
  readonly identityUid: string;
  /** Only bindings in these subtrees, and bindings at their ancestors that take effect in them; absent for all. */
  readonly scope?: readonly string[] | undefined;
  /** Only bindings of these roles that have an effect; absent for all. */
  readonly roleUids?: readonly string[] | undefined;
  /** The time that decides which terms count, in milliseconds since the epoch. */
  readonly time: number;
}

/** The page of bindings to read, in the order of their uids. */
export interface HeldRolePage {
  readonly descending: boolean;
  /** The page starts after this binding; empty for the first. */
  readonly after: string;
  readonly skip: number;
  readonly limit: number;
}

/** Returns one page of the bindings. */
export async function findHeldRoles(
  session: Session,
  query: HeldRoleQuery,
  { descending, after, skip, limit }: HeldRolePage,
): Promise<ReachingBinding[]> {
  const key = `${keyOf(query)}.${descending ? "desc" : "asc"}.${after === "" ? "first" : "after"}`;
  const statement = session.prepared(`role_bindings.held.${key}`, (db, tables) => {
    const { roleBindings, roles, groups } = tables;
    const isAfter = (descending ? lt : gt)(roleBindings.uid, textPlaceholder("after"));
    return db
      .select(reachingColumns(tables))
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .innerJoin(groups, eq(groups.uid, roleBindings.parent))
      .where(and(matches(session, tables, query), after === "" ? undefined : isAfter))
      .orderBy(descending ? desc(roleBindings.uid) : asc(roleBindings.uid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip"));
  });
  return await statement.execute({ ...valuesOf(query), after, skip, limit });
}

/** Counts the bindings of all pages. */
export async function countHeldRoles(session: Session, query: HeldRoleQuery): Promise<number> {
  const statement = session.prepared(`role_bindings.count_held.${keyOf(query)}`, (db, tables) =>
    db
      .select({ count: count() })
      .from(tables.roleBindings)
      .where(matches(session, tables, query)),
  );
  return Number((await statement.execute(valuesOf(query)))[0]?.count);
}

/** Returns the roles that are bound to an identity anywhere. */
export async function findRolesOf(session: Session, identityUid: string) {
  const statement = session.prepared("role_bindings.roles_of", (db, { roleBindings, roles }) =>
    db
      .select({ uid: roles.uid, capabilities: roles.capabilities })
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .where(eq(roleBindings.identityUid, sql.placeholder("identityUid"))),
  );
  return await statement.execute({ identityUid });
}

function matches(session: Session, tables: Tables, { scope, roleUids }: HeldRoleQuery): SQL | undefined {
  const { parent, roleUid, identityUid } = tables.roleBindings;
  return and(
    eq(identityUid, textPlaceholder("identityUid")),
    scope && isInScope(session, parent),
    roleUids && and(session.isAmong(roleUid, textPlaceholder("roles")), hasEffect(parent), isInForce(tables)),
  );
}

/** A binding in one of the subtrees, or at an ancestor with an effect in one of them. */
function isInScope(session: Session, parent: SQLWrapper): SQL {
  const root = sql.raw("value");
  const home = textPlaceholder("home");
  const reaches = sql`(${home} = '' or ${isUnder(parent, home)}
    or (${isUnder(home, parent)} and (${isUnder(home, root)} or ${isUnder(root, home)})))`;
  return sql`exists (select 1 from ${session.textsOf(textPlaceholder("scope"))}
    where ${isUnder(parent, root)} or (${isUnder(root, parent)} and ${reaches}))`;
}

/** Agrees with `effectiveGroup`: the identity is not limited to a subgroup, or the binding is on its line. */
function hasEffect(parent: SQLWrapper): SQL {
  const home = textPlaceholder("home");
  return sql`(${home} = '' or ${isUnder(parent, home)} or ${isUnder(home, parent)})`;
}

/** Whether a uid is another one or its descendant. */
function isUnder(uid: SQLWrapper, ancestor: SQLWrapper): SQL {
  return sql`substr(${uid} || '/', 1, length(${ancestor}) + 1) = ${ancestor} || '/'`;
}

function keyOf({ scope, roleUids }: HeldRoleQuery): string {
  return `${scope ? "scope" : ""}.${roleUids ? "roles" : ""}`;
}

function valuesOf({ identityUid, scope, roleUids, time }: HeldRoleQuery) {
  const home = isSubgroupIdentity(identityUid) ? parentOf(identityUid) : "";
  return {
    identityUid,
    home,
    scope: JSON.stringify(scope ?? []),
    roles: JSON.stringify(roleUids ?? []),
    now: time,
  };
}
