// Tokens of an organization's identity provider: they stand for its people, and for identities of that organization.
import { rootOf } from "../model/uid.ts";
import type { AssumptionDeps, IdentityDirectory, PeopleProvider } from "./assumable-identity.ts";
import { type Assumption, assumeWithClaims, findPerson, verifyPerson } from "./assumption.ts";
import { exactAudiences } from "./audiences.ts";
import type { Claims } from "./claim-match.ts";
import { claimDenied } from "./denials.ts";
import { inheritedClaims } from "./inherited-claims.ts";
import type { SubjectToken } from "./subject-token.ts";

/** An organization's identity provider, as far as the exchange of its tokens goes. */
export interface OrganizationProvider extends PeopleProvider {
  readonly uid: string;
  /** The uids of the mappings that hold for the groups in these claims, which are those of a person. */
  mappingsOf(claims: Claims, userUid: string): Promise<string[]>;
}

/** With a token of the provider: the person that it speaks of, once registered, or an identity of the organization. */
export async function assumeByProvider(
  deps: AssumptionDeps,
  provider: OrganizationProvider,
  uid: string,
  presented: SubjectToken,
): Promise<Assumption> {
  const claims = await verifyPerson(deps, provider, presented);
  const person = await findPerson(deps.directory, presented);
  if (uid !== "" && uid !== person?.uid) {
    return await assumeOfOrganization(deps.directory, provider, uid, claims);
  }
  if (!person) throw claimDenied("sub", claims.sub);
  const mappings = await provider.mappingsOf(claims, person.uid);
  return {
    uid: person.uid,
    claims: inheritedClaims(claims),
    // Other organizations may trust the same issuer, and others may be the client: whoever runs this one can come by such
    // tokens of anybody, and must get nothing by them that is not of this organization (security case X1).
    narrowing: { scopes: [rootOf(provider.uid)] },
    ...(mappings.length > 0 && { mappings }),
  };
}

/**
 * With claims that a provider has vouched for: the identity with this uid, when it asks for them. What an organization's
 * provider says is good for the identities of that organization (security case X1); the operator's, whose uid is empty, is
 * believed everywhere.
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
