// The one method of version 1 that does the work of two current methods: it creates an organization and an invite to it.
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type GroupInvite, GroupInvitesService } from "../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { type Group, GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { RoleSchema } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { invalidArgument, notFound, permissionDenied } from "../aip/errors.ts";
import { resourceType } from "../aip/resource-type.ts";
import { ownerRole } from "../authz/built-in-roles.ts";
import { capabilitySet, missingCapabilities } from "../model/capabilities.ts";
import { accessOf, callerOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../resource/service-context.ts";
import { rootGroupMaker } from "../services/iam/groups/groups.ts";
import { inviteMaker } from "../services/iam/invites/group-invites.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { roleCollection } from "../storage/iam/collections.ts";
import type { RoleRow } from "../storage/iam/rows.ts";
import type { CurrentApi } from "./current-api.ts";

/** Makes the function that creates an organization, whose creator becomes its owner, and an invite to it, in one transaction. */
export function groupWithInvite(api: CurrentApi, context: ServiceContext) {
  const [makeRoot, makeInvite] = [rootGroupMaker(context), inviteMaker(context)];
  return async (group: Group, groupInvite: GroupInvite, call: Call) => {
    const violations = [
      ...api.check(GroupsService.method.createGroup, { group }),
      // Its parent is the new group.
      ...api
        .check(GroupInvitesService.method.createGroupInvite, { groupInvite })
        .filter(({ field }) => field !== "parent"),
    ];
    if (violations.length > 0) throw invalidArgument(violations);
    requireCreator(call);
    return await context.database.write(writeContext(call, context.clock), async (tx) => {
      const role = await requireRoleOfOwners(tx, groupInvite.roleUid);
      const { uid } = await makeRoot(tx, group, call);
      return await makeInvite(tx, uid, groupInvite, role);
    });
  };
}

/** Throws unless the caller may create organizations. A token narrowed to capabilities must not gain others by an invite. */
function requireCreator(call: Call): void {
  if (accessOf(call).scope([Capability.CAP_IAM_GROUPS_CREATE]).length === 0)
    throw permissionDenied("creating a root group requires groups.create", { capability: "groups.create" });
  if (callerOf(call).token.narrowing.capabilities)
    throw permissionDenied("a token that is narrowed to capabilities cannot invite to a root group");
}

/** Returns a built-in role. Throws if it grants capabilities that an owner, which the creator becomes, does not hold. */
async function requireRoleOfOwners(tx: Transaction, uid: string): Promise<RoleRow> {
  if (uid.includes("/")) throw permissionDenied(`role ${uid} is not available in an organization; use a built-in role`);
  const role = await findRow(tx, roleCollection, uid);
  if (!role) throw notFound(resourceType(RoleSchema), uid);
  const missing = missingCapabilities(capabilitySet(ownerRole.capabilities), capabilitySet(role.capabilities));
  if (missing.length > 0)
    throw permissionDenied(`role ${role.name} would grant capabilities that an owner does not hold`);
  return role;
}
