import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { BindingExplanationSchema } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { isBuiltInRole } from "../../authz/built-in-roles.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ReachingBinding } from "../../storage/iam/grants.ts";

/**
 * Shows the parts of a binding that the caller may see. The group of a binding on an ancestor is always shown. Its role is shown only
 * to callers who may list the bindings there.
 */
export function showBinding(
  binding: Omit<ReachingBinding, "capabilities" | "isSuspended">,
  call: Call,
  isSelf: boolean,
): MessageInitShape<typeof BindingExplanationSchema> {
  const { uid, groupUid, groupName, roleUid, roleName, startTime, expireTime } = binding;
  const may = (capability: Capability, place: string) => accessOf(call).has(capability, place);
  const isOpen = isSelf || may(Capability.CAP_IAM_ROLE_BINDINGS_LIST, groupUid);
  const showsRole = isOpen && (isBuiltInRole(roleUid) || isSelf || may(Capability.CAP_IAM_ROLES_LIST, roleUid));
  return {
    groupUid,
    groupName: isOpen && may(Capability.CAP_IAM_GROUPS_LIST, groupUid) ? groupName : "",
    roleBindingUid: isOpen ? uid : "",
    roleUid: isOpen ? roleUid : "",
    roleName: showsRole ? roleName : "",
    ...(isOpen && startTime !== null && { startTime: toTimestamp(startTime) }),
    ...(isOpen && expireTime !== null && { expireTime: toTimestamp(expireTime) }),
  };
}
