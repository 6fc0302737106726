// Removes a person from the organization: shows what is lost, or what stands in the way, and makes one call.

import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Checkbox } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import { DelegationKind } from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { MembershipsService, type RemoveMemberResponse } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { errorDetails } from "../../../../packages/client/src/errors.ts";
import { errorText } from "../../api/error-text.ts";
import { groupText, useNamed } from "../../api/naming.ts";
import { Pill } from "../../shell/look.tsx";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { type Texts, useTexts } from "../../texts/texts.ts";

const { removeMember } = MembershipsService.method;

/** The kinds of delegations, with the text that counts them. */
const delegationTexts: readonly (readonly [DelegationKind, TextId])[] = [
  [DelegationKind.GROUP_INVITE, "people.remove.invites"],
  [DelegationKind.SUBSCRIPTION, "people.remove.subscriptions"],
  [DelegationKind.DEFAULT_ROLE, "people.remove.defaultRoles"],
  [DelegationKind.SCIM_TOKEN, "people.remove.scimTokens"],
  [DelegationKind.EXTERNAL_GROUP_ROLE_MAPPING, "people.remove.mappings"],
  [DelegationKind.STATIC_KEYS, "people.remove.keys"],
  [DelegationKind.ACCESS_REQUEST_RULE, "people.remove.requestRules"],
  [DelegationKind.ACCESS_REVIEW, "people.remove.reviews"],
];

interface RemoveProps {
  readonly organization: string;
  readonly identity: string;
  /** The name of the person; the short uid before they have joined. */
  readonly name: string;
  /** Leaves the page of the person. */
  readonly onDeleted?: () => unknown;
  readonly onClose: () => void;
}

/** The dialog. The call holds for the role bindings that it shows: if there are others by then, nothing is lost, and it shows these. */
export function RemoveDialog({ organization, identity, name, onClose, onDeleted = onClose }: RemoveProps) {
  const { t } = useTexts();
  const { loss, error, read } = useLoss(organization, identity);
  const [endSessions, setEndSessions] = useState(false);
  const blockers = error === undefined ? [] : [obstacleText(t, error)];
  return (
    <DeleteResourceDialog
      title={t("people.remove.title", { name })}
      text={t("people.remove.text", { name, count: loss?.roleBindingCount ?? 0 })}
      button={t("people.remove.button")}
      blockers={loss || error !== undefined ? blockers : null}
      blocked={t("people.remove.blocked")}
      method={removeMember}
      request={{ organization, identity, endSessions, etag: loss?.etag ?? "" }}
      report={t("people.remove.done", { name })}
      onFailed={async (failure) => {
        if (ConnectError.from(failure).code !== Code.Aborted) throw failure;
        await read();
        throw new Error(t("people.remove.changed", { name }));
      }}
      onDeleted={onDeleted}
      onClose={onClose}
    >
      {loss && <Loss loss={loss} />}
      {loss && loss.sessionCount > 0 && (
        <Checkbox
          label={t("people.remove.endSessions", { count: loss.sessionCount })}
          description={t("people.remove.otherSessions")}
          checked={endSessions}
          onChange={({ currentTarget }) => setEndSessions(currentTarget.checked)}
        />
      )}
    </DeleteResourceDialog>
  );
}

/** Reads what would be lost when the dialog opens, and not again by itself: what is confirmed must be what was shown. */
function useLoss(organization: string, identity: string) {
  const transport = useTransport();
  const [state, setState] = useState<{ readonly loss?: RemoveMemberResponse; readonly error?: unknown }>({});
  const read = useCallback(async () => {
    const request = { organization, identity, validateOnly: true };
    const found = await callUnaryMethod(transport, removeMember, request).then(
      (loss) => ({ loss }),
      (error: unknown) => ({ error }),
    );
    setState(found);
  }, [transport, organization, identity]);
  useEffect(() => void read(), [read]);
  return { ...state, read };
}

/** The roles, delegations and owners that are lost, and who may give access again. */
function Loss({ loss }: { readonly loss: RemoveMemberResponse }) {
  const { t } = useTexts();
  const { roleBindings, roleBindingCount, delegations, ownerlessGroupUids, provisioned, mapped } = loss;
  const named = useNamed(ownerlessGroupUids);
  const hidden = roleBindingCount - roleBindings.length;
  const made = delegationTexts
    .map(([kind, text]) => ({ text, count: delegations.filter((one) => one.kind === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ text, count }) => t(text, { count }));
  const notes = [
    ...(made.length > 0 ? [t("people.remove.delegations", { list: made.join(", ") })] : []),
    ...ownerlessGroupUids.map((uid) => t("people.remove.ownerless", { group: named(uid) })),
    ...(provisioned ? [t("people.remove.provisioned")] : []),
    ...(mapped ? [t("people.remove.mapped")] : []),
  ];
  return (
    <>
      {roleBindings.length > 0 && (
        <section className="row tight" aria-label={t("people.remove.roles")}>
          {roleBindings.map(({ uid, role, group }) => (
            <Pill key={uid} tone="neutral">
              <bdi>
                <strong>{role?.name || t("names.hidden")}</strong> · {groupText(t, group?.name)}
              </bdi>
            </Pill>
          ))}
          {hidden > 0 && <span className="muted">{t("people.moreRoles", { count: hidden })}</span>}
        </section>
      )}
      {notes.length > 0 && (
        <div className="notice warn">
          <ul>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

/** Returns why the person cannot be removed. */
function obstacleText(t: Texts, error: unknown): string {
  const { reason, metadata, preconditionViolations } = errorDetails(error);
  if (preconditionViolations.some(({ type }) => type === "LAST_OWNER")) return t("people.remove.lastOwner");
  if (reason === "MISSING_CAPABILITY")
    return t("people.remove.missing", { count: Number(metadata.role_bindings), capability: metadata.capability ?? "" });
  return errorText(t, error);
}
