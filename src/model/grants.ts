// The roles of an identity, and the terms in which they are in force.

/** A role that is in force at a group and its descendants. Of timed roles, `activeRoles` makes it. */
export interface GrantedRole {
  readonly groupUid: string;
  /** Numbers of the Capability enum. */
  readonly capabilities: readonly number[];
}

/** The term of a role binding, in milliseconds since the epoch: from the start, inclusive, to the end, exclusive. */
export interface Term {
  /** Null for a binding that begins at once. */
  readonly startTime: number | null;
  /** Null for a binding without an end. */
  readonly expireTime: number | null;
}

/** The term of a role binding that has none. */
export const noTerm: Term = { startTime: null, expireTime: null };

/** A role with its term. It is in force at some times only, so its capabilities cannot be used without a time. */
export interface TimedRole extends Term {
  readonly role: GrantedRole;
}

/** The roles of a session by mappings. */
export interface SessionRoles {
  readonly roles: readonly TimedRole[];
  /** The time until which the terms are known; Infinity if nothing changes later. */
  readonly knownUntil: number;
}

/** The grants of an identity. */
export interface IdentityGrants {
  /** When the identity was created, in milliseconds since the epoch. */
  readonly createTime: number;
  /** Its roles, with the groups where they take effect. */
  readonly roles: readonly TimedRole[];
  /** Whether people are deactivated in an organization of the identity or of one of its roles. */
  readonly hasSuspensions: boolean;
}

/** Whether a term includes a time. */
export function isInTerm({ startTime, expireTime }: Term, time: number): boolean {
  return (startTime === null || startTime <= time) && (expireTime === null || expireTime > time);
}

/** Whether a binding has a term. */
export function hasTerm({ startTime, expireTime }: Term): boolean {
  return startTime !== null || expireTime !== null;
}

/** Returns the roles that are in force at a time. */
export function activeRoles(roles: readonly TimedRole[], time: number): GrantedRole[] {
  return roles.filter((each) => isInTerm(each, time)).map(({ role }) => role);
}

/** Returns the roles that are in force at a time and stay so until another time; Infinity for those without an end. */
export function lastingRoles(roles: readonly TimedRole[], time: number, end: number): GrantedRole[] {
  return roles
    .filter((each) => isInTerm(each, time) && (each.expireTime === null || each.expireTime >= end))
    .map(({ role }) => role);
}

/** Returns the first time after this one at which a term begins or ends; Infinity if there is none. */
export function nextBoundary(terms: readonly Term[], time: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { startTime, expireTime } of terms) {
    if (startTime !== null && startTime > time && startTime < next) next = startTime;
    if (expireTime !== null && expireTime > time && expireTime < next) next = expireTime;
  }
  return next;
}
