// The dialogs that settle a finding about a delegation.
import { GroupInvitesService } from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { DelegationKind, DelegationsService } from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import type { Finding } from "../../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { missingToConfirm } from "../../api/delegations.ts";
import { shortUid } from "../../api/uids.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { Form, useSave } from "../../shell/form.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
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
  const save = useSave(deleteGroupInvite);
  return (
    <DeleteDialog
      title={t("overview.revokeTitle", { name: resourceName || shortUid(uid) })}
      text={t("overview.revokeText")}
      button={t("overview.revokeInvite")}
      remove={() => save({ uid }, { report: t("overview.done.revoked"), onSaved: close })}
      onClose={() => void close()}
      footer={<CopyAs method={deleteGroupInvite} request={{ uid }} />}
    />
  );
}

function Confirm({ finding: { resourceUid: uid, resourceName } }: { readonly finding: Finding }) {
  const { t } = useTexts();
  const { close } = useOverviewAddress();
  const save = useSave(confirmDelegation);
  return (
    <Dialog title={t("overview.confirmTitle", { name: resourceName || shortUid(uid) })} onClose={() => void close()}>
      <Form
        fields={[]}
        submit={() => save({ uid }, { report: t("overview.done.confirmed"), onSaved: close })}
        button={t("overview.confirm")}
        onClose={() => void close()}
        footer={<CopyAs method={confirmDelegation} request={{ uid }} />}
      >
        {() => (
          <p tabIndex={-1} data-autofocus>
            {t("overview.confirmText")}
          </p>
        )}
      </Form>
    </Dialog>
  );
}
