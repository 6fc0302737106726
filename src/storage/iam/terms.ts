// Conditions on the terms of role bindings. Their statements have the placeholder `now`, the time of `termTime`.
import type { SQL } from "drizzle-orm";
import { numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Condition } from "../list/condition.ts";
import { and, gt, isNull, lte, or, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { isNotSuspended } from "./scim-suspensions.ts";

/** Returns a condition for role bindings: they grant at the time in the placeholder `now`. */
export function isInForce(tables: Tables): SQL | undefined {
  return and(isInTerm(tables), isNotSuspended(tables));
}

/** Returns a condition for role bindings: they grant, and have no term. */
export function isLasting(tables: Tables): SQL | undefined {
  const { startTime, expireTime } = tables.roleBindings;
  return and(isNull(startTime), isNull(expireTime), isNotSuspended(tables));
}

/** Returns a condition for role bindings: their term includes the time in the placeholder `now`. */
function isInTerm({ roleBindings: { startTime, expireTime } }: Tables): SQL | undefined {
  const now = numberPlaceholder("now");
  return and(or(isNull(startTime), lte(startTime, now)), or(isNull(expireTime), gt(expireTime, now)));
}

/** Returns a condition for role bindings: they have ended by the time in the placeholder `now`. */
export function hasEnded({ expireTime }: Tables["roleBindings"]): SQL {
  return lte(expireTime, numberPlaceholder("now"));
}

/** Selects role bindings by their terms. */
export interface TermFilter {
  /** The time that decides about states, in milliseconds since the epoch. */
  readonly now: number;
  /** Only bindings that end before this time; undefined for all. */
  readonly endsBefore: number | undefined;
  readonly state: "scheduled" | "active" | "ended" | undefined;
}

/** Returns the condition of the role bindings with a term that a filter selects. */
export function termCondition({ now, endsBefore, state }: TermFilter): Condition {
  return {
    name: "terms",
    build: ({ tables: { roleBindings } }) => {
      const { startTime, expireTime } = roleBindings;
      const wanted = textPlaceholder("state");
      const time = numberPlaceholder("now");
      const stateOf = sql`case when ${expireTime} <= ${time} then 'ended' when ${startTime} > ${time} then 'scheduled' else 'active' end`;
      return sql`(${startTime} is not null or ${expireTime} is not null)
        and (${numberPlaceholder("endsBefore")} is null or ${expireTime} < ${numberPlaceholder("endsBefore")})
        and (${wanted} = '' or ${stateOf} = ${wanted})`;
    },
    values: { now, endsBefore: endsBefore ?? null, state: state ?? "" },
  };
}
