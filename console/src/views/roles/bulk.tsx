// Actions on several role bindings of a role.
import type { RoleBinding } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { RemoveBindings } from "../../shell/bulk-roles.tsx";

/** The dialog that deletes role bindings. */
export function RemoveUses(props: BulkProps<RoleBinding>) {
  return <RemoveBindings {...props} uidOf={({ uid }) => uid} />;
}
