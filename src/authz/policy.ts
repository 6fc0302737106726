// The only reader of role bindings for access. Grants are evaluated live: what is cached here ends with the next change of
// anybody's access.
import { LRUCache } from "lru-cache";
import type { Narrowing } from "../authn/caller.ts";
import { Access, type Grants } from "./access.ts";
import { addCapabilities, type CapabilitySet, capabilitySet } from "./capabilities.ts";

/** What the policy needs of the storage. */
export interface GrantSource {
  /** The roles that an identity holds; undefined when there is no such identity. */
  findHeldRoles(identityUid: string): Promise<readonly HeldRole[] | undefined>;
  /** The role of a mapping of an outside group; undefined when it has been removed. */
  findMappedRole(mappingUid: string): Promise<HeldRole | undefined>;
  /** A number that changes with every change of what anybody may do. */
  epoch(): number | Promise<number>;
}

export interface HeldRole {
  readonly groupUid: string;
  readonly capabilities: readonly number[];
}

/** An answer, or the promise of one where the database has to be asked. */
type Soon<T> = T | Promise<T>;

export interface Policy {
  /** What an identity may do, narrowed by its token; undefined when there is no such identity. */
  accessOf(identityUid: string, narrowing: Narrowing, mappings?: readonly string[]): Soon<Access | undefined>;
  /** What an identity holds by its bindings and these mappings; undefined when there is no such identity. */
  grantsOf(identityUid: string, mappings?: readonly string[]): Soon<Grants | undefined>;
  readonly hits: number;
  readonly misses: number;
}

/** Identities and groups that are remembered: a grant of one identity at one group weighs 1. */
const maximumGrants = 200_000;

export function newPolicy(source: GrantSource): Policy {
  const cache = new LRUCache<string, Grants>({ maxSize: maximumGrants, sizeCalculation: (grants) => 1 + grants.size });
  let cachedEpoch = -1;
  let hits = 0;
  let misses = 0;

  function grantsOf(identityUid: string, mappings: readonly string[] = []): Soon<Grants | undefined> {
    const epoch = source.epoch();
    return typeof epoch === "number"
      ? grantsAt(epoch, identityUid, mappings)
      : epoch.then((number) => grantsAt(number, identityUid, mappings));
  }

  function grantsAt(epoch: number, identityUid: string, mappings: readonly string[]): Soon<Grants | undefined> {
    if (epoch !== cachedEpoch) {
      cache.clear();
      cachedEpoch = epoch;
    }
    // Security case Q5: uids have no spaces.
    const key = mappings.length === 0 ? identityUid : [identityUid, ...mappings].join(" ");
    const cached = cache.get(key);
    if (!cached) return readGrants(key, epoch, identityUid, mappings);
    hits++;
    return cached;
  }

  async function readGrants(key: string, epoch: number, identityUid: string, mappings: readonly string[]) {
    misses++;
    const held = await source.findHeldRoles(identityUid);
    if (!held) return undefined;
    const mapped = await Promise.all(mappings.map((uid) => source.findMappedRole(uid)));
    const grants = combine([...held, ...mapped.filter((role) => role !== undefined)]);
    // Rows that were read while the epoch moved on must not be remembered under the new one.
    if (epoch === cachedEpoch) cache.set(key, grants);
    return grants;
  }

  return {
    grantsOf,
    accessOf(identityUid, narrowing, mappings) {
      const toAccess = (grants: Grants | undefined) => grants && new Access(grants, narrowing);
      const grants = grantsOf(identityUid, mappings);
      return grants instanceof Promise ? grants.then(toAccess) : toAccess(grants);
    },
    get hits() {
      return hits;
    },
    get misses() {
      return misses;
    },
  };
}

function combine(held: readonly HeldRole[]): Grants {
  const grants = new Map<string, CapabilitySet>();
  for (const { groupUid, capabilities } of held) {
    const set = capabilitySet(capabilities);
    const known = grants.get(groupUid);
    if (known) addCapabilities(known, set);
    else grants.set(groupUid, set);
  }
  return grants;
}
