// What becomes of a person whom a login provider has vouched for: registered, known again, or invited.
import { ApiError, Code, permissionDenied } from "../../aip/errors.ts";
import { isWithin } from "../../model/uid.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import { deleteMembership, insertProviderMember } from "../../storage/iam/providers.ts";
import { findBindingsOf } from "../../storage/iam/role-bindings.ts";
import { type Claims, normalizeIssuer } from "../../sts/claim-match.ts";
import { checkVisible } from "../../sts/claim-text.ts";
import { fitsIndex } from "../../sts/identity-rules.ts";
import { inheritedClaims } from "../../sts/inherited-claims.ts";
import { inactivityOf } from "../iam/delegations/active-delegations.ts";
import { findGiven } from "../iam/delegations/delegated-roles.ts";
import { inactive } from "../iam/delegations/inactive-delegations.ts";
import { accept } from "../iam/users/membership.ts";
import { acceptInvite } from "./accept-invite.ts";
import { ensureRoleBinding, findUser, type Person, registerUser } from "./users.ts";

/** The reason of the error for somebody who would have to register. */
export const notRegistered = "NOT_REGISTERED";

/** An organization's identity provider, and the group whose people come by it. */
interface Provider {
  readonly uid: string;
  readonly groupUid: string;
}

/** Bindings of a person that are looked at. */
const maxBindings = 1000;

/** A person and what they ask for. */
export interface Registration {
  readonly person: Person;
  /** The code of an invite to accept, or empty. */
  readonly invite: string;
  /** Whether somebody who is not known yet is turned away. */
  readonly knownOnly: boolean;
  /** Whether the issuer of the person's token is believed about addresses at a group. */
  readonly vouches: (groupUid: string) => boolean;
  /** The organization's identity provider that the person comes by, and the role that it gives them once. */
  readonly provider?: Provider;
}

/** Who registered, and the group that they joined by an invite; empty for none. */
export interface Registered {
  readonly uid: string;
  readonly groupUid: string;
}

/** The person that the claims of an ID token speak of. PERMISSION_DENIED for a subject that nobody may have. */
export function personOf(claims: Claims): Person {
  const { iss, sub, name } = claims;
  if (typeof sub !== "string" || sub === "")
    throw permissionDenied("the login provider names a subject that is no text", { claim: "sub" });
  // Security case T11.
  const problem = checkVisible(sub);
  if (problem !== undefined)
    throw permissionDenied(`the login provider names a subject that cannot be used: it ${problem}`, { claim: "sub" });
  const issuer = normalizeIssuer(String(iss));
  if (!fitsIndex(issuer, sub))
    throw permissionDenied("the login provider names a subject that is too long", { claim: "sub" });
  return {
    issuer,
    subject: sub,
    name: typeof name === "string" ? name : "",
    claims: inheritedClaims(claims),
  };
}

/** Registers a person, or knows one again, and accepts the invite. Nothing of it happens when any of it is refused. */
export async function register(tx: Transaction, registration: Registration): Promise<Registered> {
  const { person, invite, knownOnly, vouches, provider } = registration;
  if (knownOnly && !(await findUser(tx, person))) {
    throw new ApiError(Code.NOT_FOUND, "Not found: there is no account yet: register first", { reason: notRegistered });
  }
  const uid = await registerUser(tx, person);
  const groupUid = invite === "" ? "" : await acceptInvite(tx, invite, uid, person, vouches);
  if (provider) {
    await accept(tx, uid, provider.groupUid);
    await giveDefaultRole(tx, provider, uid);
  }
  return { uid, groupUid };
}

/**
 * Gives the default role of a provider, as it is now, to somebody who comes by it for the first time. Once, so that a person who loses
 * the role does not get it back by signing in again.
 */
async function giveDefaultRole(tx: Transaction, { uid, groupUid }: Provider, identityUid: string): Promise<void> {
  if (!(await insertProviderMember(tx, uid, identityUid))) return;
  const given = await findGiven(tx, "identity_providers", uid);
  const inactivity = await inactivityOf(tx, "identity_providers", uid);
  if (given && !inactivity) return await ensureRoleBinding(tx, identityUid, given.roleUid, groupUid);
  // A person who holds another role there is let in with that, and gets the default role once it is confirmed.
  const bindings = await findBindingsOf(tx, "identityUid", identityUid, maxBindings);
  if (!inactivity || bindings.some(({ parent }) => isWithin(parent, groupUid)))
    return await deleteMembership(tx, uid, identityUid);
  throw inactive("identity_providers", uid, inactivity);
}
