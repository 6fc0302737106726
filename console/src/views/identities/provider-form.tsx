// The dialog that creates or changes a login provider.
import { create } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { Checkbox, PasswordInput, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type IdentityProvider,
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { queryClient } from "../../api/transport.ts";
import { Form } from "../../shell/form.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { notify } from "../../shell/toast.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";

const { createIdentityProvider, updateIdentityProvider } = IdentityProvidersService.method;

const textFields = [
  { name: "name", text: "identities.name" },
  { name: "description", text: "identities.description" },
  { name: "issuer", text: "providers.issuer" },
  { name: "clientId", text: "providers.clientId" },
  { name: "scopes", text: "providers.scopes" },
  { name: "groupsClaim", text: "providers.groupsClaim" },
] as const satisfies readonly { readonly name: string; readonly text: TextId }[];

/** The names of the fields in errors of the API. */
const errorNames = { clientId: "client_id", scopes: "additional_scopes", groupsClaim: "groups_claim" } as const;

type Values = Record<(typeof textFields)[number]["name"], string>;

function valuesOf(provider: IdentityProvider | undefined): Values {
  const oidc = provider?.configuration.value;
  return {
    name: provider?.name ?? "",
    description: provider?.description ?? "",
    issuer: oidc?.issuer ?? "",
    clientId: oidc?.clientId ?? "",
    scopes: oidc?.additionalScopes.join(" ") ?? "email profile",
    groupsClaim: oidc?.groupsClaim ?? "",
  };
}

/** The form; of a new provider without one. A client secret that stays empty is kept as it is. */
export function ProviderForm({
  provider,
  onClose,
}: {
  readonly provider?: IdentityProvider;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const { org, open } = useIdentitiesAddress();
  const [values, setValues] = useState(() => valuesOf(provider));
  const [clientSecret, setSecret] = useState("");
  const [defaultRole, setRole] = useState(provider?.defaultRole ?? "");
  const [pkceEnabled, setPkce] = useState(provider?.configuration.value?.pkceEnabled ?? true);
  const { mutateAsync: createOne } = useMutation(createIdentityProvider);
  const { mutateAsync: updateOne } = useMutation(updateIdentityProvider);
  const messageWith = (secret: string) =>
    messageOf(values, { uid: provider?.uid ?? "", defaultRole, pkceEnabled, secret });
  const updateMask = { paths: ["name", "description", "default_role", "oidc"] };
  const submit = async () => {
    const identityProvider = messageWith(clientSecret);
    const saved = provider
      ? await updateOne({ identityProvider, updateMask })
      : await createOne({ parent: org, identityProvider });
    await queryClient.invalidateQueries();
    notify(t("providers.done.saved", { name: saved.name }));
    await open(saved.uid);
  };
  // The secret stays out of commands that people paste into terminals.
  const shown = messageWith(clientSecret === "" ? "" : "$CLIENT_SECRET");
  return (
    <Dialog
      title={provider ? t("identities.editTitle", { name: provider.name }) : t("providers.new")}
      onClose={onClose}
    >
      <Form
        fields={[
          "name",
          "description",
          "issuer",
          "client_id",
          "client_secret",
          "additional_scopes",
          "groups_claim",
          "default_role",
        ]}
        submit={submit}
        button={t(provider ? "identities.save" : "providers.create")}
        onClose={onClose}
        footer={
          provider ? (
            <CopyAs method={updateIdentityProvider} request={{ identityProvider: shown, updateMask }} />
          ) : (
            <CopyAs method={createIdentityProvider} request={{ parent: org, identityProvider: shown }} />
          )
        }
      >
        {(errors) => (
          <>
            {textFields.map(({ name, text }) => (
              <TextInput
                key={name}
                name={errorNames[name as "scopes"] ?? name}
                label={t(text)}
                value={values[name]}
                error={errors[errorNames[name as "scopes"] ?? name]}
                {...(name === "name" && { "data-autofocus": true })}
                autoComplete="off"
                onChange={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
              />
            ))}
            <PasswordInput
              name="client_secret"
              label={t("providers.clientSecret")}
              description={t(provider ? "providers.secretKept" : "providers.secretHelp")}
              value={clientSecret}
              error={errors.client_secret}
              autoComplete="new-password"
              visibilityToggleButtonProps={{ "aria-label": t("providers.showSecret") }}
              onChange={({ currentTarget }) => setSecret(currentTarget.value)}
            />
            <Checkbox
              label={t("providers.pkce")}
              checked={pkceEnabled}
              onChange={({ currentTarget }) => setPkce(currentTarget.checked)}
            />
            <Picker
              kind="role"
              name="default_role"
              label={t("providers.defaultRole")}
              description={t("providers.defaultRoleHelp")}
              within={org}
              value={defaultRole}
              error={errors.default_role}
              onChange={setRole}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function messageOf(
  { name, description, issuer, clientId, scopes, groupsClaim }: Values,
  {
    uid,
    defaultRole,
    pkceEnabled,
    secret,
  }: { readonly uid: string; readonly defaultRole: string; readonly pkceEnabled: boolean; readonly secret: string },
): IdentityProvider {
  return create(IdentityProviderSchema, {
    uid,
    name,
    description,
    defaultRole,
    configuration: {
      case: "oidc",
      value: {
        issuer: issuer.trim(),
        clientId: clientId.trim(),
        clientSecret: secret,
        additionalScopes: scopes.split(/[\s,]+/).filter((scope) => scope !== ""),
        groupsClaim: groupsClaim.trim(),
        pkceEnabled,
      },
    },
  });
}
