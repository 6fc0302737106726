// The dialogs that change roles.

import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { type Role, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { groupText, identityText } from "../../api/naming.ts";
import { parentOf } from "../../api/uids.ts";
import { AccessPreview, useSimulation } from "../../shell/access-preview.tsx";
import { useDraft } from "../../shell/draft.ts";
import { type FieldOf, TextFields } from "../../shell/fields.tsx";
import { Picker } from "../../shell/picker.tsx";
import { DeleteResourceDialog, SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useSiblingCheck } from "../../shell/siblings.ts";
import { useTexts } from "../../texts/texts.ts";
import { useRoleAddress } from "./address.ts";
import { CapabilityChoice } from "./capability-choice.tsx";

const { getRole, listRoles, createRole, updateRole, deleteRole } = RolesService.method;
const { listRoleBindings } = RoleBindingsService.method;

const textFields = [
  { name: "name", text: "roles.name" },
  { name: "description", text: "roles.description" },
] as const satisfies readonly FieldOf<string>[];

const fieldNames = ["name", "description", "capabilities"] as const;

type Draft = Pick<Role, (typeof fieldNames)[number]>;

/** Shows the dialog that is in the address. */
export function RoleDialogs() {
  const { data: me } = useMe();
  const { org, selected, search, close } = useRoleAddress();
  const isOfRole = selected !== "" && (search.dialog === "edit" || search.dialog === "delete");
  const { data: role } = useQuery(getRole, { uid: selected }, { enabled: isOfRole });
  const onClose = () => void close();
  if (search.dialog === "new" && may(me, createRole, org)) return <NewRole onClose={onClose} />;
  if (!role) return null;
  if (search.dialog === "edit" && may(me, updateRole, selected)) return <EditRole role={role} onClose={onClose} />;
  if (search.dialog === "delete" && may(me, deleteRole, selected)) return <DeleteRole role={role} onClose={onClose} />;
  return null;
}

function NewRole({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org, open } = useRoleAddress();
  const [parent, setParent] = useDraft("newRole.parent", org);
  const [role, setRole] = useDraft<Draft>("newRole", { name: "", description: "", capabilities: [] });
  const findSibling = useSiblingCheck(listRoles);
  return (
    <SaveDialog
      title={t("roles.new")}
      method={createRole}
      request={{ parent, role }}
      fields={[...fieldNames, "parent"]}
      button={t("roles.create")}
      report={t("roles.done.created", { name: role.name })}
      findConfirm={() => findSibling(parent, role.name)}
      onSaved={({ uid }) => open(uid)}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <RoleFields role={role} at={parent} onChange={setRole} errors={errors} />
          <Picker
            kind="group"
            name="parent"
            label={t("roles.parent")}
            description={t("roles.parentHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
        </>
      )}
    </SaveDialog>
  );
}

function EditRole({ role, onClose }: { readonly role: Role; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { uid } = role;
  const edit = useEdit(getRole, role, draftOf, valuesOf);
  const { before, mine, setMine, changed } = edit;
  const { name, capabilities } = mine;
  const isSimulated = changed.includes("capabilities") && capabilities.length > 0;
  const change = isSimulated ? ({ case: "updateRole", value: { uid, capabilities } } as const) : undefined;
  const { isBlocked } = useSimulation(change);
  return (
    <SaveDialog
      title={t("roles.editTitle", { name: before.name })}
      method={updateRole}
      request={{ role: { uid, ...mine }, updateMask: { paths: changed } }}
      fields={fieldNames}
      button={t("roles.save")}
      report={t("roles.done.updated", { name })}
      edit={edit}
      isDisabled={isBlocked}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <RoleFields role={mine} at={parentOf(uid)} onChange={setMine} errors={errors} />
          <AccessPreview change={change} />
        </>
      )}
    </SaveDialog>
  );
}

function draftOf({ name, description, capabilities }: Role): Draft {
  return { name, description, capabilities };
}

function valuesOf({ name, description, capabilities }: Draft) {
  return { name, description, capabilities: [...capabilities].sort((a, b) => a - b).join(", ") };
}

interface FieldsProps {
  readonly role: Draft;
  /** The group of the role. */
  readonly at: string;
  readonly onChange: (role: Draft) => void;
  readonly errors: Readonly<Record<string, string>>;
}

function RoleFields({ role, at, onChange, errors }: FieldsProps) {
  return (
    <>
      <TextFields fields={textFields} values={role} onChange={onChange} errors={errors} />
      <CapabilityChoice
        chosen={role.capabilities}
        at={at}
        error={errors.capabilities}
        onChange={(capabilities) => onChange({ ...role, capabilities })}
      />
    </>
  );
}

/** How many of the bindings that stand in the way are listed. */
const listedUses = 10;

function DeleteRole({ role, onClose }: { readonly role: Role; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org, open } = useRoleAddress();
  const request = { uid: role.uid };
  const change = { case: "deleteRole", value: request } as const;
  const { data: simulated, isBlocked, missing } = useSimulation(change);
  const uses = useBindingsOf(role.uid);
  const bindings = (uses?.roleBindings ?? []).map(({ uid, identity, group }) => (
    <Link
      key={uid}
      to="/o/$org/access"
      params={{ org }}
      search={{ group: group?.uid ?? org, identity: identity?.uid ?? "" }}
    >
      {t("roles.boundTo", { who: identityText(t, identity), group: groupText(t, group?.name) })}
    </Link>
  ));
  const rest = Number(uses?.totalCount ?? 0) - bindings.length;
  const others = (simulated?.obstacles ?? []).map(({ message }) => message);
  const blockers = [...bindings, ...(rest > 0 ? [t("roles.boundMore", { count: rest })] : [])];
  return (
    <DeleteResourceDialog
      title={t("roles.deleteTitle", { name: role.name })}
      text={t("roles.deleteText")}
      button={t("roles.deleteButton")}
      blocked={t("roles.blocked")}
      blockers={!simulated && missing.length === 0 ? null : blockers.length > 0 ? blockers : others}
      isDisabled={isBlocked}
      method={deleteRole}
      request={request}
      report={t("roles.done.deleted", { name: role.name })}
      onDeleted={() => open("")}
      onClose={onClose}
    />
  );
}

function useBindingsOf(role: string) {
  const { data: me } = useMe();
  const { org } = useRoleAddress();
  const request = { role, uidp: create(UIDPFilterSchema, { descendantsOf: org }), pageSize: listedUses };
  return useQuery(listRoleBindings, request, { enabled: may(me, listRoleBindings, org) }).data;
}
