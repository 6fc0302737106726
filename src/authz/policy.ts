// The only reader of role bindings for authorization. Grants are evaluated live: cached grants are valid until the next
// change of anyone's access.
import type { VerifiedToken } from "../authn/caller.ts";
import { type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import { addCapabilities, type CapabilitySet, capabilitySet } from "../model/capabilities.ts";
import type { GrantedRole, IdentityGrants } from "../model/grants.ts";
import { Access, type Grants } from "./access.ts";
import { newEpochCache } from "./epoch-cache.ts";
import { predatesIdentity } from "./token-age.ts";

/** The storage that the policy reads. */
export interface GrantSource {
  /** Returns the grants of an identity, or undefined if it does not exist. */
  findGrants(identityUid: string): Promise<IdentityGrants | undefined>;
  /**
   * Returns the roles that an identity holds by external group role mappings: these of its session, without deleted ones
   * and those without an active delegation, and those of its provisioned groups.
   */
  findMappedRoles(identityUid: string, mappingUids: readonly string[]): Promise<readonly GrantedRole[]>;
  /**
   * Returns the access epoch, a number that changes with every change of access. It may be slightly old, but recent
   * enough for revocations to take effect in time.
   */
  epoch(): MaybePromise<number>;
  /** Returns the access epoch as of this call or later. */
  latestEpoch(): MaybePromise<number>;
}

/** The claims of an access token that authorization depends on. */
export type AccessToken = Pick<VerifiedToken, "subject" | "issuedAt" | "expiresAt" | "narrowing" | "mappings">;

/** Decides what callers may do. Results are synchronous unless the database must be read. */
export interface Policy {
  /**
   * Returns what the identity of a token may do, or undefined if the identity does not exist or the token predates it.
   * Grants that another node added a moment ago may be missing.
   */
  accessOf(token: AccessToken): MaybePromise<Access | undefined>;
  /** Like `accessOf`, with every grant that existed before the call. */
  latestAccessOf(token: AccessToken): MaybePromise<Access | undefined>;
  /** Returns all grants of an identity from its bindings and these mappings, or undefined if it does not exist. */
  grantsOf(identityUid: string, mappings?: readonly string[]): MaybePromise<Grants | undefined>;
  /** Cache hits since the start. */
  readonly hits: number;
  /** Cache misses since the start. */
  readonly misses: number;
  /** The number of identities whose grants are cached. */
  readonly entries: number;
}

/** The maximum weight of the cache. One identity's grant at one group weighs 1. */
const maxGrants = 200_000;

/** A cache entry. */
interface Held {
  readonly createTime: number;
  readonly grants: Grants;
  /** The access epoch before the read. */
  readonly epoch: number;
}

/** Creates the policy over the role bindings and mappings of the source. */
export function newPolicy(source: GrantSource): Policy {
  const memory = newEpochCache<Held>(maxGrants, ({ grants }) => 1 + grants.size);
  let hits = 0;
  let misses = 0;

  function heldAt(
    epoch: number,
    identityUid: string,
    mappings: readonly string[] = [],
  ): MaybePromise<Held | undefined> {
    // Security case Q5: uids have no spaces.
    const key = mappings.length === 0 ? identityUid : [identityUid, ...mappings].join(" ");
    const known = memory.find(epoch, key);
    if (!known) return readHeld(epoch, key, identityUid, mappings);
    hits++;
    return known;
  }

  async function readHeld(epoch: number, key: string, identityUid: string, mappings: readonly string[]) {
    misses++;
    const identity = await source.findGrants(identityUid);
    if (!identity) return undefined;
    const grants = combineRoles([...identity.roles, ...(await source.findMappedRoles(identityUid, mappings))]);
    const held: Held = { createTime: identity.createTime, grants, epoch };
    memory.keep(epoch, key, held);
    return held;
  }

  function accessAt(epoch: number, token: AccessToken): MaybePromise<Access | undefined> {
    return mapMaybe(heldAt(epoch, token.subject, token.mappings), (held) => toAccess(held, token));
  }

  return {
    grantsOf: (identityUid, mappings) =>
      mapMaybe(source.latestEpoch(), (epoch) => mapMaybe(heldAt(epoch, identityUid, mappings), (held) => held?.grants)),
    accessOf: (token) => mapMaybe(source.epoch(), (epoch) => accessAt(epoch, token)),
    latestAccessOf: (token) => mapMaybe(source.latestEpoch(), (epoch) => accessAt(epoch, token)),
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

function toAccess(held: Held | undefined, token: AccessToken): Access | undefined {
  if (!held || predatesIdentity(token, held.createTime)) return undefined;
  return new Access(held.grants, token.narrowing, held.epoch);
}

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
