// The accounts of cloud providers that belong to groups.
import { create } from "@bufbuild/protobuf";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type AccountAssociation,
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { useNames } from "../../api/resources.ts";
import { queryClient } from "../../api/transport.ts";
import { shortUid } from "../../api/uids.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { Form } from "../../shell/form.tsx";
import { ActionButton, CopyAs, Dialog } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { Denied } from "../../shell/states.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { notify } from "../../shell/toast.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";

const { listAccountAssociations, createAccountAssociation, updateAccountAssociation, deleteAccountAssociation } =
  AccountAssociationsService.method;

/** The accounts of the organization and its groups. */
export function Accounts() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, open, show, close } = useIdentitiesAddress();
  const missing = missingFor(me, createAccountAssociation, org);
  const mayList = may(me, listAccountAssociations);
  const turn = (page: number | undefined) => void open(selected, { page });
  const request = { uidp: { descendantsOf: org }, pageSize, skip: pagesOf(search.page, 0, turn).skip };
  const { data, error, refetch } = useQuery(listAccountAssociations, request, { enabled: mayList });
  // An association has the uid of its group, so that of the organization is not below it.
  const own = useQuery(listAccountAssociations, { uidp: { ids: [org] } }, { enabled: mayList });
  const rows = data && own.data && [...own.data.accountAssociations, ...data.accountAssociations];
  const columns = useColumns(rows ?? []);
  if (me && !mayList) return <Denied capabilities={requiredBy(listAccountAssociations)} uid={org} />;
  const wanted = rows?.find(({ uid }) => uid === selected);
  const onClose = () => void close();
  return (
    <div className="stack">
      <div className="head">
        <p className="muted">{t("accounts.lead")}</p>
        <div className="grow" />
        <CopyAs method={listAccountAssociations} request={request} />
        <ActionButton variant="filled" missing={missing} onClick={() => void show("new")}>
          {t("accounts.new")}
        </ActionButton>
      </div>
      <Table
        label={t("identities.accounts")}
        list={{ rows, error: error ?? own.error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ uid }) => uid}
        empty={<p className="notice">{t("accounts.none")}</p>}
      />
      <Pager
        {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)}
        count={data?.accountAssociations.length ?? 0}
      />
      {search.dialog === "new" && missing.length === 0 && <AccountForm onClose={onClose} />}
      {search.dialog === "edit" && wanted && may(me, updateAccountAssociation, wanted.uid) && (
        <AccountForm association={wanted} onClose={onClose} />
      )}
      {search.dialog === "delete" && wanted && may(me, deleteAccountAssociation, wanted.uid) && (
        <Disconnect association={wanted} />
      )}
    </div>
  );
}

function useColumns(associations: readonly AccountAssociation[]): Column<AccountAssociation>[] {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useIdentitiesAddress();
  const groups = useNames(
    "group",
    associations.map(({ uid }) => uid),
  );
  return [
    { title: t("identities.name"), cell: ({ name }) => <bdi>{name}</bdi> },
    { title: t("wizard.group"), cell: ({ uid }) => <bdi>{groups.get(uid) ?? shortUid(uid)}</bdi> },
    { title: "AWS", cell: ({ amazon }) => amazon?.account ?? "–" },
    { title: "Google Cloud", cell: ({ google }) => google?.projectId ?? "–" },
    { title: "Azure", cell: ({ azure }) => azure?.tenantId ?? "–" },
    {
      title: t("invites.action"),
      cell: ({ uid }) => (
        <div className="row">
          <ActionButton
            missing={missingFor(me, updateAccountAssociation, uid)}
            onClick={() => void open(uid, { dialog: "edit" })}
          >
            {t("identities.edit")}
          </ActionButton>
          {may(me, deleteAccountAssociation, uid) && (
            <Button variant="default" size="sm" onClick={() => void open(uid, { dialog: "delete" })}>
              {t("accounts.disconnect")}
            </Button>
          )}
        </div>
      ),
    },
  ];
}

const fields = [
  { name: "name", text: "identities.name" },
  { name: "account", text: "wizard.awsAccount" },
  { name: "project_id", text: "accounts.projectId" },
  { name: "project_number", text: "accounts.projectNumber" },
] as const satisfies readonly { readonly name: string; readonly text: TextId }[];

type Values = Record<(typeof fields)[number]["name"], string>;

function AccountForm({
  association,
  onClose,
}: {
  readonly association?: AccountAssociation;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const { org } = useIdentitiesAddress();
  const [parent, setParent] = useState(association?.uid ?? org);
  const [values, setValues] = useState<Values>({
    name: association?.name ?? "",
    account: association?.amazon?.account ?? "",
    project_id: association?.google?.projectId ?? "",
    project_number: association?.google?.projectNumber ?? "",
  });
  const { mutateAsync: createOne } = useMutation(createAccountAssociation);
  const { mutateAsync: updateOne } = useMutation(updateAccountAssociation);
  const accountAssociation = create(AccountAssociationSchema, {
    uid: association?.uid ?? "",
    name: values.name,
    ...(values.account !== "" && { amazon: { account: values.account } }),
    ...(values.project_id + values.project_number !== "" && {
      google: { projectId: values.project_id, projectNumber: values.project_number },
    }),
  });
  const updateMask = { paths: ["name", "amazon", "google"] };
  const submit = async () => {
    if (association) await updateOne({ accountAssociation, updateMask });
    else await createOne({ parent, accountAssociation });
    await queryClient.invalidateQueries();
    notify(t("accounts.done.saved"));
    onClose();
  };
  return (
    <Dialog title={t(association ? "accounts.edit" : "accounts.new")} onClose={onClose}>
      <Form
        fields={[...fields.map(({ name }) => name), "parent"]}
        submit={submit}
        button={t(association ? "identities.save" : "accounts.create")}
        onClose={onClose}
        footer={
          association ? (
            <CopyAs method={updateAccountAssociation} request={{ accountAssociation, updateMask }} />
          ) : (
            <CopyAs method={createAccountAssociation} request={{ parent, accountAssociation }} />
          )
        }
      >
        {(errors) => (
          <>
            {!association && (
              <Picker
                kind="group"
                name="parent"
                label={t("wizard.group")}
                within={org}
                value={parent}
                error={errors.parent}
                onChange={setParent}
              />
            )}
            {fields.map(({ name, text }) => (
              <TextInput
                key={name}
                name={name}
                label={t(text)}
                value={values[name]}
                error={errors[name]}
                autoComplete="off"
                onChange={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
              />
            ))}
          </>
        )}
      </Form>
    </Dialog>
  );
}

function Disconnect({ association: { uid, name } }: { readonly association: AccountAssociation }) {
  const { t } = useTexts();
  const { open } = useIdentitiesAddress();
  const { mutateAsync } = useMutation(deleteAccountAssociation);
  const remove = async () => {
    await mutateAsync({ uid });
    notify(t("accounts.done.deleted"));
    await open("");
    await queryClient.invalidateQueries();
  };
  return (
    <DeleteDialog
      title={t("accounts.disconnectTitle", { name })}
      text={t("accounts.disconnectText")}
      button={t("accounts.disconnect")}
      remove={remove}
      onClose={() => void open("")}
      footer={<CopyAs method={deleteAccountAssociation} request={{ uid }} />}
    />
  );
}
