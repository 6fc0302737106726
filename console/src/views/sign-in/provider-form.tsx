// The dialog that creates or changes a login provider.
import { create } from "@bufbuild/protobuf";
import { Checkbox, PasswordInput } from "@mantine/core";
import type { ReactNode } from "react";
import {
  type IdentityProvider,
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { useDraft, useUnstored } from "../../shell/draft.ts";
import { type FieldOf, fieldName, TextFields } from "../../shell/fields.tsx";
import { Picker } from "../../shell/picker.tsx";
import { SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useSiblingCheck } from "../../shell/siblings.ts";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";

const { getIdentityProvider, listIdentityProviders, createIdentityProvider, updateIdentityProvider } =
  IdentityProvidersService.method;

/** The text fields, by their paths in the update mask. */
const textFields = [
  { name: "name", text: "identities.name" },
  { name: "description", text: "identities.description" },
  { name: "oidc.issuer", text: "providers.issuer" },
  { name: "oidc.client_id", text: "providers.clientId" },
  { name: "oidc.additional_scopes", text: "providers.scopes" },
  { name: "oidc.groups_claim", text: "providers.groupsClaim" },
] as const satisfies readonly FieldOf<string>[];

const secretPath = "oidc.client_secret";

/** The values of the form, by paths in the update mask: two people can change different fields. */
type Values = Record<(typeof textFields)[number]["name"] | "default_role" | "oidc.pkce_enabled", string>;

const fieldNames = [...textFields.map(({ name }) => fieldName(name)), "client_secret", "default_role"];

function valuesOf(provider: IdentityProvider | undefined): Values {
  const oidc = provider?.configuration.value;
  return {
    name: provider?.name ?? "",
    description: provider?.description ?? "",
    "oidc.issuer": oidc?.issuer ?? "",
    "oidc.client_id": oidc?.clientId ?? "",
    "oidc.additional_scopes": oidc?.additionalScopes.join(" ") ?? "email profile",
    "oidc.groups_claim": oidc?.groupsClaim ?? "",
    "oidc.pkce_enabled": String(oidc?.pkceEnabled ?? true),
    default_role: provider?.defaultRole ?? "",
  };
}

/** The dialog of a new provider. */
export function NewProvider({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org, open } = useSignInAddress();
  const [values, setValues] = useDraft("newProvider", () => valuesOf(undefined));
  const [secret, setSecret] = useUnstored("");
  const findSibling = useSiblingCheck(listIdentityProviders);
  return (
    <SaveDialog
      title={t("providers.new")}
      method={createIdentityProvider}
      request={{ parent: org, identityProvider: messageOf(values, secret) }}
      copied={{ parent: org, identityProvider: messageOf(values, shownSecret(secret)) }}
      fields={fieldNames}
      button={t("providers.create")}
      report={t("providers.done.saved", { name: values.name })}
      findConfirm={() => findSibling(org, values.name)}
      onSaved={({ uid }) => open(uid)}
      onClose={onClose}
    >
      {(errors) => (
        <ProviderFields values={values} onChange={setValues} errors={errors}>
          <Secret help={t("providers.secretHelp")} value={secret} onChange={setSecret} error={errors.client_secret} />
        </ProviderFields>
      )}
    </SaveDialog>
  );
}

interface EditProps {
  readonly provider: IdentityProvider;
  readonly onClose: () => void;
}

/** The dialog of a provider. A client secret that stays empty is kept as it is. */
export function EditProvider({ provider, onClose }: EditProps) {
  const { t } = useTexts();
  const { uid, name } = provider;
  const edit = useEdit(getIdentityProvider, provider, valuesOf, (values) => values);
  const { mine, setMine } = edit;
  const [secret, setSecret] = useUnstored("");
  const changed = secret === "" ? edit.changed : [...edit.changed, secretPath];
  const requestWith = (clientSecret: string) => ({
    identityProvider: messageOf(mine, clientSecret, uid),
    updateMask: { paths: changed },
  });
  const replacement = { text: t("providers.replaceSecretText", { name }), button: t("providers.replaceSecret") };
  return (
    <SaveDialog
      title={t("identities.editTitle", { name })}
      method={updateIdentityProvider}
      request={requestWith(secret)}
      copied={requestWith(shownSecret(secret))}
      fields={fieldNames}
      button={t("identities.save")}
      report={t("providers.done.saved", { name: mine.name })}
      edit={{ ...edit, changed }}
      confirm={secret === "" ? undefined : replacement}
      onClose={onClose}
    >
      {(errors) => (
        <ProviderFields values={mine} onChange={setMine} errors={errors}>
          <Secret help={t("providers.secretKept")} value={secret} onChange={setSecret} error={errors.client_secret} />
        </ProviderFields>
      )}
    </SaveDialog>
  );
}

/** The secret stays out of commands that people paste into terminals. */
function shownSecret(secret: string): string {
  return secret === "" ? "" : "$CLIENT_SECRET";
}

interface FieldsProps {
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors: Readonly<Record<string, string>>;
  /** The field of the secret. */
  readonly children: ReactNode;
}

function ProviderFields({ values, onChange, errors, children }: FieldsProps) {
  const { t } = useTexts();
  const { org } = useSignInAddress();
  return (
    <>
      <TextFields fields={textFields} values={values} onChange={onChange} errors={errors} />
      {children}
      <Checkbox
        label={t("providers.pkce")}
        checked={values["oidc.pkce_enabled"] === "true"}
        onChange={({ currentTarget }) => onChange({ ...values, "oidc.pkce_enabled": String(currentTarget.checked) })}
      />
      <Picker
        kind="role"
        name="default_role"
        label={t("providers.defaultRole")}
        description={t("providers.defaultRoleHelp")}
        within={org}
        value={values.default_role}
        error={errors.default_role}
        onChange={(role) => onChange({ ...values, default_role: role })}
      />
    </>
  );
}

interface SecretProps {
  readonly help: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (secret: string) => void;
}

function Secret({ help, value, error, onChange }: SecretProps) {
  const { t } = useTexts();
  return (
    <PasswordInput
      name="client_secret"
      label={t("providers.clientSecret")}
      description={help}
      value={value}
      error={error}
      autoComplete="new-password"
      visibilityToggleButtonProps={{ "aria-label": t("providers.showSecret") }}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

function messageOf(values: Values, clientSecret: string, uid = ""): IdentityProvider {
  const { name, description, default_role: defaultRole } = values;
  return create(IdentityProviderSchema, {
    uid,
    name,
    description,
    defaultRole,
    configuration: {
      case: "oidc",
      value: {
        issuer: values["oidc.issuer"].trim(),
        clientId: values["oidc.client_id"].trim(),
        clientSecret,
        additionalScopes: values["oidc.additional_scopes"].split(/[\s,]+/).filter((scope) => scope !== ""),
        groupsClaim: values["oidc.groups_claim"].trim(),
        pkceEnabled: values["oidc.pkce_enabled"] === "true",
      },
    },
  });
}
