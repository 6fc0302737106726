// The only reader of role bindings for authorization. Grants are evaluated live: cached grants are valid until the next
// change of anyone's access.
import type { VerifiedToken } from "../authn/caller.ts";
import { type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import type { IdentityGrants, SessionRoles } from "../model/grants.ts";
import { rootOf } from "../model/uid.ts";
import { Access } from "./access.ts";
import { newEpochCache } from "./epoch-cache.ts";
import { type Grants, type Terms, type TimedGrants, timedGrants } from "./grants.ts";
import { predatesIdentity } from "./token-age.ts";
import type { AccessUsage, UseRecorder } from "./usage.ts";

/** The storage that the policy reads. */
export interface GrantSource {
  /** Returns the grants of an identity, or undefined if it does not exist. */
  findGrants(identityUid: string): Promise<IdentityGrants | undefined>;
  /**
   * Returns the roles that an identity holds by external group role mappings: these of its session, without deleted ones
   * and those of its provisioned groups, each with the terms in which its delegation is in force.
   */
  findMappedRoles(identityUid: string, mappingUids: readonly string[]): Promise<SessionRoles>;
  /** Returns the organizations in which the person of an exchanged token is deactivated (docs/design/sign-in.md). */
  findSuspendedOrganizations(act: Act): Promise<ReadonlySet<string>>;
  /** Returns the organizations that an identity created and owns. */
  findFoundedOrganizations(identityUid: string): Promise<readonly string[]>;
  /**
   * Returns the access epoch, a number that changes with every change of access. It may be slightly old, but recent
   * enough for revocations to take effect in time.
   */
  epoch(): MaybePromise<number>;
  /** Returns the access epoch as of this call or later. */
  latestEpoch(): MaybePromise<number>;
  /** Returns the time by which terms begin and end. */
  termTime(): number;
}

/** The claims of an access token that authorization depends on. */
export type AccessToken = Pick<VerifiedToken, "subject" | "act" | "issuedAt" | "expiresAt" | "narrowing" | "mappings">;

/** The claims of the token that an access token was exchanged for. */
export type Act = VerifiedToken["act"];

/** The claims of a token that determine an identity's grants, besides its role bindings. */
export type SessionClaims = { readonly [K in "act" | "mappings"]?: AccessToken[K] | undefined };

/** Decides what callers may do. Results are synchronous unless the database must be read. */
export interface Policy {
  /**
   * Returns what the identity of a token may do. Returns undefined if the identity does not exist, the token predates it,
   * or its organization has deactivated the person of the token. Grants that another node added a moment ago may be missing.
   */
  accessOf(token: AccessToken): MaybePromise<Access | undefined>;
  /** Like `accessOf`, with every grant that existed before the call. */
  latestAccessOf(token: AccessToken): MaybePromise<Access | undefined>;
  /** Like `accessOf`, with the grants at this access epoch or a later one. */
  accessAt(epoch: number, token: AccessToken): MaybePromise<Access | undefined>;
  /** Returns all grants of an identity in a session. Returns undefined like `accessOf`. */
  grantsOf(identityUid: string, session?: SessionClaims): MaybePromise<Grants | undefined>;
  /** Cache hits since the start. */
  readonly hits: number;
  /** Cache misses since the start. */
  readonly misses: number;
  /** The number of identities whose grants are cached. */
  readonly entries: number;
}

/** The maximum weight of the cache. One identity's grant at one group weighs 1. */
const maxGrants = 200_000;

/** The maximum number of people for whom the organizations that deactivated them are cached. */
const maxPeople = 10_000;

/** A cache entry. */
interface Held extends TimedGrants {
  readonly createTime: number;
  readonly hasSuspensions: boolean;
  /** The access epoch before the read. */
  readonly epoch: number;
  readonly uses: UseRecorder | undefined;
}

/** Creates the policy over the role bindings and mappings of the source. It records uses of access if there is a place to record them. */
export function newPolicy(source: GrantSource, usage?: Pick<AccessUsage, "of">): Policy {
  const memory = heldGrants(source, usage);
  const suspendedAt = suspendedPeople(source);

  /** Returns what an identity holds in the hands of the person of a token. */
  function heldBy(
    epoch: number,
    identityUid: string,
    { act, mappings }: SessionClaims,
  ): MaybePromise<Held | undefined> {
    return mapMaybe(memory.at(epoch, identityUid, mappings), (held) =>
      held?.hasSuspensions && act
        ? mapMaybe(suspendedAt(epoch, act), (organizations) =>
            withoutSuspended(source, held, identityUid, organizations),
          )
        : held,
    );
  }

  function accessAt(epoch: number, token: AccessToken): MaybePromise<Access | undefined> {
    return mapMaybe(heldBy(epoch, token.subject, token), (held) => toAccess(held, token));
  }

  return {
    grantsOf: (identityUid, session = {}) =>
      mapMaybe(source.latestEpoch(), (epoch) => mapMaybe(heldBy(epoch, identityUid, session), (held) => held?.grants)),
    accessOf: (token) => mapMaybe(source.epoch(), (epoch) => accessAt(epoch, token)),
    latestAccessOf: (token) => mapMaybe(source.latestEpoch(), (epoch) => accessAt(epoch, token)),
    accessAt,
    get hits() {
      return memory.hits;
    },
    get misses() {
      return memory.misses;
    },
    get entries() {
      return memory.entries;
    },
  };
}

/** Reads and caches what identities hold. */
function heldGrants(
  source: Pick<GrantSource, "findGrants" | "findMappedRoles" | "termTime">,
  usage?: Pick<AccessUsage, "of">,
) {
  const memory = newEpochCache<Held>(maxGrants, ({ grants }) => 1 + grants.size);
  let hits = 0;
  let misses = 0;

  async function read(epoch: number, key: string, identityUid: string, mappings: readonly string[]) {
    misses++;
    const identity = await source.findGrants(identityUid);
    if (!identity) return undefined;
    const mapped = await source.findMappedRoles(identityUid, mappings);
    const { createTime, hasSuspensions } = identity;
    const grants = timedGrants([...identity.roles, ...mapped.roles], source.termTime(), mapped.knownUntil);
    const held: Held = { createTime, hasSuspensions, epoch, uses: usage?.of(identityUid), ...grants };
    memory.keep(epoch, key, held);
    return held;
  }

  /**
   * Returns an entry as it is now; undefined if it must be read again. The rows of an epoch do not change, so the grants after a begin or
   * an end need no read.
   */
  function advance(key: string, held: Held, { roles, until, knownUntil }: Terms): Held | undefined {
    const time = source.termTime();
    if (time < until) return held;
    if (time >= knownUntil) return undefined;
    const next: Held = { ...held, ...timedGrants(roles, time, knownUntil) };
    memory.keep(held.epoch, key, next);
    return next;
  }

  return {
    at(epoch: number, identityUid: string, mappings: readonly string[] = []): MaybePromise<Held | undefined> {
      // Security case Q5: uids have no spaces.
      const key = mappings.length === 0 ? identityUid : [identityUid, ...mappings].join(" ");
      const found = memory.find(epoch, key);
      const known = found?.terms ? advance(key, found, found.terms) : found;
      if (!known) return read(epoch, key, identityUid, mappings);
      hits++;
      return known;
    },
    get hits() {
      return hits;
    },
    get misses() {
      return misses;
    },
    get entries() {
      return memory.entries;
    },
  };
}

/** Returns the function that reads and caches in which organizations the person of a token is deactivated. */
function suspendedPeople(source: Pick<GrantSource, "findSuspendedOrganizations">) {
  const memory = newEpochCache<ReadonlySet<string>>(maxPeople);

  async function read(epoch: number, key: string, act: Act) {
    const organizations = await source.findSuspendedOrganizations(act);
    memory.keep(epoch, key, organizations);
    return organizations;
  }

  return (epoch: number, act: Act): MaybePromise<ReadonlySet<string>> => {
    // Security case Q5: the two texts cannot be split in another way.
    const key = JSON.stringify([act.iss, act.sub]);
    return memory.find(epoch, key) ?? read(epoch, key, act);
  };
}

function toAccess(held: Held | undefined, token: AccessToken): Access | undefined {
  if (!held || predatesIdentity(token, held.createTime)) return undefined;
  return new Access(held.grants, token.narrowing, held.epoch, held.terms, held.uses);
}

/**
 * Removes the grants in organizations that have deactivated the person. An identity of such an organization is not for that person, except
 * in other organizations that it created.
 */
function withoutSuspended(
  source: Pick<GrantSource, "findFoundedOrganizations">,
  held: Held,
  identityUid: string,
  organizations: ReadonlySet<string>,
): MaybePromise<Held | undefined> {
  if (organizations.size === 0) return held;
  const isActive = (groupUid: string) => !organizations.has(rootOf(groupUid));
  if (!organizations.has(rootOf(identityUid))) return onlyAt(held, isActive);
  return source.findFoundedOrganizations(identityUid).then((founded) => {
    const kept = onlyAt(held, (groupUid) => isActive(groupUid) && founded.includes(rootOf(groupUid)));
    return kept.grants.size > 0 ? kept : undefined;
  });
}

function onlyAt(held: Held, isKept: (groupUid: string) => boolean): Held {
  const { terms } = held;
  return {
    ...held,
    grants: new Map([...held.grants].filter(([groupUid]) => isKept(groupUid))),
    terms: terms && { ...terms, roles: terms.roles.filter(({ role }) => isKept(role.groupUid)) },
  };
}
