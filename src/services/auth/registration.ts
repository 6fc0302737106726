// Registers users who sign in at a login provider, and accepts their invites.
import { ApiError, Code, permissionDenied } from "../../aip/errors.ts";
import { isWithin } from "../../model/uid.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";
import { deleteMembership, insertProviderMember, isProviderMember } from "../../storage/iam/providers.ts";
import { findBinding, findBindingsOf } from "../../storage/iam/role-bindings.ts";
import { type Claims, normalizeIssuer } from "../../sts/claim-match.ts";
import { checkVisible } from "../../sts/claim-text.ts";
import { fitsIndex } from "../../sts/identity-rules.ts";
import { inheritedClaims } from "../../sts/inherited-claims.ts";
import { inactivityOf } from "../iam/delegations/active-delegations.ts";
import { findGiven } from "../iam/delegations/delegated-roles.ts";
import { endOf, inactive } from "../iam/delegations/inactive-delegations.ts";
import { accept } from "../iam/users/membership.ts";
import { acceptInvite } from "./accept-invite.ts";
import { ensureRoleBinding, findUser, type Person, registerUser } from "./users.ts";

/** The reason of the error for a user who has to register first. */
export const notRegistered = "NOT_REGISTERED";

/** The identity provider of an organization, and the group of that organization. */
interface Provider {
  readonly uid: string;
  readonly groupUid: string;
}

/** How many bindings of a user are read. */
const maxBindings = 1000;

/** A registration request. */
export interface Registration {
  readonly person: Person;
  /** The code of an invite to accept, or empty. */
  readonly invite: string;
  /** Whether the verified addresses of the issuer count in a group. */
  readonly vouches: (groupUid: string) => boolean;
  /** The identity provider of the sign-in, if it is that of an organization. It gives its default role once. */
  readonly provider?: Provider;
}

/** The registered user, and the group that they joined by an invite; empty if none. */
export interface Registered {
  readonly uid: string;
  readonly groupUid: string;
}

/** Returns the person of an ID token. Throws PERMISSION_DENIED for a subject that is not allowed. */
export function personOf(claims: Claims): Person {
  const { iss, sub, name } = claims;
  if (typeof sub !== "string" || sub === "")
    throw permissionDenied("the subject of the login provider is not a text", { claim: "sub" });
  // Security case T11.
  const problem = checkVisible(sub);
  if (problem !== undefined)
    throw permissionDenied(`the subject of the login provider cannot be used: it ${problem}`, { claim: "sub" });
  const issuer = normalizeIssuer(String(iss));
  if (!fitsIndex(issuer, sub))
    throw permissionDenied("the subject of the login provider is too long", { claim: "sub" });
  return {
    issuer,
    subject: sub,
    name: typeof name === "string" ? name : "",
    claims: inheritedClaims(claims),
  };
}

/** Throws NOT_FOUND unless the person is registered. */
export async function requireRegistered(tx: Transaction, person: Person): Promise<void> {
  if (await findUser(tx, person)) return;
  throw new ApiError(Code.NOT_FOUND, "Not found: there is no account yet; register first", { reason: notRegistered });
}

/** Registers a user or finds the registered one, and accepts the invite. Runs in one transaction, so it does all or nothing. */
export async function register(tx: Transaction, registration: Registration): Promise<Registered> {
  const { person, invite, vouches, provider } = registration;
  const uid = await registerUser(tx, person);
  const groupUid = invite === "" ? "" : await acceptInvite(tx, invite, uid, person, vouches);
  if (provider) {
    await accept(tx, uid, provider.groupUid);
    await giveDefaultRole(tx, provider, uid);
  }
  return { uid, groupUid };
}

/** Returns the default role that a sign-in through a provider would bind now; undefined for none. */
export async function findNewDefaultRole(
  session: Session,
  { uid, groupUid }: Provider,
  identityUid: string,
): Promise<string | undefined> {
  if (await isProviderMember(session, uid, identityUid)) return undefined;
  const given = await findGiven(session, "identity_providers", uid);
  if (!given || (await inactivityOf(session, "identity_providers", uid))) return undefined;
  return (await findBinding(session, groupUid, given.roleUid, identityUid)) ? undefined : given.roleUid;
}

/**
 * Gives the current default role of a provider to a user who signs in through it for the first time. Only once: a user who loses the
 * role does not regain it by another sign-in.
 */
async function giveDefaultRole(tx: Transaction, { uid, groupUid }: Provider, identityUid: string): Promise<void> {
  if (!(await insertProviderMember(tx, uid, identityUid))) return;
  const given = await findGiven(tx, "identity_providers", uid);
  const inactivity = await inactivityOf(tx, "identity_providers", uid);
  const expireTime = await endOf(tx, "identity_providers", uid);
  if (given && !inactivity) return await ensureRoleBinding(tx, identityUid, given.roleUid, groupUid, expireTime);
  // A user with another role in the organization can sign in, and gets the default role after it was confirmed.
  const bindings = await findBindingsOf(tx, "identityUid", identityUid, maxBindings);
  if (!inactivity || bindings.some(({ parent }) => isWithin(parent, groupUid)))
    return await deleteMembership(tx, uid, identityUid);
  throw inactive("identity_providers", uid, inactivity);
}
