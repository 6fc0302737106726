import type { Narrowing } from "../authn/caller.ts";
import {
  type CapabilitySet,
  hasCapability,
  intersectCapabilities,
  missingCapabilities,
} from "../model/capabilities.ts";
import { isWithin } from "../model/uid.ts";

/** What the role bindings of an identity add up to: group uid -> capabilities held there and below. */
export type Grants = ReadonlyMap<string, CapabilitySet>;

/** The subtrees that a list may show: these groups and everything below. No group lies below another. */
export type Scope = readonly string[];

/** What one caller may do: live grants, narrowed by the caller's token. */
export class Access {
  readonly #grants: Grants;
  readonly #narrowing: Narrowing;
  /** The access epoch of the grants: while it is the same, so are they. */
  readonly epoch: number;

  constructor(grants: Grants, narrowing: Narrowing, epoch = 0) {
    this.#grants = grants;
    this.#narrowing = narrowing;
    this.epoch = epoch;
  }

  /** Whether the capability (an enum number) is held at the uid, by a grant there or on an ancestor. */
  has(capability: number, uid: string): boolean {
    return (
      this.#isOpen(capability) &&
      this.#isInside(uid) &&
      this.#anyGrantAbove(uid, (set) => hasCapability(set, capability))
    );
  }

  /** Names of the capabilities in `wanted` that are not held at the uid. */
  missing(wanted: CapabilitySet, uid: string): string[] {
    const held = new Uint32Array(wanted.length);
    if (this.#isInside(uid)) {
      this.#anyGrantAbove(uid, (set) => {
        for (let i = 0; i < held.length; i++) held[i]! |= set[i]!;
        return false;
      });
    }
    const { capabilities } = this.#narrowing;
    return missingCapabilities(capabilities ? intersectCapabilities(held, capabilities) : held, wanted);
  }

  /** The subtrees where all of these capabilities are held; empty when they are held nowhere. */
  scope(capabilities: readonly number[]): Scope {
    if (!capabilities.every((capability) => this.#isOpen(capability))) return [];
    const roots = [...this.#grants.keys()].filter((uid) =>
      capabilities.every((c) => this.#anyGrantAbove(uid, (set) => hasCapability(set, c))),
    );
    return outermost(this.#narrow(outermost(roots)));
  }

  /** Whether anything is held in an organization, by whatever grant. */
  reaches(organization: string): boolean {
    return [...this.#grants.keys()].some((uid) => isWithin(uid, organization));
  }

  /** Whether the token reaches everything that the identity does. */
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

  /** Walks the uid's own prefixes, the uid itself last. */
  #anyGrantAbove(uid: string, test: (set: CapabilitySet) => boolean): boolean {
    for (let slash = uid.indexOf("/"); slash >= 0; slash = uid.indexOf("/", slash + 1)) {
      const set = this.#grants.get(uid.slice(0, slash));
      if (set && test(set)) return true;
    }
    const own = this.#grants.get(uid);
    return own !== undefined && test(own);
  }
}

/** Drops uids that lie within another one of the list, and repetitions. */
export function outermost(uids: readonly string[]): Scope {
  // Byte order puts an ancestor before what lies below it, and everything below it next.
  const sorted = [...uids].sort();
  const kept: string[] = [];
  for (const uid of sorted) {
    const last = kept.at(-1);
    if (last === undefined || !isWithin(uid, last)) kept.push(uid);
  }
  return kept;
}
