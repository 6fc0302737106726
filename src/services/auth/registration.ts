// What becomes of a person whom a login provider has vouched for: registered, known again, or invited.
import { ApiError, Code, permissionDenied } from "../../aip/errors.ts";
import { insertProviderMember } from "../../storage/providers.ts";
import type { Transaction } from "../../storage/session.ts";
import { type Claims, normalizeIssuer } from "../../sts/claim-match.ts";
import { checkVisible } from "../../sts/claim-text.ts";
import { fitsIndex } from "../../sts/identity-rules.ts";
import { inheritedClaims } from "../../sts/inherited-claims.ts";
import { acceptInvite } from "./accept-invite.ts";
import { bindOnce, findPerson, type Person, registerPerson } from "./people.ts";

/** The reason of the error for somebody who would have to register. */
export const notRegistered = "NOT_REGISTERED";

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
  readonly provider?: { readonly uid: string; readonly groupUid: string; readonly defaultRole: string };
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
  if (knownOnly && !(await findPerson(tx, person))) {
    throw new ApiError(Code.NOT_FOUND, "Not found: there is no account yet: register first", { reason: notRegistered });
  }
  const uid = await registerPerson(tx, person);
  // Once, so that whoever loses the role does not get it back by signing in again.
  if (provider && (await insertProviderMember(tx, provider.uid, uid))) {
    await bindOnce(tx, uid, provider.defaultRole, provider.groupUid);
  }
  const groupUid = invite === "" ? "" : await acceptInvite(tx, invite, uid, person, vouches);
  return { uid, groupUid };
}
