// Actions on several role bindings.
import {
  type RoleBinding,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { BulkDialog } from "../../shell/bulk-dialog.tsx";
import { useCall } from "../../shell/use-call.ts";
import { useTexts } from "../../texts/texts.ts";

/** The dialog that deletes role bindings. */
export function RemoveBindings(props: BulkProps<RoleBinding>) {
  const { t } = useTexts();
  const call = useCall(RoleBindingsService.method.deleteRoleBinding);
  return (
    <BulkDialog
      {...props}
      isDeletion
      title={(count) => t("bulk.bindings.title", { count })}
      text={t("bulk.bindings.text")}
      button={t("bulk.bindings.button")}
      act={({ uid }) => call({ uid })}
    />
  );
}
