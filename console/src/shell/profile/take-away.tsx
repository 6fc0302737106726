// The dialog that takes several roles of a person or workload away.

import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { HeldRole } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { useTexts } from "../../texts/texts.ts";
import type { BulkProps } from "../bulk.ts";
import { BulkDialog } from "../bulk-dialog.tsx";
import { useCall } from "../use-call.ts";

/** The dialog. Roles from above, whose bindings the caller may not list, stay. */
export function TakeAway(props: BulkProps<HeldRole>) {
  const { t } = useTexts();
  const call = useCall(RoleBindingsService.method.deleteRoleBinding);
  return (
    <BulkDialog
      {...props}
      isDeletion
      title={(count) => t("bulk.bindings.title", { count })}
      text={t("bulk.bindings.text")}
      button={t("bulk.bindings.button")}
      keep={({ binding }) => Boolean(binding?.roleBindingUid)}
      act={({ binding }) => call({ uid: binding?.roleBindingUid ?? "" })}
    />
  );
}
