// Decides whether a person may sign in by an identity provider whose people a SCIM client provisions (docs/design/sign-in.md).
import { IdentityProvider_OIDC_CorrelationRule as CorrelationRule } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { type ApiError, permissionDenied } from "../../../aip/errors.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { deleteSuspension, findSuspensionsOf } from "../../../storage/iam/scim-suspensions.ts";
import {
  findScimUserByExternalId,
  findScimUsersByIdentity,
  type ScimUserRow,
  updateScimUser,
} from "../../../storage/iam/scim-users.ts";
import type { Claims } from "../../../sts/claim-match.ts";
import { findSignInProblem } from "../rules/sign-in-ways.ts";
import { userUid } from "../users/user-uid.ts";
import { deactivated } from "./suspended-people.ts";

/** A verified person of a provider: its claims, and the uid of the user identity that they stand for. */
export interface PersonOfProvider {
  readonly providerUid: string;
  readonly claims: Claims;
}

/** Whether the claims, not the subject alone, name the provisioned user. */
export function correlatesByOid({ correlationRule }: Pick<IdentityProviderRow, "correlationRule">): boolean {
  return correlationRule === CorrelationRule.OID_EQUALS_EXTERNAL_ID;
}

/**
 * Throws PERMISSION_DENIED unless the person may sign in by the provider. Stores which identity signs in as the provisioned
 * user: from then on, the groups of the user give roles.
 */
export async function admitPerson(tx: Transaction, person: PersonOfProvider): Promise<void> {
  const { user, identityUid, isSuspended } = await requireAdmission(tx, person);
  if (!user) return;
  // The person was deleted and provisioned again, while only the sign-in tells which identity that is.
  if (isSuspended) await deleteSuspension(tx, person.providerUid, identityUid);
  if (!isLinked(user, identityUid))
    await updateScimUser(tx, user, { ...user, identityUid, signInTime: tx.context.time });
  else if (!isSuspended) return;
  tx.changeAccess();
}

/** Like `admitPerson` without storing anything. Returns whether there is something to store. */
export async function isAdmitted(session: Session, person: PersonOfProvider): Promise<boolean> {
  const { user, identityUid, isSuspended } = await requireAdmission(session, person);
  return !user || (isLinked(user, identityUid) && !isSuspended);
}

function isLinked(user: ScimUserRow, identityUid: string): boolean {
  return user.identityUid === identityUid && user.signInTime !== null;
}

/**
 * Throws PERMISSION_DENIED unless the user identity may still have sessions of the provider: provisioned and active, if
 * provisioning is enabled.
 */
export async function requireProvisioned(session: Session, providerUid: string, identityUid: string): Promise<void> {
  const problem = await findSignInProblem(session, providerUid, identityUid);
  if (problem) throw problem === "deactivated" ? deactivated() : notProvisioned();
}

/** Returns the provisioned user that the claims name; undefined if provisioning is not enabled. */
async function requireAdmission(session: Session, { providerUid, claims }: PersonOfProvider) {
  const identityUid = userUid(String(claims.iss), String(claims.sub));
  const provider = await findRow(session, identityProviderCollection, providerUid);
  const isSuspended = (await findSuspensionsOf(session, identityUid)).includes(providerUid);
  if (!provider?.scimEnabled) {
    if (isSuspended) throw deactivated();
    return { user: undefined, identityUid, isSuspended };
  }
  const externalId = correlatesByOid(provider) ? claims.oid : claims.sub;
  const user =
    typeof externalId === "string" && externalId !== ""
      ? await findScimUserByExternalId(session, providerUid, externalId)
      : undefined;
  if (!user) throw isSuspended ? deactivated() : notProvisioned();
  if (!user.isActive || (isSuspended && (await isDeactivated(session, providerUid, identityUid)))) throw deactivated();
  return { user, identityUid, isSuspended };
}

/** Whether an inactive user of the provider signs in as this identity. */
async function isDeactivated(session: Session, providerUid: string, identityUid: string): Promise<boolean> {
  const users = await findScimUsersByIdentity(session, identityUid);
  return users.some((user) => user.providerUid === providerUid && !user.isActive);
}

function notProvisioned(): ApiError {
  return permissionDenied(
    "the identity provider has not provisioned this person: assign them to the application there",
    {
      check: "not_provisioned",
    },
  );
}
