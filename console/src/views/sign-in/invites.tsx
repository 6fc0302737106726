// Invites: the promise of a role to anyone who has the code.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Button, Checkbox } from "@mantine/core";
import { useState } from "react";
import {
  type GroupInvite,
  GroupInvitesService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { dayMs } from "../../api/durations.ts";
import { useNamed } from "../../api/naming.ts";
import { parentOf } from "../../api/uids.ts";
import { inviteLink } from "../../session/invite.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { Dialog } from "../../shell/dialog.tsx";
import { useDraft } from "../../shell/draft.ts";
import { TextField } from "../../shell/fields.tsx";
import { useInactive } from "../../shell/inactive-delegations.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, Pill } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { DeleteResourceDialog, SaveDialog } from "../../shell/resource-dialogs.tsx";
import { SecretOnce } from "../../shell/secret.tsx";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";

const { listGroupInvites, createGroupInvite, deleteGroupInvite } = GroupInvitesService.method;

const RevokeInvites = lazyPart(async () => (await import("./bulk.tsx")).RevokeInvites, null, "bulk");

/** The invites of the organization. */
export function Invites() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change, close } = useSignInAddress();
  const missing = missingFor(me, createGroupInvite, org);
  const mayList = may(me, listGroupInvites);
  const list = usePagedList({
    method: listGroupInvites,
    request: { uidp: { descendantsOf: org } },
    rowsOf: ({ groupInvites }) => groupInvites,
    order: "create_time desc",
    isEnabled: mayList,
    address: search,
    onAddress: change,
  });
  const columns = useColumns(list.rows ?? [], useInactive(org));
  if (me && !mayList) return <Denied capabilities={requiredBy(listGroupInvites)} uid={org} />;
  const wanted = list.rows?.find(({ uid }) => uid === selected);
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("invites.lead")}</p>
        <div className="grow" />
        <CopyAs method={listGroupInvites} request={list.request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("invites.new")}
        </ActionButton>
      </div>
      <List
        id="invites"
        label={t("identities.invites")}
        list={list}
        columns={columns}
        keyOf={({ uid }) => uid}
        actions={[
          { text: t("invites.revoke"), method: deleteGroupInvite, placeOf: ({ uid }) => uid, Dialog: RevokeInvites },
        ]}
        empty={<Empty>{t("invites.none")}</Empty>}
      />
      {search.dialog === "new" && missing.length === 0 && <NewInvite onClose={() => void close()} />}
      {search.dialog === "delete" && wanted && may(me, deleteGroupInvite, wanted.uid) && <Revoke invite={wanted} />}
    </div>
  );
}

function useColumns(invites: readonly GroupInvite[], inactive: ReadonlyMap<string, string>): Column<GroupInvite>[] {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useSignInAddress();
  const named = useNamed(invites.map(({ uid }) => parentOf(uid)));
  return [
    { title: t("invites.key"), text: ({ keyId }) => keyId, cell: ({ keyId }) => <code>{keyId}</code> },
    {
      title: t("identities.role"),
      sort: "name",
      text: ({ role }) => role?.name ?? "",
      cell: ({ uid, role }) => (
        <span className="lines">
          <bdi>
            {t("invites.promise", {
              role: role?.name || t("names.hidden"),
              group: named(parentOf(uid)),
            })}
          </bdi>
          {inactive.has(uid) && (
            <Pill tone="medium" icon="blocked">
              <bdi>{t("invites.inactive", { reason: inactive.get(uid) })}</bdi>
            </Pill>
          )}
        </span>
      ),
    },
    {
      id: "for",
      title: t("invites.for"),
      text: ({ email }) => email,
      cell: ({ email }) => (email === "" ? t("invites.anyone") : <bdi>{email}</bdi>),
    },
    { id: "use", title: t("invites.use"), cell: ({ singleUse }) => t(singleUse ? "invites.once" : "invites.many") },
    {
      id: "ends",
      title: t("invites.ends"),
      text: ({ expirationTime }) => timeCell(expirationTime),
      cell: ({ expirationTime }) => expirationTime && <Ago time={timestampDate(expirationTime)} />,
    },
    {
      id: "created",
      title: t("list.created"),
      isWide: true,
      sort: "create_time desc",
      text: ({ createTime }) => timeCell(createTime),
      cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
    {
      title: t("invites.action"),
      isAction: true,
      cell: ({ uid }) => (
        <ActionButton
          shortcut="Delete"
          missing={missingFor(me, deleteGroupInvite, uid)}
          onClick={() => void open(uid, { dialog: "delete" })}
        >
          {t("invites.revoke")}
        </ActionButton>
      ),
    },
  ];
}

function NewInvite({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org, search } = useSignInAddress();
  const [parent, setParent] = useDraft("invite.parent", org);
  const [roleUid, setRole] = useDraft("invite.role", "");
  const [email, setEmail] = useDraft("invite.email", search.email ?? "");
  const [days, setDays] = useDraft("invite.days", "7");
  const [singleUse, setSingleUse] = useDraft("invite.singleUse", true);
  const [made, setMade] = useState<GroupInvite>();
  const ttl = { seconds: BigInt(Math.round(((Number(days) || 0) * dayMs) / 1000)), nanos: 0 };
  if (made)
    return (
      <Dialog title={t("invites.made")} onClose={onClose}>
        <div className="stack">
          <SecretOnce what={t("invites.link")} value={inviteLink(made.code)} />
          <SecretOnce what={t("invites.code")} value={made.code} />
          <div>
            <Button onClick={onClose}>{t("invites.done")}</Button>
          </div>
        </div>
      </Dialog>
    );
  return (
    <SaveDialog
      title={t("invites.new")}
      method={createGroupInvite}
      request={{ parent, groupInvite: { roleUid, email, ttl, singleUse } }}
      fields={["parent", "role_uid", "email", "ttl"]}
      button={t("invites.create")}
      isDisabled={roleUid === "" || parent === ""}
      onSecret={setMade}
      onSaved={() => undefined}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <Picker
            kind="role"
            name="role_uid"
            label={t("identities.role")}
            within={org}
            value={roleUid}
            error={errors.role_uid}
            onChange={setRole}
          />
          <Picker
            kind="group"
            name="parent"
            label={t("wizard.group")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
          <TextField
            name="email"
            type="email"
            label={t("invites.email")}
            description={t("invites.emailHelp")}
            value={email}
            error={errors.email}
            onChange={setEmail}
          />
          <TextField
            name="ttl"
            inputMode="numeric"
            label={t("invites.days")}
            value={days}
            error={errors.ttl}
            onChange={setDays}
          />
          <Checkbox
            label={t("invites.singleUse")}
            checked={singleUse}
            onChange={({ currentTarget }) => setSingleUse(currentTarget.checked)}
          />
        </>
      )}
    </SaveDialog>
  );
}

function Revoke({ invite: { uid, keyId } }: { readonly invite: GroupInvite }) {
  const { t } = useTexts();
  const { open } = useSignInAddress();
  return (
    <DeleteResourceDialog
      title={t("invites.revokeTitle", { key: keyId })}
      text={t("invites.revokeText")}
      button={t("invites.revoke")}
      method={deleteGroupInvite}
      request={{ uid }}
      report={t("invites.done.revoked")}
      onClose={() => open("")}
    />
  );
}
