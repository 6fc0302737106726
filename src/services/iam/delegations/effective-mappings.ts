import { rootOf } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { maxMappings } from "../../../storage/iam/limits.ts";
import { findProvisionedMappings } from "../../../storage/iam/scim-groups.ts";
import { suspendedOrganizations } from "../../../storage/iam/scim-suspensions.ts";
import { isUserUid } from "../users/user-uid.ts";

/** The provisioning of an identity by its identity providers. */
export interface Provisioning {
  /** The uids of the mappings of its groups. */
  readonly mappings: readonly string[];
  /** The organizations in which it is suspended. */
  readonly suspendedIn: ReadonlySet<string>;
}

/**
 * Returns the external group role mappings that apply to an identity now: those of its session, and those of its
 * provisioned groups. None of an organization in which the identity is suspended (docs/design/sign-in.md).
 */
export async function effectiveMappings(
  session: Session,
  identityUid: string,
  mappingUids: readonly string[],
): Promise<readonly string[]> {
  return effectiveAmong(mappingUids, await findProvisioning(session, identityUid));
}

/** Reads the provisioning of an identity. */
export async function findProvisioning(session: Session, identityUid: string): Promise<Provisioning> {
  if (!isUserUid(identityUid)) return nothing;
  const [mappings, suspendedIn] = await Promise.all([
    findProvisionedMappings(session, identityUid, maxMappings),
    suspendedOrganizations(session, identityUid),
  ]);
  return { mappings, suspendedIn };
}

const nothing: Provisioning = { mappings: [], suspendedIn: new Set() };

/** Like `effectiveMappings`, for an identity whose provisioning has been read already. */
export function effectiveAmong(
  mappingUids: readonly string[],
  { mappings, suspendedIn }: Provisioning,
): readonly string[] {
  return [...new Set([...mappingUids, ...mappings])].filter((uid) => !suspendedIn.has(rootOf(uid)));
}
