// Actions on several invites.
import {
  type GroupInvite,
  GroupInvitesService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { BulkDialog } from "../../shell/bulk-dialog.tsx";
import { useCall } from "../../shell/use-call.ts";
import { useTexts } from "../../texts/texts.ts";

/** The dialog that revokes invites. */
export function RevokeInvites(props: BulkProps<GroupInvite>) {
  const { t } = useTexts();
  const call = useCall(GroupInvitesService.method.deleteGroupInvite);
  return (
    <BulkDialog
      {...props}
      isDeletion
      title={(count) => t("bulk.invites.title", { count })}
      text={t("bulk.invites.text")}
      button={t("bulk.invites.button")}
      act={({ uid }) => call({ uid })}
    />
  );
}
