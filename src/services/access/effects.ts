// Computes what a change of role bindings does to the access of identities, with the class that authorizes calls.
// An identity's capabilities change only at the groups of its role bindings. These groups divide the tree into regions. A change has the
// same effect everywhere in a region.
import { Access } from "../../authz/access.ts";
import { combineRoles } from "../../authz/grants.ts";
import {
  addCapabilities,
  type CapabilitySet,
  capabilityNames,
  capabilitySet,
  missingCapabilities,
} from "../../model/capabilities.ts";
import { type GrantedRole, isInTerm } from "../../model/grants.ts";
import { isBelow, isWithin, rootOf } from "../../model/uid.ts";
import { readCounter } from "../../storage/engine/counters.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import { effectiveGroup, type ReachingBinding } from "../../storage/iam/grants.ts";
import { findHeldRoles } from "../../storage/iam/held-roles.ts";
import { suspendedOrganizations } from "../../storage/iam/scim-suspensions.ts";

/** A role binding whose capabilities change. */
export interface ChangedGrant {
  /** The uid of the binding; empty for a new one. */
  readonly uid: string;
  readonly identityUid: string;
  readonly groupUid: string;
  /** Numbers of the Capability enum: none for a new binding. */
  readonly before: readonly number[];
  /** None for a deleted binding. */
  readonly after: readonly number[];
}

/** The effect of a change on an identity in one region. */
export interface Effect {
  readonly identityUid: string;
  /** The group at the top of the region. */
  readonly groupUid: string;
  /** The number of other groups of the region. */
  readonly groupsBelow: number;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly kept: readonly string[];
  /** The bindings that the change leaves alone and that give the kept capabilities. */
  readonly keptBy: readonly ReachingBinding[];
}

/** How many role bindings of one identity count. */
const maxBindings = 1000;

/** Returns the effects of a change on one identity. `isWhole` is false if the identity has too many bindings to read. */
export async function effectsOn(
  session: Session,
  identityUid: string,
  changed: readonly ChangedGrant[],
): Promise<{ effects: Effect[]; isWhole: boolean }> {
  const suspended = await suspendedOrganizations(session, identityUid);
  const changing = changed
    .filter(({ groupUid }) => !suspended.has(rootOf(groupUid)))
    .flatMap((grant) => placed(identityUid, grant));
  if (changing.length === 0) return { effects: [], isWhole: true };
  const scope = [...new Set(changing.map(({ place }) => place))];
  const page = { descending: false, after: "", skip: 0, limit: maxBindings + 1 };
  const found = await findHeldRoles(session, { identityUid, scope, time: session.termTime() }, page);
  const others = found
    .slice(0, maxBindings)
    .filter((binding) => !binding.isSuspended && isInTerm(binding, session.termTime()))
    .filter(({ uid }) => !changed.some((grant) => grant.uid === uid))
    .flatMap((binding) => placed(identityUid, binding));
  const regions = mergeRegions(regionsOf(changing, others));
  const effects: Effect[] = [];
  for (const region of regions) effects.push(await measured(session, identityUid, region, regions));
  return { effects, isWhole: found.length <= maxBindings };
}

/** Something with the group where it takes effect. */
type Placed<T> = T & { readonly place: string };

function placed<T extends { readonly groupUid: string }>(identityUid: string, one: T): Placed<T>[] {
  const place = effectiveGroup(identityUid, one.groupUid);
  return place === undefined ? [] : [{ ...one, place }];
}

/** A group where a role begins, and what the change does there. */
interface Region extends Pick<Effect, "groupUid" | "gained" | "lost" | "kept" | "keptBy"> {}

/** Returns the groups where roles begin inside of the change, ancestors first. */
function regionsOf(changing: readonly Placed<ChangedGrant>[], others: readonly Placed<ReachingBinding>[]): Region[] {
  const kept = others.map(({ place, capabilities }) => ({ groupUid: place, capabilities }));
  const before = accessOf(
    changing.map(({ place, before: capabilities }) => ({ groupUid: place, capabilities })),
    kept,
  );
  const after = accessOf(
    changing.map(({ place, after: capabilities }) => ({ groupUid: place, capabilities })),
    kept,
  );
  const isChanged = (uid: string) => changing.some(({ place }) => isWithin(uid, place));
  const tops = new Set([...changing, ...others].map(({ place }) => place).filter(isChanged));
  return [...tops].sort().map((groupUid): Region => {
    const [held, holds] = [before.heldAt(groupUid), after.heldAt(groupUid)];
    const kept = keptNames(changing, groupUid, held, holds);
    const keptSet = new Set(kept);
    const gives = ({ capabilities }: ReachingBinding) =>
      capabilityNames(capabilitySet(capabilities)).some((name) => keptSet.has(name));
    return {
      groupUid,
      gained: missingCapabilities(held, holds),
      lost: missingCapabilities(holds, held),
      kept,
      keptBy: kept.length === 0 ? [] : others.filter((other) => isWithin(groupUid, other.place) && gives(other)),
    };
  });
}

function accessOf(changing: readonly GrantedRole[], others: readonly GrantedRole[]): Access {
  return new Access(combineRoles([...changing, ...others]), {});
}

/** Returns what the changed bindings give only before or only after the change, and what is held at the group both times. */
function keptNames(
  changing: readonly Placed<ChangedGrant>[],
  groupUid: string,
  held: CapabilitySet,
  holds: CapabilitySet,
): string[] {
  const [given, gives] = [capabilitySet([]), capabilitySet([])];
  for (const { place, before, after } of changing) {
    if (!isWithin(groupUid, place)) continue;
    addCapabilities(given, capabilitySet(before));
    addCapabilities(gives, capabilitySet(after));
  }
  const changes = new Set([...missingCapabilities(given, gives), ...missingCapabilities(gives, given)]);
  const isLasting = new Set(capabilityNames(held.map((word, i) => word & holds[i]!)));
  return [...changes].filter((name) => isLasting.has(name));
}

/** Leaves out each region with the same effect as the region around it, and those without an effect. */
function mergeRegions(regions: readonly Region[]): Region[] {
  const merged: Region[] = [];
  for (const region of regions) {
    const { gained, lost, kept } = region;
    const around = merged.findLast(({ groupUid }) => isBelow(region.groupUid, groupUid));
    if (around && sameEffect(around, region)) continue;
    if (gained.length + lost.length + kept.length > 0) merged.push(region);
  }
  return merged;
}

function sameEffect(a: Region, b: Region): boolean {
  const same = (x: readonly string[], y: readonly string[]) => x.join() === y.join();
  return same(a.gained, b.gained) && same(a.lost, b.lost) && same(a.kept, b.kept);
}

/** Counts the groups of a region: those below its top, without the regions inside of it. */
async function measured(
  session: Session,
  identityUid: string,
  region: Region,
  all: readonly Region[],
): Promise<Effect> {
  const inner = all.filter(({ groupUid }) => isBelow(groupUid, region.groupUid));
  let groupsBelow = await readCounter(session, region.groupUid, groupCollection.kind);
  for (const { groupUid } of inner) {
    if (inner.some((other) => isBelow(groupUid, other.groupUid))) continue;
    groupsBelow -= 1 + (await readCounter(session, groupUid, groupCollection.kind));
  }
  return { identityUid, groupsBelow, ...region };
}
