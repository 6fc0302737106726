// Tokens of an organization's identity provider: they stand for its people, and for identities of that organization.
import { rootOf } from "../uid.ts";
import {
  type Assumption,
  type AssumptionDeps,
  assumeWithClaims,
  findPerson,
  type PeopleProvider,
  verifyPerson,
} from "./assumption.ts";
import type { Claims } from "./claim-match.ts";
import { claimDenied } from "./denials.ts";
import { inheritedClaims } from "./inherited-claims.ts";
import type { PresentedToken } from "./presented-token.ts";

/** An organization's identity provider, as far as the exchange of its tokens goes. */
export interface OrganizationProvider extends PeopleProvider {
  readonly uid: string;
  /** The uids of the mappings that hold for the groups in these claims. */
  mappingsOf(claims: Claims): Promise<string[]>;
}

/** With a token of the provider: the person that it speaks of, once registered, or an identity of the organization. */
export async function assumeByProvider(
  deps: AssumptionDeps,
  provider: OrganizationProvider,
  uid: string,
  presented: PresentedToken,
): Promise<Assumption> {
  const claims = await verifyPerson(deps, provider, presented);
  const person = await findPerson(deps.directory, presented);
  if (uid !== "" && uid !== person?.uid) {
    if (rootOf(uid) !== rootOf(provider.uid)) throw claimDenied("iss", claims.iss);
    return await assumeWithClaims(deps.directory, uid, claims, [provider.clientId]);
  }
  if (!person) throw claimDenied("sub", claims.sub);
  const mappings = await provider.mappingsOf(claims);
  return {
    uid: person.uid,
    claims: inheritedClaims(claims),
    // Other organizations may trust the same issuer, and others may be the client: whoever runs this one can come by such
    // tokens of anybody, and must get nothing by them that is not of this organization (security case X1).
    narrowing: { scopes: [rootOf(provider.uid)] },
    ...(mappings.length > 0 && { mappings }),
  };
}
