// Finds the ways in which a user can sign in: by the operator's login provider, or by an identity provider of an organization.
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import { findSignInProviders } from "../../../storage/iam/providers.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import { findSuspensionsOf } from "../../../storage/iam/scim-suspensions.ts";
import { findScimUsersByIdentity } from "../../../storage/iam/scim-users.ts";
import { readLoginIssuer } from "../../../storage/installation/login-issuer.ts";
import { normalizeIssuer } from "../../../sts/claim-match.ts";

/** How many identity providers of one issuer are tried. */
const maxProviders = 100;

/**
 * Whether a user can sign in, and reaches an organization then. Identity providers of other organizations count once the user has signed in
 * by them.
 */
export async function canSignIn(
  session: Session,
  { uid, issuer }: Pick<IdentityRow, "uid" | "issuer">,
  { groupUid, withoutProvider }: { readonly groupUid: string; readonly withoutProvider?: string | undefined },
): Promise<boolean> {
  if (issuer === "") return false;
  const known = normalizeIssuer(issuer);
  if (normalizeIssuer(await readLoginIssuer(session)) === known) return true;
  // Providers are stored as they were written.
  const issuers = [known, known.replace(/^https:\/\/(?=accounts\.google\.com$)/, "")];
  const user = { issuers: [...new Set(issuers)], identityUid: uid, groupUid };
  for (const providerUid of await findSignInProviders(session, user, maxProviders))
    if (providerUid !== withoutProvider && !(await findSignInProblem(session, providerUid, uid))) return true;
  return false;
}

/** Returns why a user may not have sessions of an identity provider; undefined if the user may. */
export async function findSignInProblem(
  session: Session,
  providerUid: string,
  identityUid: string,
): Promise<"deactivated" | "not_provisioned" | undefined> {
  const provider = await findRow(session, identityProviderCollection, providerUid);
  if ((await findSuspensionsOf(session, identityUid)).includes(providerUid)) return "deactivated";
  if (!provider?.scimEnabled) return undefined;
  const users = await findScimUsersByIdentity(session, identityUid);
  return users.some((user) => user.providerUid === providerUid && user.isActive) ? undefined : "not_provisioned";
}
