import { isDeepStrictEqual } from "node:util";
import type { Narrowing } from "../authn/caller.ts";
import {
  addCapabilities,
  type CapabilitySet,
  capabilitySet,
  hasCapability,
  intersectCapabilities,
  missingCapabilities,
} from "../model/capabilities.ts";
import { isInTerm, lastingRoles } from "../model/grants.ts";
import { isWithin } from "../model/uid.ts";
import { combineRoles, type Grants, type Terms } from "./grants.ts";
import type { UseRecorder } from "./usage.ts";

/** The subtrees that a list may show: these groups and their descendants. No group is a descendant of another. */
export type Scope = readonly string[];

/** The permissions of one caller: live grants, limited by the caller's token. */
export class Access {
  readonly #grants: Grants;
  readonly #narrowing: Narrowing;
  readonly #terms: Terms | undefined;
  /** The access epoch of the grants. The grants are current while the epoch is the same, until `until`. */
  readonly epoch: number;
  /** Records the uses of the grants; undefined to record none. */
  readonly uses: UseRecorder | undefined;

  /** `terms` are those of the roles in the grants; undefined if all roles are held without a term. */
  constructor(grants: Grants, narrowing: Narrowing, epoch = 0, terms?: Terms, uses?: UseRecorder) {
    this.#grants = grants;
    this.#narrowing = narrowing;
    this.#terms = terms;
    this.epoch = epoch;
    this.uses = uses;
  }

  /** The first time at which a role of the caller begins or ends; Infinity if there is none. */
  get until(): number {
    return this.#terms?.until ?? Number.POSITIVE_INFINITY;
  }

  /** The times at which roles of the caller end that are in force, in ascending order. */
  get ends(): readonly number[] {
    if (!this.#terms) return [];
    const { roles, time } = this.#terms;
    const ends = roles.filter((each) => isInTerm(each, time)).flatMap(({ expireTime }) => expireTime ?? []);
    return [...new Set(ends)].sort((a, b) => a - b);
  }

  /** Returns the part of the access that stays until a time; Infinity for what has no end. */
  lasting(end: number): Access {
    if (!this.#terms) return this;
    const { roles, time } = this.#terms;
    return new Access(combineRoles(lastingRoles(roles, time, end)), this.#narrowing, this.epoch);
  }

  /** Reports whether the capability (an enum number) is granted at the uid or on an ancestor. */
  has(capability: number, uid: string): boolean {
    return this.#grantOf(capability, uid) !== undefined;
  }

  /** Reports whether all of the capabilities are granted at the uid, and records their use: for the decision about a call, not for previews. */
  use(capabilities: readonly number[], uid: string): boolean {
    const groups: string[] = [];
    for (const capability of capabilities) {
      const group = this.#grantOf(capability, uid);
      if (group === undefined) return false;
      groups.push(group);
    }
    if (this.uses) for (let i = 0; i < groups.length; i++) this.uses.mark(groups[i]!, capabilities[i]!);
    return true;
  }

  /** Returns the same access, whose uses are not recorded: for previews. */
  unrecorded(): Access {
    return new Access(this.#grants, this.#narrowing, this.epoch, this.#terms);
  }

  /** Returns the names of the capabilities in `wanted` that are not granted at the uid. */
  missing(wanted: CapabilitySet, uid: string): string[] {
    return missingCapabilities(this.heldAt(uid), wanted);
  }

  /** Returns all capabilities that are granted at the uid. */
  heldAt(uid: string): CapabilitySet {
    const held = capabilitySet([]);
    if (this.#isInside(uid)) {
      this.#firstGrantAbove(uid, (set) => {
        addCapabilities(held, set);
        return false;
      });
    }
    const { capabilities } = this.#narrowing;
    return capabilities ? intersectCapabilities(held, capabilities) : held;
  }

  /** Returns the subtrees in which all of these capabilities are granted. */
  scope(capabilities: readonly number[]): Scope {
    if (!capabilities.every((capability) => this.#isOpen(capability))) return [];
    const roots = [...this.#grants.keys()].filter((uid) =>
      capabilities.every((c) => this.#firstGrantAbove(uid, (set) => hasCapability(set, c)) !== undefined),
    );
    return outermost(this.#narrow(outermost(roots)));
  }

  /** Reports whether anything is granted anywhere in an organization. */
  reaches(organization: string): boolean {
    return [...this.#grants.keys()].some((uid) => isWithin(uid, organization));
  }

  /** Whether the access comes from these grants, and no others. */
  isOf(grants: Grants): boolean {
    return isDeepStrictEqual(this.#grants, grants);
  }

  /** Whether the access comes from the same reading of the grants, which are then equal. */
  hasGrantsOf(other: Access): boolean {
    return this.#grants === other.#grants;
  }

  /** Whether the token has the full access of the identity. */
  get isUnscoped(): boolean {
    return this.#narrowing.scopes === undefined;
  }

  #narrow(roots: Scope): string[] {
    const { scopes } = this.#narrowing;
    if (!scopes) return [...roots];
    return roots.flatMap((root) =>
      scopes.flatMap((scope) => (isWithin(scope, root) ? [scope] : isWithin(root, scope) ? [root] : [])),
    );
  }

  #isOpen(capability: number): boolean {
    const { capabilities } = this.#narrowing;
    return !capabilities || hasCapability(capabilities, capability);
  }

  #isInside(uid: string): boolean {
    const { scopes } = this.#narrowing;
    return !scopes || scopes.some((scope) => isWithin(uid, scope));
  }

  /** Returns the outermost group whose grant allows the capability at the uid. */
  #grantOf(capability: number, uid: string): string | undefined {
    if (!this.#isOpen(capability) || !this.#isInside(uid)) return undefined;
    return this.#firstGrantAbove(uid, (set) => hasCapability(set, capability));
  }

  /** Returns the first group that passes the test, of the uid and all of its ancestors, from the root to the uid itself. */
  #firstGrantAbove(uid: string, test: (set: CapabilitySet) => boolean): string | undefined {
    for (let slash = uid.indexOf("/"); slash >= 0; slash = uid.indexOf("/", slash + 1)) {
      const group = uid.slice(0, slash);
      const set = this.#grants.get(group);
      if (set && test(set)) return group;
    }
    const own = this.#grants.get(uid);
    return own !== undefined && test(own) ? uid : undefined;
  }
}

/** Removes uids that are descendants of another uid in the list, and duplicates. */
export function outermost(uids: readonly string[]): Scope {
  // In byte order an ancestor comes directly before all of its descendants.
  const sorted = [...uids].sort();
  const kept: string[] = [];
  for (const uid of sorted) {
    const last = kept.at(-1);
    if (last === undefined || !isWithin(uid, last)) kept.push(uid);
  }
  return kept;
}
