// The accounts of cloud providers that belong to groups.

import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import {
  type AccountAssociation,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import type { Column } from "../../shell/columns.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, CopyAs } from "../../shell/parts.tsx";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";

const { listAccountAssociations, createAccountAssociation, updateAccountAssociation, deleteAccountAssociation } =
  AccountAssociationsService.method;
const AccountCheck = lazyPart(async () => (await import("./account-check.tsx")).AccountCheck);
const EditAccounts = lazyPart(async () => (await import("./account-form.tsx")).EditAccounts);
const NewAccounts = lazyPart(async () => (await import("./account-form.tsx")).NewAccounts);

/** The accounts of the organization and its groups. */
export function Accounts() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change, close } = useSignInAddress();
  const missing = missingFor(me, createAccountAssociation, org);
  const mayList = may(me, listAccountAssociations);
  const list = usePagedList({
    method: listAccountAssociations,
    request: { uidp: { descendantsOf: org } },
    rowsOf: ({ accountAssociations }) => accountAssociations,
    order: "name",
    isEnabled: mayList,
    address: search,
    onAddress: change,
  });
  // An association has the uid of its group, so that of the organization is not below it.
  const own = useQuery(listAccountAssociations, { uidp: { ids: [org] } }, { enabled: mayList });
  const rows = list.rows && own.data && [...own.data.accountAssociations, ...list.rows];
  const columns = useColumns(rows ?? []);
  if (me && !mayList) return <Denied capabilities={requiredBy(listAccountAssociations)} uid={org} />;
  const wanted = rows?.find(({ uid }) => uid === selected);
  const onClose = () => void close();
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("accounts.lead")}</p>
        <div className="grow" />
        <CopyAs method={listAccountAssociations} request={list.request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("accounts.new")}
        </ActionButton>
      </div>
      <List
        id="accounts"
        label={t("identities.accounts")}
        list={{ ...list, rows, error: list.error ?? own.error }}
        columns={columns}
        keyOf={({ uid }) => uid}
        empty={<Empty>{t("accounts.none")}</Empty>}
      />
      {search.dialog === "new" && missing.length === 0 && <NewAccounts onClose={onClose} />}
      {search.dialog === "edit" && wanted && may(me, updateAccountAssociation, wanted.uid) && (
        <EditAccounts association={wanted} onClose={onClose} />
      )}
      {search.dialog === "check" && wanted && <AccountCheck association={wanted} onClose={onClose} />}
      {search.dialog === "delete" && wanted && may(me, deleteAccountAssociation, wanted.uid) && (
        <Disconnect association={wanted} />
      )}
    </div>
  );
}

function useColumns(associations: readonly AccountAssociation[]): Column<AccountAssociation>[] {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useSignInAddress();
  const named = useNamed(associations.map(({ uid }) => uid));
  return [
    { title: t("identities.name"), sort: "name", cell: ({ name }) => <bdi>{name}</bdi> },
    { id: "group", title: t("wizard.group"), cell: ({ uid }) => <bdi>{named(uid)}</bdi> },
    { id: "aws", title: "AWS", cell: ({ amazon }) => amazon?.account ?? "–" },
    { id: "google", title: "Google Cloud", cell: ({ google }) => google?.projectId ?? "–" },
    { id: "azure", title: "Azure", cell: ({ azure }) => azure?.tenantId ?? "–" },
    {
      title: t("invites.action"),
      isAction: true,
      cell: ({ uid }) => (
        <div className="row">
          <Button variant="default" size="sm" onClick={() => void open(uid, { dialog: "check" })}>
            {t("accounts.check")}
          </Button>
          <ActionButton
            shortcut="e"
            missing={missingFor(me, updateAccountAssociation, uid)}
            onClick={() => void open(uid, { dialog: "edit" })}
          >
            {t("identities.edit")}
          </ActionButton>
          <ActionButton
            shortcut="Delete"
            missing={missingFor(me, deleteAccountAssociation, uid)}
            onClick={() => void open(uid, { dialog: "delete" })}
          >
            {t("accounts.disconnect")}
          </ActionButton>
        </div>
      ),
    },
  ];
}

function Disconnect({ association: { uid, name } }: { readonly association: AccountAssociation }) {
  const { t } = useTexts();
  const { open } = useSignInAddress();
  return (
    <DeleteResourceDialog
      title={t("accounts.disconnectTitle", { name })}
      text={t("accounts.disconnectText")}
      button={t("accounts.disconnect")}
      method={deleteAccountAssociation}
      request={{ uid }}
      report={t("accounts.done.deleted")}
      onClose={() => open("")}
    />
  );
}
