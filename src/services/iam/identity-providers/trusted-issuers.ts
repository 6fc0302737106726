// Checks who may decide which issuer an organization trusts.
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

/** The fields of a provider that decide which tokens it accepts. */
type TrustedIssuer = Pick<IdentityProviderRow, "parent" | "issuer" | "clientId">;

/** How many bindings of identities are read. If there are more, the call is denied. */
const maxBindings = 1000;

/**
 * Security case R2: trusting an issuer gives its tokens every role that users and identities of that issuer hold here. Throws
 * PERMISSION_DENIED unless the caller already holds these roles. Bindings made later are checked when they are made.
 */
export async function requireRolesOfIssuer(session: Session, provider: TrustedIssuer, call: Call): Promise<void> {
  const access = accessOf(call);
  const { parent: root } = provider;
  const isLacking = (capabilities: readonly number[], uid: string) =>
    access.missing(capabilitySet(capabilities), uid).length > 0;
  // Roles that the caller holds at the root cover the whole organization; in most cases these are all.
  const roles = [...builtInRoles, ...(await findRolesOf(session, root))];
  const lacking = new Map(roles.filter((role) => isLacking(role.capabilities, root)).map((role) => [role.uid, role]));
  const [issuer, uids] = [normalizeIssuer(provider.issuer), [...lacking.keys()]];
  const people = await findRolesOfPeople(session, root, issuer, uids);
  if (people.some(({ roleUid, groupUid }) => isLacking(lacking.get(roleUid)!.capabilities, groupUid)))
    throw refused(root);
  const { held, isComplete } = await findRolesOfIdentities(session, root, issuer, uids, maxBindings);
  const isBeyond = held.some(
    ({ capabilities, groupUid, relationship }) => isLacking(capabilities, groupUid) && canMatch(provider, relationship),
  );
  if (isBeyond || !isComplete) throw refused(root);
}

/** Whether tokens of the provider can match the claims of an identity, for some subject. */
function canMatch({ issuer, clientId }: TrustedIssuer, relationship: StoredRelationship): boolean {
  const { case: kind, value } = fromColumns(relationship);
  if (kind !== "claimMatch") return false;
  return comparisonsOf(value, exactAudiences(clientId), newStepBudget())
    .filter(({ claim }) => claim === "iss" || claim === "aud")
    .every(({ matches }) => matches({ iss: issuer, aud: clientId }));
}

/** Names neither the role nor its holder: the caller may not be allowed to list bindings. */
function refused(scope: string) {
  return permissionDenied(
    "users or identities of this issuer hold roles in the organization that the caller does not hold",
    { scope },
  );
}
