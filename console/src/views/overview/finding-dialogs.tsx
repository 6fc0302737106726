// The dialogs that settle a finding about a delegation.
import { GroupInvitesService } from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { DelegationKind, DelegationsService } from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import type { Finding } from "../../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { missingToConfirm } from "../../api/delegations.ts";
import { DeleteResourceDialog, SaveDialog } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useOverviewAddress } from "./address.ts";

const { confirmDelegation } = DelegationsService.method;
const { deleteGroupInvite } = GroupInvitesService.method;

/** Shows the dialog that is in the address, if its finding is among these. */
export function FindingDialogs({ findings }: { readonly findings: readonly Finding[] }) {
  const { data: me } = useMe();
  const { search } = useOverviewAddress();
  const finding = findings.find(
    ({ resourceUid, details }) => resourceUid === search.resource && details.case === "delegation",
  );
  if (finding?.details.case !== "delegation") return null;
  const { kind, uid } = finding.details.value;
  if (search.dialog === "revoke" && kind === DelegationKind.GROUP_INVITE && may(me, deleteGroupInvite, uid))
    return <RevokeInvite finding={finding} />;
  if (search.dialog === "confirm" && missingToConfirm(me, kind, uid).length === 0) return <Confirm finding={finding} />;
  return null;
}

function RevokeInvite({ finding: { resourceUid: uid, resourceName } }: { readonly finding: Finding }) {
  const { t } = useTexts();
  const { close } = useOverviewAddress();
  return (
    <DeleteResourceDialog
      title={t("overview.revokeTitle", { name: resourceName || t("names.hidden") })}
      text={t("overview.revokeText")}
      button={t("overview.revokeInvite")}
      method={deleteGroupInvite}
      request={{ uid }}
      report={t("overview.done.revoked")}
      onClose={close}
    />
  );
}

function Confirm({ finding: { resourceUid: uid, resourceName } }: { readonly finding: Finding }) {
  const { t } = useTexts();
  const { close } = useOverviewAddress();
  return (
    <SaveDialog
      title={t("overview.confirmTitle", { name: resourceName || t("names.hidden") })}
      method={confirmDelegation}
      request={{ uid }}
      fields={[]}
      button={t("overview.confirm")}
      report={t("overview.done.confirmed")}
      onClose={close}
    >
      {() => (
        <p tabIndex={-1} data-autofocus>
          {t("overview.confirmText")}
        </p>
      )}
    </SaveDialog>
  );
}
