import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type Role, RoleSchema, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { type FieldViolation, failedPrecondition } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { builtInRoles, isBuiltInRole } from "../../../authz/built-in-roles.ts";
import { findCapability, isCapability } from "../../../model/capabilities.ts";
import { parentOf } from "../../../model/uid.ts";
import { requireCapability } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule } from "../../../pipeline/text-rules.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { roleCollection } from "../../../storage/iam/collections.ts";
import { isDefaultRole, isMapped } from "../../../storage/iam/providers.ts";
import { findBindingsOf } from "../../../storage/iam/role-bindings.ts";
import type { RoleRow } from "../../../storage/iam/rows.ts";
import { groupParents } from "../groups/groups.ts";
import { noEnd, requireHeld, requireLastingCall, withMaker } from "../rules/escalation.ts";

export const role = defineResource<typeof RoleSchema, RoleRow>({
  schema: RoleSchema,
  plural: "roles",
  collection: roleCollection,
  orderable: commonOrders,
  includesRoots: true,
  rules: { name: nameRule, description: descriptionRule },
  check: checkRole,
  toMessage: (row): Role => ({
    $typeName: "chainguard.platform.iam.v2beta1.Role",
    uid: row.uid,
    name: row.name,
    description: row.description,
    capabilities: row.capabilities.filter(isCapability),
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  }),
  toRow: ({ name, description, capabilities }) => ({ name, description, capabilities: [...new Set(capabilities)] }),
});

/** Converts a stored role to its message. */
export const roleMessage = role.toMessage;

/** Serves roles. */
export function roles(context: ServiceContext): Implementation {
  const standard = standardMethods(role, groupParents, context);
  return implement(
    RolesService,
    {
      getRole(request, call) {
        // A caller who may list roles anywhere can read built-in roles. A custom role requires the capability in its group.
        if (!isBuiltInRole(request.uid)) requireCapability(call, Capability.CAP_IAM_ROLES_LIST, request.uid);
        return standard.get(request, call);
      },
      listRoles: (request, call) => standard.list(request, call, { name: request.name }),
      createRole({ parent, role: value }, call) {
        // Nobody has the role yet.
        requireHeld(call, value!.capabilities, parent, `role ${value!.name}`, { end: withMaker });
        return standard.create(parent, value!, call, {});
      },
      updateRole: (request, call) =>
        standard.update(request.role!, request.updateMask, call, async (_tx, before, after) => {
          requireHeldRole(call, before, after);
          return after;
        }),
      deleteRole: (request, call) => standard.delete(request, call, requireUnused),
    },
    role.messageRules,
  );
}

/** Throws unless the caller holds all capabilities of a changed role where it can be bound, and without an end if it gets more of them. */
export function requireHeldRole(call: Call, before: RoleRow, { uid, name, capabilities }: RoleRow): void {
  const isLarger = capabilities.some((capability) => !before.capabilities.includes(capability));
  if (isLarger) requireLastingCall(call, uid);
  requireHeld(call, capabilities, parentOf(uid), `role ${name}`, { end: isLarger ? noEnd : withMaker });
}

/** Throws RESOURCE_IN_USE if a role must not be deleted. */
export async function requireUnused(session: Session, { uid }: RoleRow): Promise<void> {
  const use = await useOf(session, uid);
  if (use !== undefined) throw failedPrecondition("RESOURCE_IN_USE", `cannot delete role that is ${use}`, uid);
}

/** Returns what prevents the deletion of a role, or undefined. Invites do not: they stop working. */
async function useOf(session: Session, uid: string): Promise<string | undefined> {
  if ((await findBindingsOf(session, "roleUid", uid, 1)).length > 0) return "bound to an identity";
  if (await isDefaultRole(session, uid)) return "the default role of an identity provider";
  return (await isMapped(session, uid)) ? "mapped to an external group" : undefined;
}

const builtInNames = new Set(builtInRoles.map(({ name }) => name));

function checkRole({ name, capabilities }: Role): FieldViolation[] {
  const violations: FieldViolation[] = [];
  // Clients look up built-in roles by name and expect exactly one result.
  if (builtInNames.has(name)) violations.push({ field: "name", description: `${name} is the name of a built-in role` });
  if (capabilities.length === 0)
    violations.push({ field: "capabilities", description: "at least one capability is required" });
  const isInternal = capabilities.includes(Capability.CAP_INTERNAL);
  capabilities.forEach((number, index) => {
    const info = findCapability(number);
    const field = `capabilities[${index}]`;
    if (!info) violations.push({ field, description: `${number} is not a capability` });
    else if (info.internal && !isInternal)
      violations.push({ field, description: `${info.name} is reserved for roles of the platform` });
  });
  return violations;
}
