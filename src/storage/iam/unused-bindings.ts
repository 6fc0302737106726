// Finds role bindings whose roles nobody used for a while, and what was used of the others.
import type { SQL, SQLWrapper } from "drizzle-orm";
import { dayMs } from "../../base/clock.ts";
import { numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, SessionDialect } from "../engine/session.ts";
import type { Condition } from "../list/condition.ts";
import { eq, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { type ReachingBinding, reachingColumns } from "./grants.ts";

type UnusedCondition = Pick<Condition, "name" | "build" | "values">;

/** The condition of all role bindings. */
export const everyBinding: UnusedCondition = { name: "every", build: () => sql`1 = 1`, values: {} };

/** Returns the condition of role bindings that were not used since a time, and that no delegation of their holders depends on. */
export function unusedSince(time: number): UnusedCondition {
  return {
    name: "unused",
    build: (dialect) => sql`(${isUnused(dialect)})`,
    values: { unusedDay: Math.floor(time / dayMs) },
  };
}

/** Returns the condition of unused role bindings whose uses have been observed since that time: nothing speaks against their removal. */
export function removableSince(time: number): UnusedCondition {
  const unused = unusedSince(time);
  return {
    name: "removable",
    build: (dialect) => {
      const { createTime, startTime } = dialect.tables.roleBindings;
      const since = numberPlaceholder("observedSince");
      return sql`(${createTime} <= ${since} and coalesce(${startTime}, 0) <= ${since}
        and ${bindTimeIn(dialect.tables)} <= ${since} and ${unused.build(dialect)})`;
    },
    values: { ...unused.values, observedSince: time },
  };
}

/** Returns an expression for the time when a role binding was changed or imported; 0 if it never was. */
function bindTimeIn({ accessUsage, roleBindings: { identityUid, parent } }: Tables): SQL {
  return sql`coalesce((select ${accessUsage.bindTime} from ${accessUsage}
    where ${accessUsage.identityUid} = ${identityUid} and ${accessUsage.groupUid} = ${placeOf(identityUid, parent)}), 0)`;
}

function isUnused(dialect: SessionDialect): SQL {
  const { roleBindings, roles, accessUsage } = dialect.tables;
  const since = numberPlaceholder("unusedDay");
  return sql`not exists (select 1 from ${accessUsage}, ${dialect.membersOf(accessUsage.days)} as used
      where ${isUseOf(dialect, sql`(select ${roles.capabilities} from ${roles} where ${roles.uid} = ${roleBindings.roleUid})`)}
      and ${accessUsage.lastTime} >= ${since} * ${sql.raw(String(dayMs))} and cast(used.value as bigint) >= ${since})
    and not ${isVouching(dialect)}`;
}

/** Returns a condition: the holder of the role binding made a delegation at its group or below it, which their role may keep in force. */
function isVouching({ tables: { roleBindings, delegations } }: SessionDialect): SQL {
  return sql`exists (select 1 from ${delegations} where ${delegations.makerUid} = ${roleBindings.identityUid}
    and substr(${delegations.uid}, 1, length(${roleBindings.parent}) + 1) = ${roleBindings.parent} || '/')`;
}

/**
 * Returns a condition for role bindings, rows of access_usage and their days as `used`: a use by the role.
 *
 * A use counts for the outermost group whose roles allowed it. If the role is no longer there, or will end, what it allowed
 * may need another role binding below that group. So the use counts for these, too.
 */
function isUseOf(dialect: SessionDialect, capabilities: SQLWrapper): SQL {
  const { roleBindings, roles, accessUsage } = dialect.tables;
  const { identityUid, parent, createTime } = roleBindings;
  const isIn = (list: SQLWrapper) =>
    sql`cast(used.key as bigint) in (select cast(value as bigint) from ${dialect.textsOf(sql`${list}`)} as listed)`;
  const place = placeOf(identityUid, parent);
  const outer = placeOf(sql.raw("outer_bindings.identity_uid"), sql.raw("outer_bindings.parent"));
  const isAllowedThere = sql`exists (select 1 from ${roleBindings} as outer_bindings, ${roles} as outer_roles
    where outer_bindings.identity_uid = ${identityUid} and outer_roles.uid = outer_bindings.role_uid
    and outer_bindings.start_time is null and outer_bindings.expire_time is null
    and ${outer} = ${accessUsage.groupUid} and ${isIn(sql.raw("outer_roles.capabilities"))})`;
  return sql`${accessUsage.identityUid} = ${identityUid}
    and substr(${place} || '/', 1, length(${accessUsage.groupUid}) + 1) = ${accessUsage.groupUid} || '/'
    and cast(used.value as bigint) >= ${createTime} / ${sql.raw(String(dayMs))}
    and ${isIn(capabilities)}
    and (${accessUsage.groupUid} = ${place} or not ${isAllowedThere})`;
}

/** Returns an expression for the group where a role binding takes effect; empty if it has no effect. Agrees with `effectiveGroup`. */
function placeOf(identityUid: SQLWrapper, parent: SQLWrapper): SQL {
  const home = sql`substr(${identityUid}, 1, length(${identityUid}) - 17)`;
  return sql`(case when ${identityUid} not like '%/%/%' or substr(${parent} || '/', 1, length(${identityUid}) - 16) = ${home} || '/'
    then ${parent} when substr(${home} || '/', 1, length(${parent}) + 1) = ${parent} || '/' then ${home} else '' end)`;
}

/** A role binding with what is known of its use. */
export interface ObservedBinding extends ReachingBinding {
  readonly identityUid: string;
  readonly createTime: number;
  /** When it was changed or imported; 0 if never. */
  readonly bindTime: number;
  /** How many delegations its holder made at its group and below it. */
  readonly delegations: number;
}

/** Returns since when all uses of a role binding are known, given since when uses are recorded; undefined if they are not. */
export function observedSince(
  { createTime, startTime, bindTime }: Pick<ObservedBinding, "createTime" | "startTime" | "bindTime">,
  recorded: number | undefined,
): number | undefined {
  return recorded === undefined ? undefined : Math.max(createTime, startTime ?? 0, bindTime, recorded);
}

/** Returns role bindings in the order of their uids. Those that are gone are missing. */
export async function findObservedBindings(session: Session, uids: readonly string[]): Promise<ObservedBinding[]> {
  const statement = session.prepared("role_bindings.observed", (db, tables) => {
    const { roleBindings, roles, groups, delegations } = tables;
    const { identityUid, parent } = roleBindings;
    const vouched = sql`(select count(*) from ${delegations} where ${delegations.makerUid} = ${identityUid}
      and substr(${delegations.uid}, 1, length(${parent}) + 1) = ${parent} || '/')`;
    return db
      .select({
        ...reachingColumns(tables),
        identityUid,
        createTime: roleBindings.createTime,
        bindTime: bindTimeIn(tables).mapWith(Number).as("bind_time"),
        delegations: vouched.mapWith(Number).as("delegations"),
      })
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .innerJoin(groups, eq(groups.uid, parent))
      .where(session.isAmong(roleBindings.uid, textPlaceholder("uids")))
      .orderBy(roleBindings.uid);
  });
  return await statement.execute({ uids: JSON.stringify(uids) });
}

/** A capability that was used by a role binding, and the beginning of the last day on which it was. */
export interface UsedCapability {
  readonly uid: string;
  readonly capability: number;
  readonly time: number;
}

/** Returns which capabilities of role bindings were used, and when. */
export async function findUsedCapabilities(session: Session, uids: readonly string[]): Promise<UsedCapability[]> {
  const statement = session.prepared("role_bindings.used", (db, tables) => {
    const { roleBindings, roles, accessUsage } = tables;
    const used = sql`${session.membersOf(accessUsage.days)} as used`;
    const capability = sql<number>`cast(used.key as bigint)`;
    return db
      .select({
        uid: roleBindings.uid,
        capability: capability.mapWith(Number).as("capability"),
        time: sql`max(cast(used.value as bigint)) * ${sql.raw(String(dayMs))}`.mapWith(Number).as("time"),
      })
      .from(roleBindings)
      .innerJoin(roles, eq(roles.uid, roleBindings.roleUid))
      .innerJoin(accessUsage, eq(accessUsage.identityUid, roleBindings.identityUid))
      .innerJoin(used, sql`${isUseOf(session, roles.capabilities)}`)
      .where(session.isAmong(roleBindings.uid, textPlaceholder("uids")))
      .groupBy(roleBindings.uid, capability)
      .orderBy(roleBindings.uid, capability);
  });
  return await statement.execute({ uids: JSON.stringify(uids) });
}
