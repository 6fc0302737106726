// The limits of a new token, and the grants that it displays. Limits only ever remove access (security case X3).
import { permissionDenied } from "../aip/errors.ts";
import type { Narrowing } from "../authn/caller.ts";
import type { Grants } from "../authz/grants.ts";
import {
  addCapabilities,
  type CapabilitySet,
  capabilitySet,
  formatCapabilitySet,
  intersectCapabilities,
  missingCapabilities,
} from "../model/capabilities.ts";
import { ancestorsOf, isWithin } from "../model/uid.ts";
import type { WantedToken } from "./exchange-request.ts";

/**
 * Returns the requested limits within those of the subject token.
 *
 * Throws PERMISSION_DENIED for a scope or capability outside them, and for a scope in which the identity has no grant.
 */
export function narrow(
  wanted: Pick<WantedToken, "scopes" | "capabilities">,
  presented: Narrowing,
  grants: Grants,
): Narrowing {
  const scopes = narrowScopes(wanted.scopes, presented.scopes, grants);
  const capabilities = narrowCapabilities(wanted.capabilities, presented.capabilities);
  return { scopes, capabilities };
}

/**
 * Returns the grants that a token displays, as text by group uid: one per group with a role binding, or one per scope
 * with the grants that apply there.
 */
export function shownGrants({ scopes, capabilities }: Narrowing, grants: Grants): Record<string, string> {
  const shown = scopes ? scopes.map((scope) => [scope, heldAt(scope, grants)] as const) : [...grants];
  const narrowed = (set: CapabilitySet) => (capabilities ? intersectCapabilities(set, capabilities) : set);
  return Object.fromEntries(shown.map(([uid, set]) => [uid, formatCapabilitySet(narrowed(set))]));
}

function narrowScopes(wanted: WantedToken["scopes"], presented: Narrowing["scopes"], grants: Grants) {
  for (const scope of wanted ?? []) {
    if (presented && !presented.some((outer) => isWithin(scope, outer))) {
      throw permissionDenied("the scope lies outside those of the subject token", { scope });
    }
    if (!reaches(scope, grants)) throw permissionDenied("the identity holds no role at the scope", { scope });
  }
  return wanted ?? presented;
}

function narrowCapabilities(wanted: CapabilitySet | undefined, presented: CapabilitySet | undefined) {
  const [beyond] = wanted && presented ? missingCapabilities(presented, wanted) : [];
  if (beyond !== undefined) {
    throw permissionDenied("the subject token is narrowed to other capabilities", { capability: beyond });
  }
  return wanted ?? presented;
}

/** Reports whether a role is bound at the scope, on an ancestor or on a descendant. */
function reaches(scope: string, grants: Grants): boolean {
  if ([scope, ...ancestorsOf(scope)].some((uid) => grants.has(uid))) return true;
  return [...grants.keys()].some((uid) => isWithin(uid, scope));
}

function heldAt(scope: string, grants: Grants): CapabilitySet {
  const held = capabilitySet([]);
  for (const uid of [scope, ...ancestorsOf(scope)]) {
    const set = grants.get(uid);
    if (set) addCapabilities(held, set);
  }
  return held;
}
