// The dialogs that end several roles of a person or workload, and take them away.
import type { HeldRole } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import type { BulkProps } from "../bulk.ts";
import { RemoveBindings, SetEnds } from "../bulk-roles.tsx";

/** The dialog. Roles from above, whose bindings the caller may not list, stay. */
export function TakeAway(props: BulkProps<HeldRole>) {
  return <RemoveBindings {...props} uidOf={({ binding }) => binding?.roleBindingUid ?? ""} />;
}

/** The dialog that gives roles another end. */
export function SetHeldEnds(props: BulkProps<HeldRole>) {
  return <SetEnds {...props} uidOf={({ binding }) => binding?.roleBindingUid ?? ""} />;
}
