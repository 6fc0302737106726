// Remembers which grants allowed calls, until they are stored: the last day on which an identity used a capability by its grant at a group.
import { LRUCache } from "lru-cache";
import { dayMs } from "../base/clock.ts";

/** The uses of one identity by its grant at one group that are not stored yet. */
export interface Use {
  readonly identityUid: string;
  readonly groupUid: string;
  /** The number of the capability, and the last day of its use: days since the epoch, in UTC. */
  readonly days: ReadonlyMap<number, number>;
}

/** Records uses of the grants of one identity. */
export interface UseRecorder {
  /** Records that a grant at a group allowed something by a capability. */
  mark(groupUid: string, capability: number): void;
}

/** How many identities, and how many of their grants, are remembered. */
export interface UsageLimits {
  readonly usedIdentities: number;
  readonly usedGrants: number;
}

/** Returns the day of a time: days since the epoch, in UTC. */
export function usageDay(time: number): number {
  return Math.floor(time / dayMs);
}

/** The uses of one identity by its grant at one group. */
interface GrantUses {
  readonly identityUid: string;
  readonly groupUid: string;
  /** The last day of each capability. */
  readonly days: Map<number, number>;
  /** The capabilities whose day is not stored. */
  readonly unstored: Set<number>;
}

/** The uses that one process knows and those that it has yet to store. */
export class AccessUsage {
  readonly #limits: UsageLimits;
  readonly #identities: LRUCache<string, IdentityUses>;
  /** Grants with a capability that was not used before, as far as this process knows. */
  readonly #fresh = new Set<GrantUses>();
  /** Grants with a capability whose former use is stored. */
  readonly #repeated = new Set<GrantUses>();
  #grants = 0;
  #today: number;

  /** Creates an empty memory; `time` is in milliseconds since the epoch. */
  constructor(limits: UsageLimits, time: number) {
    this.#limits = limits;
    this.#today = usageDay(time);
    this.#identities = new LRUCache({
      max: limits.usedIdentities,
      dispose: (uses) => {
        this.#grants -= uses.forget();
      },
    });
  }

  /** Sets the day of the uses that follow. */
  advance(time: number): void {
    this.#today = usageDay(time);
  }

  /** Returns the recorder of an identity. */
  of(identityUid: string): UseRecorder {
    const known = this.#identities.get(identityUid);
    if (known) return known;
    const uses = new IdentityUses(identityUid, this);
    this.#identities.set(identityUid, uses);
    return uses;
  }

  get today(): number {
    return this.#today;
  }

  /** Counts a grant that is remembered from now on, and forgets those of the identities that were looked up longest ago. */
  grow(): void {
    this.#grants++;
    while (this.#grants > this.#limits.usedGrants && this.#identities.size > 1) this.#identities.pop();
  }

  /** Adds the use of a capability that was not used before on this day. */
  add(uses: GrantUses, capability: number): void {
    const waiting = this.#fresh.size + this.#repeated.size;
    // A later use is recorded, once the database responds again.
    if (waiting >= this.#limits.usedGrants) return;
    const isRepeated = uses.days.has(capability);
    uses.days.set(capability, this.#today);
    uses.unstored.add(capability);
    (isRepeated ? this.#repeated : this.#fresh).add(uses);
  }

  /** Removes and returns the uses to store: those of fresh grants; pass true for all. They are in the order of their keys. */
  take(isAll: boolean): Use[] {
    const taken = [...new Set(isAll ? [...this.#fresh, ...this.#repeated] : this.#fresh)];
    for (const uses of taken) {
      this.#fresh.delete(uses);
      this.#repeated.delete(uses);
    }
    return taken.map(takeUnstored).sort(compareUses);
  }

  /** Adds uses that could not be stored. */
  putBack(taken: readonly Use[]): void {
    for (const { identityUid, groupUid, days } of taken)
      this.#fresh.add({ identityUid, groupUid, days: new Map(days), unstored: new Set(days.keys()) });
  }
}

function takeUnstored({ identityUid, groupUid, days, unstored }: GrantUses): Use {
  const use = {
    identityUid,
    groupUid,
    days: new Map([...unstored].map((capability) => [capability, days.get(capability)!])),
  };
  unstored.clear();
  return use;
}

/** Concurrent transactions that store in this order do not deadlock. */
function compareUses(a: Use, b: Use): number {
  const [one, other] = [`${a.identityUid} ${a.groupUid}`, `${b.identityUid} ${b.groupUid}`];
  return one < other ? -1 : one > other ? 1 : 0;
}

class IdentityUses implements UseRecorder {
  readonly #identityUid: string;
  readonly #usage: AccessUsage;
  readonly #grants = new Map<string, GrantUses>();

  constructor(identityUid: string, usage: AccessUsage) {
    this.#identityUid = identityUid;
    this.#usage = usage;
  }

  mark(groupUid: string, capability: number): void {
    const uses = this.#grants.get(groupUid) ?? this.#open(groupUid);
    if (uses.days.get(capability) !== this.#usage.today) this.#usage.add(uses, capability);
  }

  /** Forgets all grants, and returns how many they were. Their unstored uses are stored nevertheless. */
  forget(): number {
    const count = this.#grants.size;
    this.#grants.clear();
    return count;
  }

  #open(groupUid: string): GrantUses {
    const uses: GrantUses = { identityUid: this.#identityUid, groupUid, days: new Map(), unstored: new Set() };
    this.#grants.set(groupUid, uses);
    this.#usage.grow();
    return uses;
  }
}
