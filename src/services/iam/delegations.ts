// Whether what gives authority to others later on is in force: authority is checked when it is used
// (docs/decisions/0035-authority-is-checked-when-used.md).
import { ApiError, failedPrecondition } from "../../aip/errors.ts";
import { Access } from "../../authz/access.ts";
import { isBuiltInRole } from "../../authz/built-in-roles.ts";
import { capabilitySet, missingCapabilities } from "../../authz/capabilities.ts";
import { combineRoles } from "../../authz/policy.ts";
import { findRow } from "../../storage/collection.ts";
import {
  type Delegation,
  type DelegationKind,
  findDelegation,
  findRoleCapabilities,
} from "../../storage/delegations.ts";
import { findHolder, type HeldRole } from "../../storage/grants.ts";
import { findMappedRole } from "../../storage/providers.ts";
import type { Session } from "../../storage/session.ts";
import { subscriptionCollection } from "../events/rows.ts";
import { externalGroupRoleMappingCollection, identityProviderCollection } from "./provider-rows.ts";
import { groupInviteCollection, identityCollection } from "./rows.ts";
import { hasStaticKeys, subscriptionCapabilities } from "./vouchers.ts";

/** Vouchers of vouchers that are followed; who is further away vouches for nothing. */
const maxDepth = 8;

/** Why something gives no authority. */
export interface Inactivity {
  readonly reason: "MAKER_UNKNOWN" | "MAKER_DELETED" | "MAKER_LACKS_CAPABILITIES" | "ROLE_EXTENDED";
  /** Names of the capabilities that the maker lacks, or that the role was given since. */
  readonly capabilities: readonly string[];
}

/** What something would give if it were used now. */
export interface Given {
  readonly roles: readonly HeldRole[];
  /** The uid of the role; empty where it gives none, or several. */
  readonly roleUid: string;
}

/** What is being looked at already: nothing vouches for itself, by however many others. */
type Path = readonly string[];

/** What something would give now, by its kind and uid; undefined when it does not exist. */
export async function findGiven(session: Session, kind: DelegationKind, uid: string): Promise<Given | undefined> {
  switch (kind) {
    case "group_invites": {
      const row = await findRow(session, groupInviteCollection, uid);
      return row && (await givenRole(session, row.roleUid, row.parent));
    }
    case "external_group_role_mappings": {
      const row = await findRow(session, externalGroupRoleMappingCollection, uid);
      return row && (await givenRole(session, row.roleUid, row.scope));
    }
    case "identity_providers":
    case "scim_tokens": {
      const row = await findRow(session, identityProviderCollection, uid);
      return row && (await givenRole(session, row.defaultRole, row.parent));
    }
    case "subscriptions": {
      const row = await findRow(session, subscriptionCollection, uid);
      return row && { roles: [{ groupUid: row.parent, capabilities: subscriptionCapabilities }], roleUid: "" };
    }
    case "identities": {
      const holder = await findHolder(session, uid);
      return holder && { roles: holder.roles, roleUid: "" };
    }
  }
}

/** Why something gives no authority; undefined when it does. */
export async function inactivityOf(
  session: Session,
  kind: DelegationKind,
  uid: string,
  path: Path = [],
): Promise<Inactivity | undefined> {
  const given = await findGiven(session, kind, uid);
  const delegation = await findDelegation(session, kind, uid);
  if (!given || !delegation) return { reason: "MAKER_UNKNOWN", capabilities: [] };
  return await judge(session, delegation, given, path);
}

/** As `inactivityOf`, where the rows are known. */
export async function judge(
  session: Session,
  delegation: Delegation,
  { roles, roleUid }: Given,
  path: Path = [],
): Promise<Inactivity | undefined> {
  const { kind, uid, makerUid, isInstallation, capabilities, mappings, time } = delegation;
  // Keys promise nothing: what is bound to their identity later is for the maker to hold, too. A built-in role grows with the program.
  const isOpen = kind === "identities" || isBuiltInRole(roleUid);
  const added = isOpen ? [] : beyond(roles, capabilities);
  if (added.length > 0) return { reason: "ROLE_EXTENDED", capabilities: added };
  if (isInstallation) return undefined;
  if (makerUid === null) return { reason: time === 0 ? "MAKER_UNKNOWN" : "MAKER_DELETED", capabilities: [] };
  const name = `${kind} ${uid}`;
  const isCircular = path.includes(name) || path.length >= maxDepth;
  const access = isCircular ? nothing : await accessOfMaker(session, makerUid, mappings, [...path, name]);
  const missing = new Set(
    roles.flatMap(({ groupUid, capabilities: wanted }) => access.missing(capabilitySet(wanted), groupUid)),
  );
  if (missing.size > 0) return { reason: "MAKER_LACKS_CAPABILITIES", capabilities: [...missing] };
  return undefined;
}

/** The role of a mapping, if it is in force; undefined also when there is no such mapping. */
export async function findVouchedRole(session: Session, mappingUid: string, path: Path = []) {
  const role = await findMappedRole(session, mappingUid);
  const isInForce = role && !(await inactivityOf(session, "external_group_role_mappings", mappingUid, path));
  return isInForce ? role : undefined;
}

/**
 * Throws FAILED_PRECONDITION unless something gives authority. Whoever uses it may be a stranger: what its maker holds is told to
 * those alone who may list it.
 */
export async function requireInForce(session: Session, kind: DelegationKind, uid: string): Promise<void> {
  const inactivity = await inactivityOf(session, kind, uid);
  if (inactivity) throw inactive(kind, uid, inactivity);
}

/** What is told to whoever tries to use something that gives no authority. */
export function inactive(kind: DelegationKind, uid: string, { reason }: Inactivity): ApiError {
  const { code, message, details } = failedPrecondition(inactiveType, `${texts[kind]} ${remedyFor(uid)}`, uid);
  return new ApiError(code, message, { details, reason: inactiveType, metadata: { cause: reason, kind, uid } });
}

const inactiveType = "DELEGATION_INACTIVE";

const texts: Readonly<Record<DelegationKind, string>> = {
  group_invites: "the invite is not in force: whoever made it no longer holds what it gives.",
  subscriptions: "the subscription is not in force: whoever made it may no longer make it.",
  identity_providers: "the identity provider cannot give its default role: whoever set it no longer holds that role.",
  scim_tokens: "the SCIM token is not in force: whoever made it no longer holds the default role.",
  external_group_role_mappings: "the mapping is not in force: whoever made it no longer holds its role.",
  identities: "the static keys are not in force: whoever chose them no longer holds what their identity holds.",
};

function remedyFor(uid: string): string {
  return `An owner confirms it with \`gatehouse iam delegations confirm ${uid}\`, or deletes it`;
}

/** Why static keys let nobody in; undefined when they do. */
export async function staticKeysInactivity(session: Session, uid: string): Promise<string | undefined> {
  return (await inactivityOf(session, "identities", uid)) && `${texts.identities} ${remedyFor(uid)}`;
}

/** Why a subscription is sent nothing; undefined when it is. */
export async function subscriptionInactivity(session: Session, uid: string): Promise<string | undefined> {
  const inactivity = await inactivityOf(session, "subscriptions", uid);
  return inactivity && describeInactivity(inactivity);
}

/** The reason in words, for those who may know what the maker holds. */
export function describeInactivity({ reason, capabilities }: Inactivity): string {
  switch (reason) {
    case "MAKER_UNKNOWN":
      return "nobody is known to have made it";
    case "MAKER_DELETED":
      return "the identity that made it was deleted";
    case "MAKER_LACKS_CAPABILITIES":
      return `the identity that made it does not hold ${capabilities.join(", ") || "what it gives"}`;
    case "ROLE_EXTENDED":
      return `its role has more than was promised: ${capabilities.join(", ")}`;
  }
}

const nothing = new Access(new Map(), {});

/** What a maker holds by bindings and by mappings that are in force. An identity whose own keys are not in force holds nothing. */
async function accessOfMaker(session: Session, uid: string, mappings: readonly string[], path: Path): Promise<Access> {
  const [holder, identity] = [await findHolder(session, uid), await findRow(session, identityCollection, uid)];
  if (!holder || !identity) return nothing;
  if (hasStaticKeys(identity) && (await inactivityOf(session, "identities", uid, path))) return nothing;
  const mapped: HeldRole[] = [];
  for (const mapping of mappings) {
    const role = await findVouchedRole(session, mapping, path);
    if (role) mapped.push(role);
  }
  return new Access(combineRoles([...holder.roles, ...mapped]), {});
}

/** Names of the capabilities of some roles that were not promised. */
function beyond(roles: readonly HeldRole[], promised: readonly number[]): string[] {
  return missingCapabilities(capabilitySet(promised), capabilitySet(roles.flatMap(({ capabilities }) => capabilities)));
}

async function givenRole(session: Session, roleUid: string, groupUid: string): Promise<Given> {
  return { roles: [{ groupUid, capabilities: await findRoleCapabilities(session, roleUid) }], roleUid };
}
