// The only reader of role bindings for access. Grants are evaluated live: what is cached here ends with the next change of
// anybody's access.
import type { VerifiedToken } from "../authn/caller.ts";
import { type Soon, whenThere } from "../base/maybe-promise.ts";
import { addCapabilities, type CapabilitySet, capabilitySet } from "../model/capabilities.ts";
import { Access, type Grants } from "./access.ts";
import { newEpochMemory } from "./epoch-cache.ts";
import { isForFormerIdentity } from "./token-age.ts";

/** What the policy needs of the storage. */
export interface GrantSource {
  /** What an identity holds; undefined when there is no such identity. */
  findHolder(identityUid: string): Promise<Holder | undefined>;
  /** The roles of mappings of outside groups, without those that have been removed, or that nobody vouches for any more. */
  findMappedRoles(mappingUids: readonly string[]): Promise<readonly HeldRole[]>;
  /** A number that changes with every change of what anybody may do; at most so old that a revocation is seen in time. */
  epoch(): Soon<number>;
  /** The same, as of the call or later. */
  latestEpoch(): Soon<number>;
}

/** An identity, as far as its access goes. */
export interface Holder {
  /** When it was made, in milliseconds since the epoch. */
  readonly createTime: number;
  readonly roles: readonly HeldRole[];
}

/** A role that is held at a group and below. */
export interface HeldRole {
  readonly groupUid: string;
  readonly capabilities: readonly number[];
}

/** What decides of a token what its bearer may do. */
export type AccessToken = Pick<VerifiedToken, "subject" | "issuedAt" | "expiresAt" | "narrowing" | "mappings">;

/** What anybody may do. An answer is there at once, unless the database has to be asked. */
export interface Policy {
  /**
   * What the identity of a token may do within it; undefined when there is no such identity, or it is not that of the token. What
   * was granted a moment ago by another node may be missing.
   */
  accessOf(token: AccessToken): Soon<Access | undefined>;
  /** The same, with all that was granted before the call. */
  latestAccessOf(token: AccessToken): Soon<Access | undefined>;
  /** All that an identity holds by its bindings and these mappings; undefined when there is no such identity. */
  grantsOf(identityUid: string, mappings?: readonly string[]): Soon<Grants | undefined>;
  /** How often grants were remembered, since the start. */
  readonly hits: number;
  /** How often grants had to be read, since the start. */
  readonly misses: number;
}

/** Identities and groups that are remembered: a grant of one identity at one group weighs 1. */
const maxGrants = 200_000;

/** What is remembered of an identity. */
interface Held {
  readonly createTime: number;
  readonly grants: Grants;
  /** The access epoch before it was read. */
  readonly epoch: number;
}

/** Makes the policy over role bindings and mappings, as the source has them. */
export function newPolicy(source: GrantSource): Policy {
  const memory = newEpochMemory<Held>(maxGrants, ({ grants }) => 1 + grants.size);
  let hits = 0;
  let misses = 0;

  function heldAt(epoch: number, identityUid: string, mappings: readonly string[] = []): Soon<Held | undefined> {
    // Security case Q5: uids have no spaces.
    const key = mappings.length === 0 ? identityUid : [identityUid, ...mappings].join(" ");
    const known = memory.find(epoch, key);
    if (!known) return readHeld(epoch, key, identityUid, mappings);
    hits++;
    return known;
  }

  async function readHeld(epoch: number, key: string, identityUid: string, mappings: readonly string[]) {
    misses++;
    const holder = await source.findHolder(identityUid);
    if (!holder) return undefined;
    const grants = combineRoles([...holder.roles, ...(await source.findMappedRoles(mappings))]);
    const held: Held = { createTime: holder.createTime, grants, epoch };
    memory.keep(epoch, key, held);
    return held;
  }

  function accessAt(epoch: number, token: AccessToken): Soon<Access | undefined> {
    return whenThere(heldAt(epoch, token.subject, token.mappings), (held) => toAccess(held, token));
  }

  return {
    grantsOf: (identityUid, mappings) =>
      whenThere(source.latestEpoch(), (epoch) =>
        whenThere(heldAt(epoch, identityUid, mappings), (held) => held?.grants),
      ),
    accessOf: (token) => whenThere(source.epoch(), (epoch) => accessAt(epoch, token)),
    latestAccessOf: (token) => whenThere(source.latestEpoch(), (epoch) => accessAt(epoch, token)),
    get hits() {
      return hits;
    },
    get misses() {
      return misses;
    },
  };
}

function toAccess(held: Held | undefined, token: AccessToken): Access | undefined {
  if (!held || isForFormerIdentity(token, held.createTime)) return undefined;
  return new Access(held.grants, token.narrowing, held.epoch);
}

/** What some roles add up to. */
export function combineRoles(held: readonly HeldRole[]): Grants {
  const grants = new Map<string, CapabilitySet>();
  for (const { groupUid, capabilities } of held) {
    const set = capabilitySet(capabilities);
    const known = grants.get(groupUid);
    if (known) addCapabilities(known, set);
    else grants.set(groupUid, set);
  }
  return grants;
}
