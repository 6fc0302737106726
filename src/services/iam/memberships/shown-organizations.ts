// Decides which names of an organization a user sees before joining it. Anyone can create an organization of any name and bind roles
// there to anyone, so only verified names and names of built-in roles are shown.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MembershipSchema, PendingOrganizationSchema } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { isBuiltInRole } from "../../../authz/built-in-roles.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { findRolesIn, type Membership } from "../../../storage/iam/memberships.ts";

/** How many roles of an organization are shown at most. */
const maxRoles = 100;

/** Shows an organization that a person has joined. */
export async function showJoined(
  session: Session,
  { createTime, ...person }: Membership & { readonly createTime: number },
): Promise<MessageInitShape<typeof MembershipSchema>> {
  const roles = await findRolesIn(session, person, maxRoles);
  const group = await findRow(session, groupCollection, person.groupUid);
  const isNamed = group?.verified || roles.length > 0;
  return {
    organization: person.groupUid,
    name: (isNamed && group?.name) || "",
    roles: [...new Set(roles.map(({ name }) => name))],
    joinTime: toTimestamp(createTime),
  };
}

/** Shows an organization that a person has not joined. */
export async function showPending(
  session: Session,
  person: Membership,
): Promise<MessageInitShape<typeof PendingOrganizationSchema>> {
  const roles = await findRolesIn(session, person, maxRoles);
  const group = await findRow(session, groupCollection, person.groupUid);
  const builtIn = roles.filter(({ uid }) => isBuiltInRole(uid));
  return {
    organization: person.groupUid,
    name: group?.verified ? group.name : "",
    roles: builtIn.map(({ name }) => name),
    hasCustomRoles: builtIn.length < roles.length,
  };
}
