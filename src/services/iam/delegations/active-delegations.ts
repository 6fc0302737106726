// Which delegations are in force. Each may depend on others: what its maker holds by mappings, or by an identity with static keys, has
// makers of its own (docs/decisions/0035).
import { Access } from "../../../authz/access.ts";
import { isBuiltInRole } from "../../../authz/built-in-roles.ts";
import { combineRoles } from "../../../authz/policy.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import { capabilitySet, missingCapabilities } from "../../../model/capabilities.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { type Delegation, type DelegationKind, findDelegation } from "../../../storage/iam/delegations.ts";
import { findGrants, type GrantedRole } from "../../../storage/iam/grants.ts";
import { findMappedRole } from "../../../storage/iam/providers.ts";
import { hasStaticKeys } from "../../../storage/iam/vouchers.ts";
import { findGiven, type Given } from "./delegated-roles.ts";

/** Delegations that one question follows, the nearest first; those beyond are not in force. */
const maxFollowed = 250;

/** How often all of them are judged at most. Dependencies of everyday depth take two rounds. */
const maxRounds = 8;

/** Why something gives no authority. */
export interface Inactivity {
  readonly reason: "MAKER_UNKNOWN" | "MAKER_DELETED" | "MAKER_LACKS_CAPABILITIES" | "ROLE_EXTENDED";
  /** Names of the capabilities that the maker lacks, or that the role was given since. */
  readonly capabilities: readonly string[];
}

/** Names a delegation. */
export type Named = Pick<Delegation, "kind" | "uid">;

/** What the maker of a delegation holds, and which other delegations that depends on. */
interface Maker {
  readonly roles: readonly GrantedRole[];
  /** The static keys of the maker: unless they are in force, the maker holds nothing. */
  readonly keys: Named | undefined;
  /** What they hold by mappings, each if it is in force. */
  readonly mapped: readonly { readonly mapping: Named; readonly role: GrantedRole }[];
}

/** A delegation with all that decides whether it is in force. */
interface Node {
  readonly delegation: Delegation | undefined;
  readonly given: Given | undefined;
  readonly maker: Maker | undefined;
}

/** Judges the delegations of one session, and reads each once. */
export interface Judge {
  /** Why each of some delegations gives no authority; undefined for those that do. */
  inactivitiesOf(named: readonly Named[]): Promise<(Inactivity | undefined)[]>;
}

/** Makes a judge. What it has read it does not read again: it is for one question, or several of one snapshot. */
export function newJudge(session: Session): Judge {
  const readNode = nodeReader(session);
  const nodes = new Map<string, Node>();
  const inForce = new Set<string>();

  async function read(named: readonly Named[]): Promise<void> {
    const queue = [...named];
    const seen = new Set<string>();
    // What is appended meanwhile is reached, too.
    for (const one of queue) {
      const key = keyOf(one);
      if (seen.has(key)) continue;
      seen.add(key);
      if (!nodes.has(key) && seen.size > named.length + maxFollowed) return;
      const node = nodes.get(key) ?? (await readNode(one));
      nodes.set(key, node);
      queue.push(...dependenciesOf(node));
    }
  }

  /**
   * Begins with nothing in force, and adds what its makers vouch for by what is in force already. So nothing vouches for itself, by
   * however many others, and each is judged a few times only, however many ways lead to it.
   */
  function settle(): void {
    // What others depend on was read after them.
    const open = [...nodes].reverse().filter(([key]) => !inForce.has(key));
    for (let round = 0, added = -1; round < maxRounds && added !== 0; round++) {
      added = 0;
      for (const [key, node] of open) {
        if (inForce.has(key) || judge(node, inForce)) continue;
        inForce.add(key);
        added++;
      }
    }
  }

  return {
    async inactivitiesOf(named) {
      await read(named);
      settle();
      return named.map((one) => judge(nodes.get(keyOf(one))!, inForce));
    },
  };
}

/** Why something gives no authority; undefined when it does. */
export async function inactivityOf(session: Session, kind: DelegationKind, uid: string) {
  return (await newJudge(session).inactivitiesOf([{ kind, uid }]))[0];
}

/** The roles of those mappings that are in force. */
export async function findVouchedRoles(session: Session, mappingUids: readonly string[]): Promise<GrantedRole[]> {
  if (mappingUids.length === 0) return [];
  const inactivities = await newJudge(session).inactivitiesOf(mappingUids.map(mappingOf));
  const roles: GrantedRole[] = [];
  for (const [i, uid] of mappingUids.entries()) {
    const role = inactivities[i] ? undefined : await findMappedRole(session, uid);
    if (role) roles.push(role);
  }
  return roles;
}

/** Makes what reads delegations, and what many of them have in common once: makers and mapped roles. */
function nodeReader(session: Session) {
  const findHeld = memoizeByUid((uid) => findGrants(session, uid));
  const findIdentity = memoizeByUid((uid) => findRow(session, identityCollection, uid));
  const findMapped = memoizeByUid((uid) => findMappedRole(session, uid));

  async function readMaker({ makerUid: uid, mappings }: Delegation): Promise<Maker | undefined> {
    const holder = uid === null ? undefined : await findHeld(uid);
    const identity = uid === null ? undefined : await findIdentity(uid);
    if (!holder || !identity) return undefined;
    const mapped: { mapping: Named; role: GrantedRole }[] = [];
    for (const mapping of mappings) {
      const role = await findMapped(mapping);
      if (role) mapped.push({ mapping: mappingOf(mapping), role });
    }
    const keys: Named | undefined = hasStaticKeys(identity) ? { kind: "identities", uid: identity.uid } : undefined;
    return { roles: holder.roles, keys, mapped };
  }

  return async ({ kind, uid }: Named): Promise<Node> => {
    const given = await findGiven(session, kind, uid);
    const delegation = given && (await findDelegation(session, kind, uid));
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

function dependenciesOf({ maker }: Node): Named[] {
  if (!maker) return [];
  return [...(maker.keys ? [maker.keys] : []), ...maker.mapped.map(({ mapping }) => mapping)];
}

function judge({ delegation, given, maker }: Node, inForce: ReadonlySet<string>): Inactivity | undefined {
  if (!given || !delegation) return { reason: "MAKER_UNKNOWN", capabilities: [] };
  const { kind, makerUid, isInstallation, capabilities, time } = delegation;
  const { roles, roleUid } = given;
  // Keys promise nothing: what is bound to their identity later is for the maker to hold, too. A built-in role grows with the program.
  const isOpen = kind === "identities" || isBuiltInRole(roleUid);
  const added = isOpen ? [] : beyond(roles, capabilities);
  if (added.length > 0) return { reason: "ROLE_EXTENDED", capabilities: added };
  if (isInstallation) return undefined;
  if (makerUid === null) return { reason: time === 0 ? "MAKER_UNKNOWN" : "MAKER_DELETED", capabilities: [] };
  const access = accessOf(maker, inForce);
  const missing = new Set(
    roles.flatMap(({ groupUid, capabilities: wanted }) => access.missing(capabilitySet(wanted), groupUid)),
  );
  return missing.size > 0 ? { reason: "MAKER_LACKS_CAPABILITIES", capabilities: [...missing] } : undefined;
}

/** What a maker holds by bindings and by mappings that are in force. An identity whose own keys are not in force holds nothing. */
function accessOf(maker: Maker | undefined, inForce: ReadonlySet<string>): Access {
  if (!maker || (maker.keys && !inForce.has(keyOf(maker.keys)))) return nothing;
  const mapped = maker.mapped.filter(({ mapping }) => inForce.has(keyOf(mapping))).map(({ role }) => role);
  return new Access(combineRoles([...maker.roles, ...mapped]), {});
}

const nothing = new Access(new Map(), {});

/** Names of the capabilities of some roles that were not promised. */
function beyond(roles: readonly GrantedRole[], promised: readonly number[]): string[] {
  return missingCapabilities(capabilitySet(promised), capabilitySet(roles.flatMap(({ capabilities }) => capabilities)));
}

function mappingOf(uid: string): Named {
  return { kind: "external_group_role_mappings", uid };
}

function keyOf({ kind, uid }: Named): string {
  return `${kind} ${uid}`;
}
