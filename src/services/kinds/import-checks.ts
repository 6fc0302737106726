// Checks that several kinds of imported resources share.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { isWithin, parentOf } from "../../model/uid.ts";
import { findRow } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection, roleCollection } from "../../storage/iam/collections.ts";
import { findRoleCapabilities } from "../../storage/iam/delegations.ts";
import { findGrants } from "../../storage/iam/grants.ts";
import { findMappedRoles } from "../../storage/iam/providers.ts";
import { missing, type Problem } from "./import-kind.ts";

/** The rule against giving the capability `internal`: no import gives it to anyone. */
export const noInternal = "would give the capability internal, which an import gives to nobody";

/** The rule against taking the capability `internal`, because a file could lock operators out. */
const takesInternal = "gives the capability internal here, which an import neither gives nor takes";

/** The import form that kinds below a group share. */
export const inGroup = { parents: groupCollection, parentOf };

/** Checks that a role exists, is available in a group, and does not have the capability `internal`. */
export async function checkRoleReference(
  session: Session,
  roleUid: string,
  groupUid: string,
  field: string,
): Promise<readonly Problem[]> {
  if (roleUid.includes("/") && !isWithin(groupUid, parentOf(roleUid)))
    return [{ field, description: "must be a built-in role, or a role of the group or of an ancestor" }];
  const role = await findRow(session, roleCollection, roleUid);
  if (!role) return [missing(field, "a role", roleUid)];
  // Being an operator of one installation must not make anyone an operator of another.
  return role.capabilities.includes(Capability.CAP_INTERNAL) ? [{ field, description: noInternal }] : [];
}

/** Returns a problem if another row than the imported one was found by its unique fields. */
export function takenBy(
  found: { readonly uid: string } | undefined,
  uid: string,
  field: string,
  what: string,
): Problem[] {
  if (!found || found.uid === uid) return [];
  return [{ field, description: `${what} already: ${found.uid}` }];
}

/** Checks that a stored role, binding or mapping does not give the capability `internal`, before an import changes it. */
export async function checkKeepsOperators(session: Session, roleUid: string, field: string): Promise<Problem[]> {
  return (await isOperatorRole(session, roleUid)) ? [{ field, description: takesInternal }] : [];
}

/** Whether a stored identity has the capability `internal` anywhere: its credentials decide who is an operator. */
export async function isOperatorIdentity(session: Session, identityUid: string): Promise<boolean> {
  const { roles = [] } = (await findGrants(session, identityUid)) ?? {};
  return roles.some(({ role: { capabilities } }) => capabilities.includes(Capability.CAP_INTERNAL));
}

/** Whether a mapping of a stored provider gives the capability `internal`: its issuer decides who is an operator. */
export async function mapsOperators(session: Session, providerUid: string): Promise<boolean> {
  for (const { roleUid } of await findMappedRoles(session, providerUid))
    if (await isOperatorRole(session, roleUid)) return true;
  return false;
}

async function isOperatorRole(session: Session, roleUid: string): Promise<boolean> {
  return (await findRoleCapabilities(session, roleUid)).includes(Capability.CAP_INTERNAL);
}
