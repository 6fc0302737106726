import { RoleSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { notFound, permissionDenied } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { isWithin, parentOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { roleCollection } from "../../../storage/iam/collections.ts";
import type { RoleRow } from "../../../storage/iam/rows.ts";
import { requireHeld } from "./escalation.ts";

/** The role; throws unless it exists, may be used at the group, and the caller holds all that it grants there. */
export async function requireUsableRole(
  session: Session,
  roleUid: string,
  groupUid: string,
  call: Call,
): Promise<RoleRow> {
  // A custom role is for its own group and what lies below. The uid alone decides, so that nothing is learnt of other roles.
  if (roleUid.includes("/") && !isWithin(groupUid, parentOf(roleUid))) {
    throw permissionDenied(`role ${roleUid} is not offered at ${groupUid}`, { scope: groupUid });
  }
  const role = await findRow(session, roleCollection, roleUid);
  if (!role) throw notFound(resourceType(RoleSchema), roleUid);
  requireHeld(call, role.capabilities, groupUid, `role ${role.name}`);
  return role;
}
