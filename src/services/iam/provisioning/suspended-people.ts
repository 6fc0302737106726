// A deactivated person has no access to the organization under any identity: their own, or one that their tokens can become
// (docs/design/sign-in.md).
import { permissionDenied } from "../../../aip/errors.ts";
import { rootOf } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findFoundedOrganizations } from "../../../storage/iam/founding-bindings.ts";
import { suspendedOrganizations } from "../../../storage/iam/scim-suspensions.ts";
import type { PersonClaims } from "../../../sts/assumable-identity.ts";
import { isUserUid, userUidsOf } from "../users/user-uid.ts";

/** Returns the uids of the organizations that have deactivated the person of a token. */
export async function findSuspendedOrganizations(
  session: Session,
  { iss, sub }: PersonClaims,
): Promise<ReadonlySet<string>> {
  if (typeof iss !== "string" || typeof sub !== "string") return new Set();
  return await suspendedOrganizations(session, ...userUidsOf(iss, sub));
}

/**
 * Throws PERMISSION_DENIED if the organization of an identity has deactivated the person, unless the identity created other organizations:
 * these do not lose their owner. Call it with verified claims only.
 */
export async function requireActivePerson(session: Session, identityUid: string, claims: PersonClaims): Promise<void> {
  if (isUserUid(identityUid)) return;
  const organizations = await findSuspendedOrganizations(session, claims);
  if (!organizations.has(rootOf(identityUid))) return;
  const founded = await findFoundedOrganizations(session, identityUid);
  if (founded.every((organization) => organizations.has(organization))) throw deactivated();
}

/** Returns the error for a deactivated person: who presents a valid token of the person may know. */
export function deactivated() {
  return permissionDenied("the identity provider has deactivated this person", { check: "deactivated" });
}
