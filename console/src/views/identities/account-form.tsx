// The dialogs that connect the accounts of a group, and change them.
import { create } from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  type AccountAssociation,
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { mapOf, type Pair, pairsOf, pairsText, valuesText } from "../../shell/entries.ts";
import { type FieldOf, TextFields } from "../../shell/fields.tsx";
import { Form, useEdit, useSave } from "../../shell/form.tsx";
import { Pairs } from "../../shell/pairs.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";

const { getAccountAssociation, createAccountAssociation, updateAccountAssociation } = AccountAssociationsService.method;

const textFields = [
  { name: "name", text: "identities.name" },
  { name: "description", text: "identities.description" },
  { name: "account", text: "wizard.awsAccount" },
  { name: "project_id", text: "accounts.projectId" },
  { name: "project_number", text: "accounts.projectNumber" },
  { name: "tenant_id", text: "accounts.azureTenant" },
] as const satisfies readonly FieldOf<string>[];

const fieldNames = [...textFields.map(({ name }) => name), "client_ids"];

/** The values of the form. */
type Draft = Readonly<Record<(typeof textFields)[number]["name"], string>> & { readonly client_ids: readonly Pair[] };

function draftOf(association?: AccountAssociation): Draft {
  return {
    name: association?.name ?? "",
    description: association?.description ?? "",
    account: association?.amazon?.account ?? "",
    project_id: association?.google?.projectId ?? "",
    project_number: association?.google?.projectNumber ?? "",
    tenant_id: association?.azure?.tenantId ?? "",
    client_ids: pairsOf(association?.azure?.clientIds ?? {}),
  };
}

/** The paths of the update mask. The account of a provider is changed and removed as a whole. */
function valuesOf({ name, description, account, project_id, project_number, tenant_id, client_ids }: Draft) {
  return {
    name,
    description,
    amazon: account.trim(),
    google: valuesText([project_id.trim(), project_number.trim()]),
    azure: valuesText([tenant_id.trim(), pairsText(client_ids)]),
  };
}

function messageOf(draft: Draft, uid = ""): AccountAssociation {
  const { amazon, google, azure } = valuesOf(draft);
  return create(AccountAssociationSchema, {
    uid,
    name: draft.name,
    description: draft.description,
    ...(amazon !== "" && { amazon: { account: amazon } }),
    ...(google !== "" && {
      google: { projectId: draft.project_id.trim(), projectNumber: draft.project_number.trim() },
    }),
    ...(azure !== "" && { azure: { tenantId: draft.tenant_id.trim(), clientIds: mapOf(draft.client_ids) } }),
  });
}

/** The dialog that connects accounts to a group that has none. */
export function NewAccounts({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org } = useIdentitiesAddress();
  const [parent, setParent] = useState(org);
  const [draft, setDraft] = useState(() => draftOf());
  const save = useSave(createAccountAssociation);
  const request = { parent, accountAssociation: messageOf(draft) };
  return (
    <Dialog title={t("accounts.new")} onClose={onClose}>
      <Form
        fields={[...fieldNames, "parent"]}
        submit={() => save(request, { report: t("accounts.done.saved"), onSaved: onClose })}
        button={t("accounts.create")}
        isDisabled={parent === ""}
        onClose={onClose}
        footer={<CopyAs method={createAccountAssociation} request={request} />}
      >
        {(errors) => (
          <>
            <Picker
              kind="group"
              name="parent"
              label={t("wizard.group")}
              description={t("accounts.groupHelp")}
              within={org}
              value={parent}
              error={errors.parent}
              onChange={setParent}
            />
            <AccountFields draft={draft} onChange={setDraft} errors={errors} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

interface EditProps {
  readonly association: AccountAssociation;
  readonly onClose: () => void;
}

/** The dialog that changes the accounts of a group. */
export function EditAccounts({ association, onClose }: EditProps) {
  const { t } = useTexts();
  const { uid } = association;
  const transport = useTransport();
  const latest = async () => draftOf(await callUnaryMethod(transport, getAccountAssociation, { uid }));
  const { mine, setMine, changed, conflict } = useEdit(draftOf(association), latest, valuesOf);
  const save = useSave(updateAccountAssociation);
  const request = { accountAssociation: messageOf(mine, uid), updateMask: { paths: changed } };
  return (
    <Dialog title={t("accounts.edit")} onClose={onClose}>
      <Form
        fields={fieldNames}
        submit={() => save(request, { report: t("accounts.done.saved"), onSaved: onClose })}
        button={t("identities.save")}
        isDisabled={changed.length === 0}
        onClose={onClose}
        footer={<CopyAs method={updateAccountAssociation} request={request} />}
        {...conflict}
      >
        {(errors) => <AccountFields draft={mine} onChange={setMine} errors={errors} />}
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly errors: Readonly<Record<string, string>>;
}

function AccountFields({ draft, onChange, errors }: FieldsProps) {
  const { t } = useTexts();
  return (
    <>
      <TextFields fields={textFields} values={draft} onChange={onChange} errors={errors} />
      <Pairs
        name="client_ids"
        label={t("accounts.azureClients")}
        description={t("accounts.azureClientsHelp")}
        columns={[t("accounts.azureComponent"), t("providers.clientId")]}
        add={t("accounts.addClient")}
        pairs={draft.client_ids}
        error={errors.client_ids}
        onChange={(pairs) => onChange({ ...draft, client_ids: pairs })}
      />
    </>
  );
}
