// Finds what a sign-in would accept: an invite, an organization that a scope names, or that of the identity provider.
import { isBuiltInRole } from "../../authz/built-in-roles.ts";
import { isUid, isWithin, rootOf } from "../../model/uid.ts";
import { readInvite } from "../../services/auth/accept-invite.ts";
import { findNewDefaultRole } from "../../services/auth/registration.ts";
import type { Person } from "../../services/auth/users.ts";
import { showPending } from "../../services/iam/memberships/shown-organizations.ts";
import { isKnownAt } from "../../services/iam/users/membership.ts";
import { userUid } from "../../services/iam/users/user-uid.ts";
import { findRow } from "../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";
import { groupCollection, identityCollection, roleCollection } from "../../storage/iam/collections.ts";
import { findDelegation } from "../../storage/iam/delegations.ts";
import { findBindingsIn } from "../../storage/iam/memberships.ts";
import { findBinding } from "../../storage/iam/role-bindings.ts";
import type { Claims } from "../../sts/claim-match.ts";
import type { LoginProvider } from "../login-provider.ts";
import type { LoginRequest } from "../login-request.ts";

/** A sign-in to settle. */
export interface Asked {
  readonly request: LoginRequest;
  readonly provider: LoginProvider;
  readonly claims: Claims;
}

/** A sign-in to settle, with its person. */
export interface AskedPerson extends Asked {
  readonly person: Person;
  /** Whether the verified addresses of the provider count in a group. */
  readonly vouches: (groupUid: string) => boolean;
}

/** An offer of a sign-in, with the facts that the person may learn about it. */
export interface Offer {
  readonly source: "invite" | "provider" | "scope";
  /** The uid of the organization. */
  readonly organization: string;
  /** Whether the person has joined the organization already. */
  readonly isJoined: boolean;
  /** Its name. Empty if it is not verified, and nothing proves that the person may learn it. */
  readonly name: string;
  /** The name of the group of an invite, if it is a subgroup; empty otherwise. */
  readonly group: string;
  /** The names of roles. */
  readonly roles: readonly string[];
  /** Whether there are custom roles besides, whose names are not shown. */
  readonly hasCustomRoles: boolean;
  /** The maker of an invite. Empty if unknown. */
  readonly maker: string;
  /** The uid of the role of an invite or a provider: another role of the same name is another offer. Empty for a scope. */
  readonly roleUid: string;
}

/** How many role bindings are read to find whether a scope reaches one. */
const maxBindings = 1000;

/** Returns the offers that a sign-in would accept. Throws the errors of an invite that cannot be accepted. */
export async function findOffers(tx: Transaction, asked: AskedPerson): Promise<Offer[]> {
  const identityUid = userUid(asked.person.issuer, asked.person.subject);
  const given = [await inviteOffer(tx, asked, identityUid), await providerOffer(tx, asked, identityUid)];
  const offers = given.filter((offer) => offer !== undefined);
  const { identity, scopes } = asked.request;
  // Another identity than that of the person belongs to an organization, and joins none.
  const isOwn = identity === "" || identity === identityUid;
  for (const scope of isOwn ? scopes.filter(isUid) : []) {
    if (offers.some(({ organization }) => organization === rootOf(scope))) continue;
    const offer = await scopeOffer(tx, scope, identityUid);
    if (offer) offers.push(offer);
  }
  return offers;
}

/** Nothing is new for a person who has joined the organization and has the role: the invite then stays as it is. */
async function inviteOffer(
  tx: Transaction,
  { request, person, vouches }: AskedPerson,
  identityUid: string,
): Promise<Offer | undefined> {
  if (request.invite === "") return undefined;
  const { uid, parent, roleUid } = await readInvite(tx, request.invite, person, vouches);
  const isJoined = await isKnownAt(tx, identityUid, parent);
  if (isJoined && (await findBinding(tx, parent, roleUid, identityUid))) return undefined;
  // The holder of the code may see the details of the invite.
  return {
    source: "invite",
    organization: rootOf(parent),
    isJoined,
    roleUid,
    hasCustomRoles: false,
    name: (await findRow(tx, groupCollection, rootOf(parent)))?.name ?? "",
    group: parent.includes("/") ? ((await findRow(tx, groupCollection, parent))?.name ?? "") : "",
    roles: [(await findRow(tx, roleCollection, roleUid))?.name ?? ""],
    maker: await makerOf(tx, uid, parent),
  };
}

async function makerOf(session: Session, inviteUid: string, groupUid: string): Promise<string> {
  const { makerUid = null } = (await findDelegation(session, "group_invites", inviteUid)) ?? {};
  const maker = makerUid === null ? undefined : await findRow(session, identityCollection, makerUid);
  // A maker who has left is a stranger to the organization.
  if (!maker || !(await isKnownAt(session, maker.uid, groupUid))) return "";
  return maker.email === "" ? maker.name : `${maker.name} (${maker.email})`;
}

async function providerOffer(
  session: Session,
  { provider: { uid, organization } }: AskedPerson,
  identityUid: string,
): Promise<Offer | undefined> {
  if (!organization) return undefined;
  const { groupUid } = organization;
  const isJoined = await isKnownAt(session, identityUid, groupUid);
  const roleUid = (await findNewDefaultRole(session, { uid, groupUid }, identityUid)) ?? "";
  if (isJoined && roleUid === "") return undefined;
  const root = await findRow(session, groupCollection, rootOf(groupUid));
  const role = roleUid === "" ? undefined : await findRow(session, roleCollection, roleUid);
  const isNamed = role !== undefined && isBuiltInRole(roleUid);
  return {
    source: "provider",
    organization: rootOf(groupUid),
    isJoined,
    roleUid,
    group: "",
    maker: "",
    name: root && (root.verified || isJoined) ? root.name : "",
    roles: isNamed ? [role.name] : [],
    hasCustomRoles: role !== undefined && !isNamed,
  };
}

async function scopeOffer(session: Session, scope: string, identityUid: string): Promise<Offer | undefined> {
  const person = { identityUid, groupUid: rootOf(scope) };
  if (await isKnownAt(session, identityUid, scope)) return undefined;
  const bindings = await findBindingsIn(session, person, maxBindings);
  // Elsewhere the sign-in fails: the person holds nothing there.
  if (!bindings.some(({ parent }) => isWithin(scope, parent) || isWithin(parent, scope))) return undefined;
  const { name = "", roles = [], hasCustomRoles = false } = await showPending(session, person);
  const shown = { name, roles: [...roles], hasCustomRoles };
  return {
    source: "scope",
    organization: person.groupUid,
    isJoined: false,
    roleUid: "",
    group: "",
    maker: "",
    ...shown,
  };
}
