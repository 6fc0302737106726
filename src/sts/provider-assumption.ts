// Exchanges tokens of an organization's identity provider: for its users, and for identities of that organization.
import { rootOf } from "../model/uid.ts";
import type { AssumptionDeps, IdentityDirectory, UserProvider } from "./assumable-identity.ts";
import { type Assumption, assumeWithClaims, findUser, verifyUserToken } from "./assumption.ts";
import { exactAudiences } from "./audiences.ts";
import type { Claims } from "./claim-match.ts";
import { claimDenied } from "./denials.ts";
import { inheritedClaims } from "./inherited-claims.ts";
import type { SubjectToken } from "./subject-token.ts";

/** An organization's identity provider as the exchange sees it. */
export interface OrganizationProvider extends UserProvider {
  readonly uid: string;
  /** Throws PERMISSION_DENIED for a person who may not sign in by the provider. */
  admit(claims: Claims): Promise<void>;
  /** Returns the uids of the external group role mappings that apply to these claims of a user. */
  mappingsOf(claims: Claims, userUid: string): Promise<string[]>;
}

/**
 * Exchanges a token of the provider for the user that it is about, if registered, or for an identity of the
 * organization.
 */
export async function assumeByProvider(
  deps: AssumptionDeps,
  provider: OrganizationProvider,
  uid: string,
  presented: SubjectToken,
): Promise<Assumption> {
  const claims = await verifyUserToken(deps, provider, presented);
  await provider.admit(claims);
  const user = await findUser(deps.directory, presented);
  if (uid !== "" && uid !== user?.uid) {
    return await assumeOfOrganization(deps.directory, provider, uid, claims);
  }
  if (!user) throw claimDenied("sub", claims.sub);
  const mappings = await provider.mappingsOf(claims, user.uid);
  return {
    uid: user.uid,
    claims: inheritedClaims(claims),
    // Other organizations may trust the same issuer with another client. Their operators can obtain
    // tokens of any user, so the new token is limited to this organization (security case X1).
    narrowing: { scopes: [rootOf(provider.uid)] },
    mappings: mappings.length > 0 ? mappings : undefined,
  };
}

/**
 * Exchanges claims that a provider vouches for: for the identity with this uid, if its claim match accepts them. An
 * organization's provider is trusted for identities of that organization only (security case X1); the operator's, with
 * an empty uid, for all.
 */
export async function assumeOfOrganization(
  directory: IdentityDirectory,
  provider: { readonly uid: string; readonly clientId: string },
  uid: string,
  claims: Claims,
): Promise<Assumption> {
  if (provider.uid !== "" && rootOf(uid) !== rootOf(provider.uid)) throw claimDenied("iss", claims.iss);
  return await assumeWithClaims(directory, uid, claims, exactAudiences(provider.clientId));
}
