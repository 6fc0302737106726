// The actions for a delegation whose maker leaves, or no longer holds the rights that it gives.
import { GroupInvitesService } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { type Delegation, DelegationKind, InactivityReason } from "../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { missingFor, useMe } from "../api/access.ts";
import { missingToConfirm } from "../api/delegations.ts";
import { useTexts } from "../texts/texts.ts";
import { ActionButton } from "./parts.tsx";

interface DelegationActionsProps {
  readonly delegation: Pick<Delegation, "kind" | "uid" | "inactivity">;
  /** Whether the caller vouches for it already. */
  readonly isOwn?: boolean;
  readonly onOpen: (dialog: "revoke" | "confirm") => void;
}

/** The buttons that open its dialogs: one that makes the caller its maker, and for an invite one that ends it. */
export function DelegationActions({
  delegation: { kind, uid, inactivity },
  isOwn = false,
  onOpen,
}: DelegationActionsProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  return (
    <>
      {kind === DelegationKind.GROUP_INVITE && (
        <ActionButton
          missing={missingFor(me, GroupInvitesService.method.deleteGroupInvite, uid)}
          onClick={() => onOpen("revoke")}
        >
          {t("delegation.revoke")}
        </ActionButton>
      )}
      {(!isOwn || inactivity !== InactivityReason.UNSPECIFIED) && (
        <ActionButton missing={missingToConfirm(me, kind, uid)} onClick={() => onOpen("confirm")}>
          {t("delegation.confirm")}
        </ActionButton>
      )}
    </>
  );
}
