// The dialogs that connect the accounts of a group, and change them.
import { create } from "@bufbuild/protobuf";
import {
  type AccountAssociation,
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { useDraft } from "../../shell/draft.ts";
import { mapOf, type Pair, pairsOf, pairsText, valuesText } from "../../shell/entries.ts";
import { type FieldOf, TextFields } from "../../shell/fields.tsx";
import { Pairs } from "../../shell/pairs.tsx";
import { Picker } from "../../shell/picker.tsx";
import { SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";

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
  const { org } = useSignInAddress();
  const [parent, setParent] = useDraft("newAccount.parent", org);
  const [draft, setDraft] = useDraft("newAccount", () => draftOf());
  return (
    <SaveDialog
      title={t("accounts.new")}
      method={createAccountAssociation}
      request={{ parent, accountAssociation: messageOf(draft) }}
      fields={[...fieldNames, "parent"]}
      button={t("accounts.create")}
      report={t("accounts.done.saved")}
      isDisabled={parent === ""}
      onClose={onClose}
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
    </SaveDialog>
  );
}

interface EditProps {
  readonly association: AccountAssociation;
  readonly onClose: () => void;
}

/** The dialog that changes the accounts of a group. */
export function EditAccounts({ association, onClose }: EditProps) {
  const { t } = useTexts();
  const edit = useEdit(getAccountAssociation, association, draftOf, valuesOf);
  const { mine, setMine, changed } = edit;
  return (
    <SaveDialog
      title={t("accounts.edit")}
      method={updateAccountAssociation}
      request={{ accountAssociation: messageOf(mine, association.uid), updateMask: { paths: changed } }}
      fields={fieldNames}
      button={t("identities.save")}
      report={t("accounts.done.saved")}
      edit={edit}
      onClose={onClose}
    >
      {(errors) => <AccountFields draft={mine} onChange={setMine} errors={errors} />}
    </SaveDialog>
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
