// The dialog that gives a role back before its end. Load the texts `requests` with it.
import type { BindingExplanation } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { RoleBindingTermsService } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { refreshMe } from "../../api/access.ts";
import { groupText } from "../../api/naming.ts";
import { useTexts } from "../../texts/texts.ts";
import { DeleteResourceDialog } from "../resource-dialogs.tsx";

const { endRoleBindingTerm } = RoleBindingTermsService.method;

/** Asks, and gives a role back. Its holder needs no capability for that. */
export function GiveBack({
  binding,
  onClose,
}: {
  readonly binding: BindingExplanation;
  readonly onClose: () => unknown;
}) {
  const { t } = useTexts();
  const { roleBindingUid, roleName, groupName } = binding;
  return (
    <DeleteResourceDialog
      title={t("terms.giveBackTitle", {
        what: t("requests.what", { role: roleName || "…", group: groupText(t, groupName) }),
      })}
      text={t("terms.giveBackText")}
      button={t("terms.giveBack")}
      method={endRoleBindingTerm}
      request={{ uid: roleBindingUid }}
      report={t("requests.done.ended")}
      onDeleted={async () => {
        await onClose();
        await refreshMe();
      }}
      onClose={onClose}
    />
  );
}
