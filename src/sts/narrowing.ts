// What a new token is narrowed to, and the grants that it shows. Narrowing only ever takes away (security case X3).
import { permissionDenied } from "../aip/errors.ts";
import type { Narrowing } from "../authn/caller.ts";
import type { Grants } from "../authz/access.ts";
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
 * What is asked for, within what the presented token is narrowed to already.
 *
 * PERMISSION_DENIED for a scope or capability beyond that, and for a scope where the identity holds nothing.
 */
export function narrow(
  wanted: Pick<WantedToken, "scopes" | "capabilities">,
  presented: Narrowing,
  grants: Grants,
): Narrowing {
  const scopes = narrowScopes(wanted.scopes, presented.scopes, grants);
  const capabilities = narrowCapabilities(wanted.capabilities, presented.capabilities);
  return { ...(scopes && { scopes }), ...(capabilities && { capabilities }) };
}

/**
 * The grants that a token shows, as text by group uid: one for each group where a role is bound, or else one for each
 * scope, holding what is bound there and above.
 */
export function shownGrants({ scopes, capabilities }: Narrowing, grants: Grants): Record<string, string> {
  const shown = scopes ? scopes.map((scope) => [scope, heldAt(scope, grants)] as const) : [...grants];
  const narrowed = (set: CapabilitySet) => (capabilities ? intersectCapabilities(set, capabilities) : set);
  return Object.fromEntries(shown.map(([uid, set]) => [uid, formatCapabilitySet(narrowed(set))]));
}

function narrowScopes(wanted: WantedToken["scopes"], presented: Narrowing["scopes"], grants: Grants) {
  for (const scope of wanted ?? []) {
    if (presented && !presented.some((outer) => isWithin(scope, outer))) {
      throw permissionDenied("the scope lies outside those of the presented token", { scope });
    }
    if (!reaches(scope, grants)) throw permissionDenied("the identity holds no role at the scope", { scope });
  }
  return wanted ?? presented;
}

function narrowCapabilities(wanted: CapabilitySet | undefined, presented: CapabilitySet | undefined) {
  const [beyond] = wanted && presented ? missingCapabilities(presented, wanted) : [];
  if (beyond !== undefined) {
    throw permissionDenied("the presented token is narrowed to other capabilities", { capability: beyond });
  }
  return wanted ?? presented;
}

/** Whether a role is bound at the scope, above it or below it. */
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
