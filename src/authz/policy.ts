// The only reader of role bindings for access. Grants are evaluated live: what is cached here ends with the next change of
// anybody's access.
import type { Narrowing } from "../authn/caller.ts";
import { Access, type Grants } from "./access.ts";
import { addCapabilities, type CapabilitySet, capabilitySet } from "./capabilities.ts";
import { newEpochMemory } from "./epoch-memory.ts";

/** What the policy needs of the storage. */
export interface GrantSource {
  /** The roles that an identity holds; undefined when there is no such identity. */
  findHeldRoles(identityUid: string): Promise<readonly HeldRole[] | undefined>;
  /** The role of a mapping of an outside group; undefined when it has been removed. */
  findMappedRole(mappingUid: string): Promise<HeldRole | undefined>;
  /** A number that changes with every change of what anybody may do. */
  epoch(): number | Promise<number>;
}

/** A role that is held at a group and below. */
export interface HeldRole {
  readonly groupUid: string;
  readonly capabilities: readonly number[];
}

/** What anybody may do. An answer is there at once, unless the database has to be asked. */
export interface Policy {
  /** What an identity may do, narrowed by its token; undefined when there is no such identity. */
  accessOf(
    identityUid: string,
    narrowing: Narrowing,
    mappings?: readonly string[],
  ): Access | undefined | Promise<Access | undefined>;
  /** What an identity holds by its bindings and these mappings; undefined when there is no such identity. */
  grantsOf(identityUid: string, mappings?: readonly string[]): Grants | undefined | Promise<Grants | undefined>;
  /** How often grants were remembered, since the start. */
  readonly hits: number;
  /** How often grants had to be read, since the start. */
  readonly misses: number;
}

/** Identities and groups that are remembered: a grant of one identity at one group weighs 1. */
const maxGrants = 200_000;

/** Makes the policy over role bindings and mappings, as the source has them. */
export function newPolicy(source: GrantSource): Policy {
  const memory = newEpochMemory<Grants>(maxGrants, (grants) => 1 + grants.size);
  let hits = 0;
  let misses = 0;

  function grantsOf(identityUid: string, mappings: readonly string[] = []) {
    const epoch = source.epoch();
    return typeof epoch === "number"
      ? grantsAt(epoch, identityUid, mappings)
      : epoch.then((number) => grantsAt(number, identityUid, mappings));
  }

  function grantsAt(epoch: number, identityUid: string, mappings: readonly string[]) {
    // Security case Q5: uids have no spaces.
    const key = mappings.length === 0 ? identityUid : [identityUid, ...mappings].join(" ");
    const known = memory.find(epoch, key);
    if (!known) return readGrants(epoch, key, identityUid, mappings);
    hits++;
    return known;
  }

  async function readGrants(epoch: number, key: string, identityUid: string, mappings: readonly string[]) {
    misses++;
    const held = await source.findHeldRoles(identityUid);
    if (!held) return undefined;
    const mapped = await Promise.all(mappings.map((uid) => source.findMappedRole(uid)));
    const grants = combine([...held, ...mapped.filter((role) => role !== undefined)]);
    memory.keep(epoch, key, grants);
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
