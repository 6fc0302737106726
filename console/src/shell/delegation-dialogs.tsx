// The dialogs that settle a delegation whose maker leaves, or no longer holds what it gives. Load the texts `delegations` with them.
import { GroupInvitesService } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { type Delegation, DelegationKind, DelegationsService } from "../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { may, useMe } from "../api/access.ts";
import { missingToConfirm } from "../api/delegations.ts";
import { useTexts } from "../texts/texts.ts";
import { DeleteResourceDialog, SaveDialog } from "./resource-dialogs.tsx";

const { confirmDelegation } = DelegationsService.method;
const { deleteGroupInvite } = GroupInvitesService.method;

interface OfDelegation {
  readonly delegation: Pick<Delegation, "kind" | "uid" | "name">;
  readonly onClose: () => unknown;
}

/** Shows a dialog of a delegation, if the caller may do what it is for. */
export function DelegationDialog({ dialog, ...props }: OfDelegation & { readonly dialog: "revoke" | "confirm" }) {
  const { data: me } = useMe();
  const { kind, uid } = props.delegation;
  if (dialog === "confirm") return missingToConfirm(me, kind, uid).length === 0 ? <Confirm {...props} /> : null;
  const mayRevoke = kind === DelegationKind.GROUP_INVITE && may(me, deleteGroupInvite, uid);
  return mayRevoke ? <RevokeInvite {...props} /> : null;
}

function RevokeInvite({ delegation: { uid, name }, onClose }: OfDelegation) {
  const { t } = useTexts();
  return (
    <DeleteResourceDialog
      title={t("delegation.revoke.title", { name: name || t("delegation.anybody") })}
      text={t("delegation.revoke.text")}
      button={t("delegation.revoke")}
      method={deleteGroupInvite}
      request={{ uid }}
      report={t("delegation.revoked")}
      onClose={onClose}
    />
  );
}

function Confirm({ delegation: { kind, uid, name }, onClose }: OfDelegation) {
  const { t } = useTexts();
  const hidden = kind === DelegationKind.GROUP_INVITE ? "delegation.anybody" : "names.hidden";
  return (
    <SaveDialog
      title={t("delegation.confirm.title", { name: name || t(hidden) })}
      method={confirmDelegation}
      request={{ uid }}
      fields={[]}
      button={t("delegation.confirm")}
      report={t("delegation.confirmed")}
      onClose={onClose}
    >
      {() => (
        <p tabIndex={-1} data-autofocus>
          {t("delegation.confirm.text")}
        </p>
      )}
    </SaveDialog>
  );
}
