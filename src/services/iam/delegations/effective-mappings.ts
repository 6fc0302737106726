import { rootOf } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { maxMappings } from "../../../storage/iam/limits.ts";
import { findProvisionedMappings } from "../../../storage/iam/scim-groups.ts";
import { suspendedOrganizations } from "../../../storage/iam/scim-suspensions.ts";
import { isUserUid } from "../users/user-uid.ts";

/**
 * Returns the external group role mappings that apply to an identity now: those of its session, and those of its
 * provisioned groups. None of an organization in which the identity is suspended (docs/decisions/0094).
 */
export async function effectiveMappings(
  session: Session,
  identityUid: string,
  mappingUids: readonly string[],
): Promise<readonly string[]> {
  if (!isUserUid(identityUid)) return mappingUids;
  const [provisioned, suspended] = await Promise.all([
    findProvisionedMappings(session, identityUid, maxMappings),
    suspendedOrganizations(session, identityUid),
  ]);
  return [...new Set([...mappingUids, ...provisioned])].filter((uid) => !suspended.has(rootOf(uid)));
}
