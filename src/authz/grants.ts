// Grants are the sum of roles: what an identity may do in each group.
import { addCapabilities, type CapabilitySet, capabilitySet } from "../model/capabilities.ts";
import { activeRoles, type GrantedRole, hasTerm, nextBoundary, type TimedRole } from "../model/grants.ts";

/** The sum of an identity's role bindings: group uid to the capabilities granted in that group and its subgroups. */
export type Grants = ReadonlyMap<string, CapabilitySet>;

/** Merges roles into grants. */
export function combineRoles(held: readonly GrantedRole[]): Grants {
  const grants = new Map<string, CapabilitySet>();
  for (const { groupUid, capabilities } of held) {
    const set = capabilitySet(capabilities);
    const known = grants.get(groupUid);
    if (known) addCapabilities(known, set);
    else grants.set(groupUid, set);
  }
  return grants;
}

/** The terms of roles, some of which begin or end. */
export interface Terms {
  readonly roles: readonly TimedRole[];
  /** The time at which the grants were made of the roles. */
  readonly time: number;
  /** The first time after it at which one of the roles begins or ends. */
  readonly until: number;
  /** The time from which the roles must be read again; Infinity if there is none. */
  readonly knownUntil: number;
}

/** The grants at a time, and the terms that they depend on; undefined if no role has one. */
export interface TimedGrants {
  readonly grants: Grants;
  readonly terms: Terms | undefined;
}

/** Returns what roles give at a time. `knownUntil` is the time from which they must be read again. */
export function timedGrants(
  roles: readonly TimedRole[],
  time: number,
  knownUntil = Number.POSITIVE_INFINITY,
): TimedGrants {
  const grants = combineRoles(activeRoles(roles, time));
  if (knownUntil === Number.POSITIVE_INFINITY && !roles.some(hasTerm)) return { grants, terms: undefined };
  return { grants, terms: { roles, time, until: Math.min(nextBoundary(roles, time), knownUntil), knownUntil } };
}
