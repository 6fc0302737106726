// Whose word an identity provider makes an organization take.
import { permissionDenied } from "../../../aip/errors.ts";
import { builtInRoles } from "../../../authz/built-in-roles.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findRolesOf, findRolesOfIdentities, findRolesOfPeople } from "../../../storage/iam/issuer-roles.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import type { StoredRelationship } from "../../../storage/schema/tables/iam.ts";
import { exactAudiences } from "../../../sts/audiences.ts";
import { comparisonsOf, normalizeIssuer } from "../../../sts/claim-match.ts";
import { newStepBudget } from "../../../sts/patterns/step-budget.ts";
import { fromColumns } from "../identities/relationships.ts";

/** A provider, as far as it says whose tokens are taken. */
type Vouching = Pick<IdentityProviderRow, "parent" | "issuer" | "clientId">;

/** Bindings of identities that are looked at, in the organization and outside; where there are more, nobody is let through. */
const maxBindings = 1000;

/**
 * Whoever decides whose word is believed gives away all that it can be believed about: tokens of the issuer for any client, which
 * whoever runs that client comes by, then stand for people and identities of the organization (security case R2). Throws unless
 * the caller holds what those hold already. As with the relationship of an identity, what is bound later is up to who binds it.
 */
export async function requireRolesOfIssuer(session: Session, provider: Vouching, call: Call): Promise<void> {
  const access = accessOf(call);
  const { parent: root } = provider;
  const isLacking = (capabilities: readonly number[], uid: string) =>
    access.missing(capabilitySet(capabilities), uid).length > 0;
  // What is held at the root is held everywhere in the organization, and most often that is all.
  const roles = [...builtInRoles, ...(await findRolesOf(session, root))];
  const lacking = new Map(roles.filter((role) => isLacking(role.capabilities, root)).map((role) => [role.uid, role]));
  const [issuer, uids] = [normalizeIssuer(provider.issuer), [...lacking.keys()]];
  const people = await findRolesOfPeople(session, root, issuer, uids);
  if (people.some(({ roleUid, groupUid }) => isLacking(lacking.get(roleUid)!.capabilities, groupUid)))
    throw refused(root);
  const { held, isComplete } = await findRolesOfIdentities(session, root, issuer, uids, maxBindings);
  const isBeyond = held.some(
    ({ capabilities, groupUid, relationship }) =>
      isLacking(capabilities, groupUid) && speaksFor(provider, relationship),
  );
  if (isBeyond || !isComplete) throw refused(root);
}

/** Whether tokens of the provider may be those that an identity asks for, whatever they say of their subject. */
function speaksFor({ issuer, clientId }: Vouching, relationship: StoredRelationship): boolean {
  const { case: kind, value } = fromColumns(relationship);
  if (kind !== "claimMatch") return false;
  return comparisonsOf(value, exactAudiences(clientId), newStepBudget())
    .filter(({ claim }) => claim === "iss" || claim === "aud")
    .every(({ matches }) => matches({ iss: issuer, aud: clientId }));
}

/** Neither whose role it is nor which: that is for whoever may list bindings. */
function refused(scope: string) {
  return permissionDenied(
    "the issuer speaks for people or identities of the organization that hold roles which the caller does not hold",
    { scope },
  );
}
