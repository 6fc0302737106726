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
import { isReadableRole } from "./readable.ts";

/**
 * Returns a role. Throws unless it exists, is available in the group, and the caller holds all its capabilities there, until the end of
 * what gives it to others.
 */
export async function requireUsableRole(
  session: Session,
  roleUid: string,
  groupUid: string,
  call: Call,
  end: number,
): Promise<RoleRow> {
  const role = await requireAvailableRole(session, roleUid, groupUid);
  const isReadable = isReadableRole(roleUid, groupUid, call);
  requireHeld(call, role.capabilities, groupUid, `role ${isReadable ? role.name : roleUid}`, { isReadable, end });
  return role;
}

/** Returns a role. Throws unless it exists and is available in the group. */
export async function requireAvailableRole(session: Session, roleUid: string, groupUid: string): Promise<RoleRow> {
  // A custom role is available in its group and subgroups. The uid alone decides: the error must not reveal whether a role exists.
  if (roleUid.includes("/") && !isWithin(groupUid, parentOf(roleUid))) {
    throw permissionDenied(
      `role ${roleUid} is not available in group ${groupUid}; use a built-in role, or a role of the group or of an ancestor`,
      { scope: groupUid },
    );
  }
  const role = await findRow(session, roleCollection, roleUid);
  if (!role) throw notFound(resourceType(RoleSchema), roleUid);
  return role;
}
