// One login provider: how people come back from it, which of its groups give roles, and provisioning by SCIM.
import { create } from "@bufbuild/protobuf";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type ExternalGroupRoleMapping,
  ExternalGroupRoleMappingSchema,
  ExternalGroupRoleMappingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import {
  type IdentityProvider,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { useNames } from "../../api/resources.ts";
import { queryClient } from "../../api/transport.ts";
import { shortUid } from "../../api/uids.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { Form, useSave } from "../../shell/form.tsx";
import { ActionButton, CopyAs, Copyable, Dialog, Loading } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { type Column, Table } from "../../shell/table.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";
import { ConnectionTest } from "./connection-test.tsx";
import { ProviderForm } from "./provider-form.tsx";
import { Scim } from "./scim.tsx";

const { getIdentityProvider, updateIdentityProvider, deleteIdentityProvider } = IdentityProvidersService.method;
const { listExternalGroupRoleMappings, createExternalGroupRoleMapping, deleteExternalGroupRoleMapping } =
  ExternalGroupRoleMappingsService.method;

/** The selected provider. */
export function ProviderDetails({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const mayGet = may(me, getIdentityProvider, uid);
  const { data, error, refetch } = useQuery(getIdentityProvider, { uid }, { enabled: mayGet });
  if (me && !mayGet) return <Denied capabilities={requiredBy(getIdentityProvider)} uid={uid} />;
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <Details provider={data} />;
}

function Details({ provider }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, show, close } = useIdentitiesAddress();
  const { uid, name, description, configuration } = provider;
  const oidc = configuration.value;
  return (
    <section className="card stack" aria-labelledby="provider-name">
      <h2 id="provider-name">
        <bdi>{name}</bdi>
      </h2>
      <div className="row">
        <ActionButton missing={missingFor(me, updateIdentityProvider, uid)} onClick={() => void show("edit")}>
          {t("identities.edit")}
        </ActionButton>
        <ActionButton missing={missingFor(me, deleteIdentityProvider, uid)} onClick={() => void show("delete")}>
          {t("identities.delete")}
        </ActionButton>
        <CopyAs method={getIdentityProvider} request={{ uid }} />
      </div>
      <ConnectionTest uid={uid} />
      {description !== "" && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <dl className="facts">
        <dt>{t("providers.redirect")}</dt>
        <dd>
          <Copyable value={`${location.origin}/oauth/callback/${uid}`} what={t("providers.redirect")} />
        </dd>
        <dt>{t("providers.issuer")}</dt>
        <dd>
          <bdi>{oidc?.issuer}</bdi>
        </dd>
        <dt>{t("providers.clientId")}</dt>
        <dd>
          <code>{oidc?.clientId}</code>
        </dd>
        <dt>{t("providers.scopes")}</dt>
        <dd>{oidc?.additionalScopes.join(" ")}</dd>
        <dt>{t("providers.groupsClaim")}</dt>
        <dd>{oidc?.groupsClaim || "–"}</dd>
      </dl>
      <Mappings provider={provider} />
      <Scim provider={provider} />
      {search.dialog === "edit" && may(me, updateIdentityProvider, uid) && (
        <ProviderForm provider={provider} onClose={() => void close()} />
      )}
      {search.dialog === "delete" && may(me, deleteIdentityProvider, uid) && <DeleteProvider provider={provider} />}
    </section>
  );
}

function DeleteProvider({ provider: { uid, name } }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { open, close } = useIdentitiesAddress();
  const { mutateAsync } = useMutation(deleteIdentityProvider);
  const remove = async () => {
    await mutateAsync({ uid });
    notify(t("providers.done.deleted", { name }));
    await open("");
    await queryClient.invalidateQueries();
  };
  return (
    <DeleteDialog
      title={t("identities.deleteTitle", { name })}
      text={t("providers.deleteText")}
      button={t("providers.deleteButton")}
      name={name}
      remove={remove}
      onClose={() => void close()}
      footer={<CopyAs method={deleteIdentityProvider} request={{ uid }} />}
    />
  );
}

/** Which groups of the provider give which roles. */
function Mappings({ provider: { uid } }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, show, close } = useIdentitiesAddress();
  const missing = missingFor(me, createExternalGroupRoleMapping, uid);
  const request = { uidp: { childrenOf: uid }, pageSize: 200 };
  const { data, error } = useQuery(listExternalGroupRoleMappings, request);
  const columns = useMappingColumns(data?.externalGroupRoleMappings ?? []);
  return (
    <>
      <div className="row">
        <h3>{t("mappings.title")}</h3>
        <div className="grow" />
        <ActionButton missing={missing} onClick={() => void show("mapping")}>
          {t("mappings.new")}
        </ActionButton>
      </div>
      <Table
        label={t("mappings.title")}
        list={{ rows: data?.externalGroupRoleMappings, error }}
        columns={columns}
        keyOf={(mapping) => mapping.uid}
        empty={<p className="muted">{t("mappings.none")}</p>}
      />
      {search.dialog === "mapping" && missing.length === 0 && <NewMapping parent={uid} onClose={() => void close()} />}
    </>
  );
}

function useMappingColumns(mappings: readonly ExternalGroupRoleMapping[]): Column<ExternalGroupRoleMapping>[] {
  const { t } = useTexts();
  const { data: me } = useMe();
  const roles = useNames(
    "role",
    mappings.map(({ roleUid }) => roleUid),
  );
  const { mutateAsync } = useMutation(deleteExternalGroupRoleMapping);
  const remove = async (uid: string) => {
    await mutateAsync({ uid }).then(
      () => notify(t("mappings.done.deleted")),
      (error: Error) => notify(error.message),
    );
    await queryClient.invalidateQueries();
  };
  return [
    { title: t("mappings.group"), cell: ({ externalGroupId }) => <bdi>{externalGroupId}</bdi> },
    { title: t("identities.role"), cell: ({ roleUid }) => roles.get(roleUid) ?? shortUid(roleUid) },
    {
      title: t("invites.action"),
      cell: ({ uid }) =>
        may(me, deleteExternalGroupRoleMapping, uid) && (
          <Button variant="default" size="compact-sm" onClick={() => void remove(uid)}>
            {t("mappings.delete")}
          </Button>
        ),
    },
  ];
}

function NewMapping({ parent, onClose }: { readonly parent: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org } = useIdentitiesAddress();
  const [externalGroupId, setGroup] = useState("");
  const [roleUid, setRole] = useState("");
  const save = useSave(createExternalGroupRoleMapping);
  const request = {
    parent,
    externalGroupRoleMapping: create(ExternalGroupRoleMappingSchema, { externalGroupId, roleUid, scope: org }),
  };
  const submit = () => save(request, { report: t("mappings.done.created"), onSaved: onClose });
  return (
    <Dialog title={t("mappings.new")} onClose={onClose}>
      <Form
        fields={["external_group_id", "role_uid"]}
        submit={submit}
        button={t("mappings.create")}
        isDisabled={externalGroupId === "" || roleUid === ""}
        onClose={onClose}
        footer={<CopyAs method={createExternalGroupRoleMapping} request={request} />}
      >
        {(errors) => (
          <>
            <TextInput
              name="external_group_id"
              label={t("mappings.group")}
              description={t("mappings.groupHelp")}
              value={externalGroupId}
              error={errors.external_group_id}
              data-autofocus
              autoComplete="off"
              onChange={({ currentTarget }) => setGroup(currentTarget.value)}
            />
            <Picker
              kind="role"
              name="role_uid"
              label={t("identities.role")}
              within={org}
              value={roleUid}
              error={errors.role_uid}
              onChange={setRole}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
