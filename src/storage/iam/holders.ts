// Finds the identities that hold roles at a group, through the role bindings of the group and its ancestors. The statements read the
// bindings of these few groups, by the index of the parent, however many groups and bindings there are elsewhere.
import type { SQL } from "drizzle-orm";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, countDistinct, desc, eq, gt, isNotNull, isNull, lt, ne, or, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { type ReachingBinding, reachingColumns, takesEffectAt } from "./grants.ts";
import { isInForce } from "./terms.ts";

/** The identities to find. */
export interface HolderQuery {
  /** The uid of the group. */
  readonly uid: string;
  /** The group and its ancestors, without those where nothing may be shown. */
  readonly places: readonly string[];
  /** Those of the places where every identity is shown. */
  readonly open: readonly string[];
  /** At the other places, this identity is shown, and those below `visibleBelow`; empty for none. */
  readonly self: string;
  readonly visibleBelow: string;
  /** Only this identity; empty for all. */
  readonly identity: string;
  /** Every identity but this one; empty for all. */
  readonly without: string;
  /** Only bindings of these roles; absent for all. */
  readonly roleUids?: readonly string[] | undefined;
  /** Whether to find only those with a binding that has an end, their own or at one of the open places. */
  readonly withEnd: boolean;
  /** Whether to find identities whose bindings have no effect at the group. */
  readonly showConfined: boolean;
  /** The time that decides which terms count, in milliseconds since the epoch. */
  readonly time: number;
}

/** The page of identities to read, in the order of their uids. */
export interface HolderPage {
  readonly descending: boolean;
  /** The page starts after this identity; empty for the first. */
  readonly after: string;
  readonly skip: number;
  readonly limit: number;
}

/** Returns the uids of one page of identities. */
export async function findHolders(session: Session, query: HolderQuery, page: HolderPage): Promise<string[]> {
  const { descending, after, skip, limit } = page;
  const key = `${keyOf(query)}.${descending ? "desc" : "asc"}.${after === "" ? "first" : "after"}`;
  const statement = session.prepared(`role_bindings.holders.${key}`, (db, tables) => {
    const { identityUid } = tables.roleBindings;
    const isAfter = (descending ? lt : gt)(identityUid, textPlaceholder("after"));
    return db
      .selectDistinct({ identityUid })
      .from(tables.roleBindings)
      .where(and(matches(session, tables, query), after === "" ? undefined : isAfter))
      .orderBy(descending ? desc(identityUid) : asc(identityUid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip"));
  });
  const rows = await statement.execute({ ...valuesOf(query), after, skip, limit });
  return rows.map(({ identityUid }) => identityUid);
}

/** Counts the identities of all pages. */
export async function countHolders(session: Session, query: HolderQuery): Promise<number> {
  const statement = session.prepared(`role_bindings.count_holders.${keyOf(query)}`, (db, tables) =>
    db
      .select({ count: countDistinct(tables.roleBindings.identityUid) })
      .from(tables.roleBindings)
      .where(matches(session, tables, query)),
  );
  return Number((await statement.execute(valuesOf(query)))[0]?.count);
}

function matches(session: Session, tables: Tables, query: HolderQuery): SQL | undefined {
  const { identityUid, parent, roleUid, expireTime } = tables.roleBindings;
  const isOpen = session.isAmong(parent, textPlaceholder("open"));
  const isOwn = eq(identityUid, textPlaceholder("self"));
  const isVisible = sql`(${isOpen} or ${isOwn}
    or (${identityUid} >= ${textPlaceholder("from")} and ${identityUid} < ${textPlaceholder("to")}))`;
  return and(
    session.isAmong(parent, textPlaceholder("places")),
    isVisible,
    query.without === "" ? undefined : ne(identityUid, textPlaceholder("without")),
    query.identity === "" ? undefined : eq(identityUid, textPlaceholder("identity")),
    query.roleUids && session.isAmong(roleUid, textPlaceholder("roles")),
    // Of the others, the caller may not know the terms.
    query.withEnd ? and(isNotNull(expireTime), or(isOpen, isOwn)) : undefined,
    query.showConfined ? undefined : and(takesEffectAt(identityUid, "uid"), isInForce(tables)),
  );
}

function keyOf({ identity, without, roleUids, withEnd, showConfined }: HolderQuery): string {
  return [
    identity === "" ? "" : "one",
    without === "" ? "" : "without",
    roleUids ? "roles" : "",
    withEnd ? "end" : "",
    showConfined ? "confined" : "",
  ].join(".");
}

function valuesOf(query: HolderQuery) {
  const { uid, places, open, self, visibleBelow, identity, without, roleUids } = query;
  const isNone = visibleBelow === "";
  return {
    uid,
    self,
    identity,
    without,
    places: JSON.stringify(places),
    open: JSON.stringify(open),
    from: isNone ? "" : `${visibleBelow}/`,
    to: isNone ? "" : `${visibleBelow}0`,
    roles: JSON.stringify(roleUids ?? []),
    now: query.time,
  };
}

/** A role binding with its identity, its role and the name of its group. */
export interface HolderBinding extends ReachingBinding {
  readonly identityUid: string;
}

/** Returns the bindings of identities at these groups, by identity and uid, `limit` at most. */
export async function findBindingsAt(
  session: Session,
  identityUids: readonly string[],
  groupUids: readonly string[],
  limit: number,
): Promise<HolderBinding[]> {
  const statement = session.prepared("role_bindings.of_holders", (db, tables) => {
    const { roleBindings, roles, groups } = tables;
    return db
      .select({ identityUid: roleBindings.identityUid, ...reachingColumns(tables) })
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .innerJoin(groups, eq(groups.uid, roleBindings.parent))
      .where(
        and(
          session.isAmong(roleBindings.parent, textPlaceholder("groups")),
          session.isAmong(roleBindings.identityUid, textPlaceholder("identities")),
        ),
      )
      .orderBy(roleBindings.identityUid, roleBindings.uid)
      .limit(limitOf("limit"));
  });
  return await statement.execute({
    identities: JSON.stringify(identityUids),
    groups: JSON.stringify(groupUids),
    limit,
  });
}

/** Returns the built-in roles and the roles of these groups: all that can be bound at the last of them. */
export async function findRolesAt(session: Session, groupUids: readonly string[]) {
  const builtIn = session.prepared("roles.built_in", (db, { roles }) =>
    db.select({ uid: roles.uid, capabilities: roles.capabilities }).from(roles).where(isNull(roles.parent)),
  );
  const custom = session.prepared("roles.of_groups", (db, { roles }) =>
    db
      .select({ uid: roles.uid, capabilities: roles.capabilities })
      .from(roles)
      .where(session.isAmong(roles.parent, textPlaceholder("groups"))),
  );
  return [...(await builtIn.execute()), ...(await custom.execute({ groups: JSON.stringify(groupUids) }))];
}
