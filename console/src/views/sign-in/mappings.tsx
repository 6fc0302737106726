// Which groups of a login provider give which roles.

import { useQuery } from "@connectrpc/connect-query";
import {
  type ExternalGroupRoleMapping,
  ExternalGroupRoleMappingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import type { IdentityProvider } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import type { Column } from "../../shell/columns.ts";
import { useDraft } from "../../shell/draft.ts";
import { TextField } from "../../shell/fields.tsx";
import { ActionButton } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { DeleteResourceDialog, SaveDialog } from "../../shell/resource-dialogs.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";

const { listExternalGroupRoleMappings, createExternalGroupRoleMapping, deleteExternalGroupRoleMapping } =
  ExternalGroupRoleMappingsService.method;

/** Which groups of the provider give which roles. */
export function Mappings({ provider: { uid } }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, change, close } = useSignInAddress();
  const missing = missingFor(me, createExternalGroupRoleMapping, uid);
  const request = { uidp: { childrenOf: uid }, pageSize: 200 };
  const { data, error } = useQuery(listExternalGroupRoleMappings, request);
  const mappings = data?.externalGroupRoleMappings ?? [];
  const named = useNamed(mappings.map(({ roleUid }) => roleUid));
  const columns = useMappingColumns(named);
  const wanted = mappings.find((mapping) => mapping.uid === search.mapping);
  return (
    <>
      <div className="row">
        <h3>{t("mappings.title")}</h3>
        <div className="grow" />
        <ActionButton missing={missing} onClick={() => void change({ dialog: "mapping" })}>
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
      {search.dialog === "unmap" && wanted && may(me, deleteExternalGroupRoleMapping, wanted.uid) && (
        <DeleteMapping mapping={wanted} role={named(wanted.roleUid)} />
      )}
      {search.dialog === "mapping" && missing.length === 0 && <NewMapping parent={uid} onClose={() => void close()} />}
    </>
  );
}

function useMappingColumns(named: (uid: string) => string): Column<ExternalGroupRoleMapping>[] {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { change } = useSignInAddress();
  return [
    { title: t("mappings.group"), cell: ({ externalGroupId }) => <bdi>{externalGroupId}</bdi> },
    { title: t("identities.role"), cell: ({ roleUid }) => named(roleUid) },
    {
      title: t("invites.action"),
      isAction: true,
      cell: ({ uid }) => (
        <ActionButton
          missing={missingFor(me, deleteExternalGroupRoleMapping, uid)}
          onClick={() => void change({ dialog: "unmap", mapping: uid })}
        >
          {t("mappings.delete")}
        </ActionButton>
      ),
    },
  ];
}

/** Says who loses what. */
function DeleteMapping({
  mapping: { uid, externalGroupId: group },
  role,
}: {
  readonly mapping: ExternalGroupRoleMapping;
  readonly role: string;
}) {
  const { t } = useTexts();
  const { close } = useSignInAddress();
  return (
    <DeleteResourceDialog
      title={t("mappings.deleteTitle", { group })}
      text={t("mappings.deleteText", { group, role })}
      button={t("mappings.delete")}
      method={deleteExternalGroupRoleMapping}
      request={{ uid }}
      report={t("mappings.done.deleted")}
      onClose={close}
    />
  );
}

function NewMapping({ parent, onClose }: { readonly parent: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org } = useSignInAddress();
  const [externalGroupId, setGroup] = useDraft("mapping.group", "");
  const [roleUid, setRole] = useDraft("mapping.role", "");
  return (
    <SaveDialog
      title={t("mappings.new")}
      method={createExternalGroupRoleMapping}
      request={{ parent, externalGroupRoleMapping: { externalGroupId, roleUid, scope: org } }}
      fields={["external_group_id", "role_uid"]}
      button={t("mappings.create")}
      report={t("mappings.done.created")}
      isDisabled={externalGroupId === "" || roleUid === ""}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <TextField
            name="external_group_id"
            label={t("mappings.group")}
            description={t("mappings.groupHelp")}
            value={externalGroupId}
            error={errors.external_group_id}
            data-autofocus
            onChange={setGroup}
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
    </SaveDialog>
  );
}
