// Decides which delegations are in force. A delegation can depend on others: mappings and static keys, by which its maker holds roles,
// are delegations too (decision 0035).
import { Access } from "../../../authz/access.ts";
import { isBuiltInRole } from "../../../authz/built-in-roles.ts";
import { combineRoles } from "../../../authz/grants.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import { capabilitySet, missingCapabilities } from "../../../model/capabilities.ts";
import {
  activeRoles,
  type GrantedRole,
  hasTerm,
  nextBoundary,
  type SessionRoles,
  type Term,
  type TimedRole,
} from "../../../model/grants.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import {
  type Delegation,
  type DelegationKind,
  findDelegation,
  findRoleCapabilities,
} from "../../../storage/iam/delegations.ts";
import { findGrants } from "../../../storage/iam/grants.ts";
import { findMappedRole } from "../../../storage/iam/providers.ts";
import { hasStaticKeys } from "../../../storage/iam/vouchers.ts";
import { findFoundedRoles, findGiven, type Given } from "./delegated-roles.ts";
import { effectiveAmong, effectiveMappings, findProvisioning } from "./effective-mappings.ts";

/** How many delegations one evaluation reads beyond the given ones, nearest first. The rest counts as not in force. */
const maxFollowed = 250;

/** The maximum number of evaluation rounds. Dependencies of usual depth take two. */
const maxRounds = 8;

/** How many begins and ends of terms one evaluation looks ahead. */
const maxBoundaries = 32;

/** The reason why a delegation is not in force. */
export interface Inactivity {
  readonly reason: "MAKER_UNKNOWN" | "MAKER_DELETED" | "MAKER_LACKS_CAPABILITIES" | "ROLE_EXTENDED";
  /** The names of the capabilities that the maker lacks, or that were added to the role since. */
  readonly capabilities: readonly string[];
}

/** Identifies a delegation. */
export type DelegationRef = Pick<Delegation, "kind" | "uid">;

/** The roles of a delegation's maker, and the delegations that they depend on. */
interface Maker {
  readonly roles: readonly TimedRole[];
  /** The static keys of the maker. If they are not in force, the maker holds only `founded`. */
  readonly keys: DelegationRef | undefined;
  /** The roles of a maker with static keys in organizations that it created. */
  readonly founded: readonly GrantedRole[];
  /** The roles that the maker holds through mappings, if these are in force. */
  readonly mapped: readonly { readonly mapping: DelegationRef; readonly role: GrantedRole }[];
}

/** A delegation with everything that decides whether it is in force. */
interface Node {
  readonly delegation: Delegation | undefined;
  readonly given: Given | undefined;
  readonly maker: Maker | undefined;
}

/** When delegations are in force. */
export interface DelegationTerms {
  /** The terms of each delegation, in the order of time; none if it is not in force now or later. */
  readonly terms: readonly (readonly Term[])[];
  /** The time until which this is known; Infinity if nothing changes later. */
  readonly knownUntil: number;
}

/** Evaluates delegations at one time in one session. Reads each of them once. */
export interface Evaluator {
  /** Returns for each delegation why it is not in force, or undefined if it is. */
  inactivitiesOf(named: readonly DelegationRef[]): Promise<(Inactivity | undefined)[]>;
  /** Returns for each delegation when it is in force from now on. */
  termsOf(named: readonly DelegationRef[]): Promise<DelegationTerms>;
  /** Returns the roles that a delegation gives, or undefined if it does not exist. */
  givenBy(delegation: DelegationRef): MaybePromise<Given | undefined>;
}

/**
 * Makes an evaluator. It never reads a delegation or a role again, so use it for one snapshot only. `known` are delegations that were read
 * from it. `time` decides which terms of role bindings count.
 */
export function newEvaluator(
  session: Session,
  known: readonly Delegation[] = [],
  time = session.termTime(),
): Evaluator {
  const capabilitiesOf = memoizeByUid((uid) => findRoleCapabilities(session, uid));
  const given = new Map<string, MaybePromise<Given | undefined>>();
  const givenBy = (one: DelegationRef) => {
    const key = keyOf(one);
    const found = given.get(key) ?? findGiven(session, one.kind, one.uid, capabilitiesOf);
    given.set(key, found);
    return found;
  };
  const readNode = nodeReader(session, givenBy, new Map(known.map((one) => [keyOf(one), one])));
  const nodes = new Map<string, Node>();
  const inForce = new Set<string>();

  /** Returns the given delegations, and those that they depend on. */
  async function read(named: readonly DelegationRef[]): Promise<ReadonlyMap<string, Node>> {
    const queue = [...named];
    const reached = new Map<string, Node>();
    // The loop also reaches what it appends.
    for (const one of queue) {
      const key = keyOf(one);
      if (reached.has(key)) continue;
      if (!nodes.has(key) && reached.size >= named.length + maxFollowed) break;
      const node = nodes.get(key) ?? (await readNode(one));
      nodes.set(key, node);
      reached.set(key, node);
      queue.push(...dependenciesOf(node));
    }
    return reached;
  }

  return {
    givenBy,
    async inactivitiesOf(named) {
      // Only these: a list of delegations that are not in force would evaluate all of them again for each.
      settle(await read(named), inForce, time);
      return named.map((one) => evaluate(nodes.get(keyOf(one))!, inForce, time));
    },
    async termsOf(named) {
      const reached = await read(named);
      const { times, knownUntil } = boundariesOf(reached, time);
      const moments = [time, ...times].map((at) => {
        const inForceThen = new Set<string>();
        settle(reached, inForceThen, at);
        return { at, inForce: inForceThen };
      });
      return { terms: named.map((one) => termsAmong(moments, keyOf(one), knownUntil)), knownUntil };
    },
  };
}

/** Returns the times after this one at which terms in the nodes begin or end. They are known until the last one, if there are more. */
function boundariesOf(nodes: ReadonlyMap<string, Node>, time: number) {
  const timed = [...nodes.values()].flatMap(({ given, maker }) => [...(given?.roles ?? []), ...(maker?.roles ?? [])]);
  const terms = timed.filter(hasTerm);
  const times: number[] = [];
  let next = nextBoundary(terms, time);
  for (; next < Number.POSITIVE_INFINITY && times.length < maxBoundaries; next = nextBoundary(terms, next))
    times.push(next);
  return { times, knownUntil: next };
}

/** Returns the terms in which a delegation is in force, given who is in force from each of these times on. */
function termsAmong(
  moments: readonly { readonly at: number; readonly inForce: ReadonlySet<string> }[],
  key: string,
  knownUntil: number,
): Term[] {
  const terms: Term[] = [];
  let open: Pick<Term, "startTime"> | undefined;
  for (const [i, { at, inForce }] of moments.entries()) {
    if (inForce.has(key)) open ??= { startTime: i === 0 ? null : at };
    else if (open) {
      terms.push({ ...open, expireTime: at });
      open = undefined;
    }
  }
  if (open) terms.push({ ...open, expireTime: knownUntil === Number.POSITIVE_INFINITY ? null : knownUntil });
  return terms;
}

/**
 * Adds the delegations whose makers hold enough through those in force already. A delegation never justifies itself, not even
 * through others.
 */
function settle(nodes: ReadonlyMap<string, Node>, inForce: Set<string>, time: number): void {
  // Dependencies were read after their dependents, so evaluate in reverse order.
  const open = [...nodes].reverse().filter(([key]) => !inForce.has(key));
  for (let round = 0, added = -1; round < maxRounds && added !== 0; round++) {
    added = 0;
    for (const [key, node] of open) {
      if (inForce.has(key) || evaluate(node, inForce, time)) continue;
      inForce.add(key);
      added++;
    }
  }
}

/** Returns why a delegation is not in force, or undefined if it is. */
export async function inactivityOf(session: Session, kind: DelegationKind, uid: string) {
  return (await newEvaluator(session).inactivitiesOf([{ kind, uid }]))[0];
}

/**
 * Returns the roles that an identity holds by mappings that are in force: those of its session, and those of its provisioned groups. Their
 * terms are those in which the makers of the mappings hold enough, from `time` on.
 */
export async function findSessionRoles(
  session: Session,
  identityUid: string,
  mappingUids: readonly string[] = [],
  time = session.termTime(),
): Promise<SessionRoles> {
  return await findTimedMappedRoles(session, await effectiveMappings(session, identityUid, mappingUids), time);
}

async function findTimedMappedRoles(
  session: Session,
  mappingUids: readonly string[],
  time: number,
): Promise<SessionRoles> {
  if (mappingUids.length === 0) return { roles: [], knownUntil: Number.POSITIVE_INFINITY };
  const { terms, knownUntil } = await newEvaluator(session, [], time).termsOf(mappingUids.map(mappingOf));
  const roles: TimedRole[] = [];
  for (const [i, uid] of mappingUids.entries()) {
    const role = terms[i]!.length > 0 ? await findMappedRole(session, uid) : undefined;
    if (role) roles.push(...terms[i]!.map((term) => ({ role, ...term })));
  }
  return { roles, knownUntil };
}

/** Makes the function that reads a delegation. It reads shared makers and mapped roles once. */
function nodeReader(session: Session, givenBy: Evaluator["givenBy"], known: ReadonlyMap<string, Delegation>) {
  const findHeld = memoizeByUid((uid) => findGrants(session, uid));
  const findIdentity = memoizeByUid((uid) => findRow(session, identityCollection, uid));
  const findMapped = memoizeByUid((uid) => findMappedRole(session, uid));
  const findProvisioned = memoizeByUid((uid) => findProvisioning(session, uid));

  async function readMaker({ makerUid: uid, mappings }: Delegation): Promise<Maker | undefined> {
    const holder = uid === null ? undefined : await findHeld(uid);
    const identity = uid === null ? undefined : await findIdentity(uid);
    if (!holder || !identity) return undefined;
    const mapped: { mapping: DelegationRef; role: GrantedRole }[] = [];
    for (const mapping of effectiveAmong(mappings, await findProvisioned(identity.uid))) {
      const role = await findMapped(mapping);
      if (role) mapped.push({ mapping: mappingOf(mapping), role });
    }
    const keys: DelegationRef | undefined = hasStaticKeys(identity)
      ? { kind: "identities", uid: identity.uid }
      : undefined;
    const founded = keys ? await findFoundedRoles(session, identity.uid) : [];
    return { roles: holder.roles, keys, founded, mapped };
  }

  return async (one: DelegationRef): Promise<Node> => {
    const given = await givenBy(one);
    const delegation = given && (known.get(keyOf(one)) ?? (await findDelegation(session, one.kind, one.uid)));
    return { given, delegation, maker: delegation && (await readMaker(delegation)) };
  };
}

function memoizeByUid<T>(find: (uid: string) => MaybePromise<T>): (uid: string) => MaybePromise<T> {
  const found = new Map<string, MaybePromise<T>>();
  return (uid) => {
    const known = found.get(uid) ?? find(uid);
    found.set(uid, known);
    return known;
  };
}

function dependenciesOf({ maker }: Node): DelegationRef[] {
  if (!maker) return [];
  return [...(maker.keys ? [maker.keys] : []), ...maker.mapped.map(({ mapping }) => mapping)];
}

/**
 * The kinds whose makers must also hold what is added later: roles bound to an identity with static keys, mappings made after a SCIM token,
 * and extended roles of a rule of access requests. Reviews give the same at all times.
 */
const openKinds: readonly DelegationKind[] = ["identities", "scim_tokens", "access_request_rules", "access_reviews"];

function evaluate(
  { delegation, given, maker }: Node,
  inForce: ReadonlySet<string>,
  now: number,
): Inactivity | undefined {
  if (!given || !delegation) return { reason: "MAKER_UNKNOWN", capabilities: [] };
  const { kind, makerUid, isInstallation, capabilities, time } = delegation;
  const roles = activeRoles(given.roles, now);
  const { roleUid } = given;
  // Capabilities added to a built-in role by an upgrade are not ROLE_EXTENDED: the maker has to hold them too.
  const isOpen = openKinds.includes(kind) || isBuiltInRole(roleUid);
  const added = isOpen ? [] : capabilitiesBeyond(roles, capabilities);
  if (added.length > 0) return { reason: "ROLE_EXTENDED", capabilities: added };
  if (isInstallation) return undefined;
  if (makerUid === null) return { reason: time === 0 ? "MAKER_UNKNOWN" : "MAKER_DELETED", capabilities: [] };
  const access = accessOf(maker, inForce, now);
  const missing = new Set(
    roles.flatMap(({ groupUid, capabilities: wanted }) => access.missing(capabilitySet(wanted), groupUid)),
  );
  return missing.size > 0 ? { reason: "MAKER_LACKS_CAPABILITIES", capabilities: [...missing] } : undefined;
}

/**
 * Returns what a maker holds through bindings and mappings in force. A maker whose static keys are not in force holds only what it has in
 * organizations that it created.
 */
function accessOf(maker: Maker | undefined, inForce: ReadonlySet<string>, now: number): Access {
  if (!maker) return nothing;
  if (maker.keys && !inForce.has(keyOf(maker.keys))) return new Access(combineRoles(maker.founded), {});
  const mapped = maker.mapped.filter(({ mapping }) => inForce.has(keyOf(mapping))).map(({ role }) => role);
  return new Access(combineRoles([...activeRoles(maker.roles, now), ...mapped]), {});
}

const nothing = new Access(new Map(), {});

/** Returns the names of the capabilities that were not promised when the delegation was made. */
function capabilitiesBeyond(roles: readonly GrantedRole[], promised: readonly number[]): string[] {
  return missingCapabilities(capabilitySet(promised), capabilitySet(roles.flatMap(({ capabilities }) => capabilities)));
}

function mappingOf(uid: string): DelegationRef {
  return { kind: "external_group_role_mappings", uid };
}

function keyOf({ kind, uid }: DelegationRef): string {
  return `${kind} ${uid}`;
}
