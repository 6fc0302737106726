// Actions on several role bindings of the lists of terms and of unused access.
import type { BindingUsage } from "../../../../gen/gatehouse/access/v1/access_usage_pb.ts";
import type { RoleBindingTerm } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { RemoveBindings, SetEnds } from "../../shell/bulk-roles.tsx";

/** The dialog that gives role bindings with a term another end. */
export function SetTermEnds(props: BulkProps<RoleBindingTerm>) {
  return <SetEnds {...props} uidOf={({ uid }) => uid} />;
}

/** The dialog that deletes role bindings with a term. */
export function RemoveTerms(props: BulkProps<RoleBindingTerm>) {
  return <RemoveBindings {...props} uidOf={({ uid }) => uid} />;
}

/** The dialog that deletes unused role bindings. */
export function RemoveUnused(props: BulkProps<BindingUsage>) {
  return <RemoveBindings {...props} uidOf={({ binding }) => binding?.roleBindingUid ?? ""} />;
}
