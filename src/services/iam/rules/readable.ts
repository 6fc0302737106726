// Tells whether a caller may read something. Responses and errors name nothing else.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { isBuiltInRole } from "../../../authz/built-in-roles.ts";
import { isWithin } from "../../../model/uid.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { isUserUid } from "../users/user-uid.ts";

/**
 * Whether a caller may read the identity of a binding: users, and identities with `identity.list`. Without a call, those of the group of the
 * binding and of its subgroups.
 */
export function isReadable(
  { identityUid, parent }: Pick<RoleBindingRow, "identityUid" | "parent">,
  call?: Call,
): boolean {
  if (isUserUid(identityUid) || identityUid === call?.caller?.uid) return true;
  return call ? accessOf(call).has(Capability.CAP_IAM_IDENTITY_LIST, identityUid) : isWithin(identityUid, parent);
}

/** Whether a caller may read a role: built-in roles, and custom roles with `roles.list`. Without a call, as for identities. */
export function isReadableRole(roleUid: string, parent: string, call?: Call): boolean {
  if (isBuiltInRole(roleUid)) return true;
  return call ? accessOf(call).has(Capability.CAP_IAM_ROLES_LIST, roleUid) : isWithin(roleUid, parent);
}

/** Whether the caller may see which roles identities hold at a group, and so what these roles give. */
export function mayListBindings(call: Call, groupUid: string): boolean {
  return accessOf(call).has(Capability.CAP_IAM_ROLE_BINDINGS_LIST, groupUid);
}
