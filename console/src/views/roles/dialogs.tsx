// The dialogs that change roles.
import { create } from "@bufbuild/protobuf";
import { callUnaryMethod, useMutation, useQuery, useTransport } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { type Role, RoleSchema, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { queryClient } from "../../api/transport.ts";
import { nameOf, parentOf, shortUid } from "../../api/uids.ts";
import { AccessPreview, useSimulation } from "../../shell/access-preview.tsx";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { TextField } from "../../shell/fields.tsx";
import { Form, useEdit, useSave } from "../../shell/form.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { useSiblingCheck } from "../../shell/siblings.ts";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRoleAddress } from "./address.ts";
import { CapabilityChoice } from "./capability-choice.tsx";

const { getRole, listRoles, createRole, updateRole, deleteRole } = RolesService.method;
const { listRoleBindings } = RoleBindingsService.method;
const fields = ["name", "description", "capabilities"] as const;

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
  const [parent, setParent] = useState(org);
  const [role, setRole] = useState(() => create(RoleSchema));
  const save = useSave(createRole);
  const findSibling = useSiblingCheck(listRoles);
  const request = { parent, role };
  const submit = () =>
    save(request, {
      report: t("roles.done.created", { name: role.name }),
      onSaved: ({ uid }) => open(uid),
    });
  return (
    <Dialog title={t("roles.new")} onClose={onClose}>
      <Form
        fields={[...fields, "parent"]}
        submit={submit}
        button={t("roles.create")}
        findConfirm={() => findSibling(parent, role.name)}
        onClose={onClose}
        footer={<CopyAs method={createRole} request={request} />}
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
      </Form>
    </Dialog>
  );
}

function EditRole({ role: read, onClose }: { readonly role: Role; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { uid } = read;
  const transport = useTransport();
  const latest = () => callUnaryMethod(transport, getRole, { uid });
  const { before, mine, setMine, changed, conflict } = useEdit(read, latest, valuesOf);
  const { name, description, capabilities } = mine;
  const request = {
    role: create(RoleSchema, { uid, name, description, capabilities }),
    updateMask: { paths: changed },
  };
  const change = changed.includes("capabilities")
    ? ({ case: "updateRole", value: { uid, capabilities } } as const)
    : undefined;
  const { isBlocked } = useSimulation(capabilities.length > 0 ? change : undefined);
  const save = useSave(updateRole);
  const submit = () => save(request, { report: t("roles.done.updated", { name }), onSaved: onClose });
  return (
    <Dialog title={t("roles.editTitle", { name: before.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("roles.save")}
        isDisabled={isBlocked || changed.length === 0}
        onClose={onClose}
        footer={<CopyAs method={updateRole} request={request} />}
        {...conflict}
      >
        {(errors) => (
          <>
            <RoleFields role={mine} at={parentOf(uid)} onChange={setMine} errors={errors} />
            <AccessPreview change={capabilities.length > 0 ? change : undefined} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function valuesOf({ name, description, capabilities }: Role) {
  return { name, description, capabilities: [...capabilities].sort((a, b) => a - b).join(", ") };
}

function RoleFields({
  role,
  at,
  onChange,
  errors,
}: {
  readonly role: Role;
  /** The group of the role. */
  readonly at: string;
  readonly onChange: (role: Role) => void;
  readonly errors: Readonly<Record<string, string>>;
}) {
  const { t } = useTexts();
  return (
    <>
      <TextField
        name="name"
        label={t("roles.name")}
        value={role.name}
        error={errors.name}
        data-autofocus
        onChange={(value) => onChange({ ...role, name: value })}
      />
      <TextField
        name="description"
        label={t("roles.description")}
        value={role.description}
        error={errors.description}
        onChange={(value) => onChange({ ...role, description: value })}
      />
      <CapabilityChoice
        chosen={role.capabilities}
        at={at}
        error={errors.capabilities}
        onChange={(capabilities: Capability[]) => onChange({ ...role, capabilities })}
      />
    </>
  );
}

/** How many of the bindings that stand in the way are listed. */
const listedUses = 10;

function DeleteRole({ role, onClose }: { readonly role: Role; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org, open } = useRoleAddress();
  const { mutateAsync } = useMutation(deleteRole);
  const request = { uid: role.uid };
  const change = { case: "deleteRole", value: request } as const;
  const { data: simulated, isBlocked, missing } = useSimulation(change);
  const uses = useBindingsOf(role.uid);
  const remove = async () => {
    await mutateAsync(request);
    notify(t("roles.done.deleted", { name: role.name }));
    await open("");
    await queryClient.invalidateQueries();
  };
  const bindings = (uses?.roleBindings ?? []).map(({ uid, identity, group }) => (
    <Link
      key={uid}
      to="/o/$org/access"
      params={{ org }}
      search={{ group: group?.uid ?? org, identity: identity?.uid ?? "" }}
    >
      {t("roles.boundTo", { who: nameOf(identity), group: group?.name || shortUid(group?.uid ?? "") })}
    </Link>
  ));
  const rest = Number(uses?.totalCount ?? 0) - bindings.length;
  const others = (simulated?.obstacles ?? []).map(({ message }) => message);
  const blockers = [...bindings, ...(rest > 0 ? [t("roles.boundMore", { count: rest })] : [])];
  return (
    <DeleteDialog
      title={t("roles.deleteTitle", { name: role.name })}
      text={t("roles.deleteText")}
      button={t("roles.deleteButton")}
      blocked={t("roles.blocked")}
      blockers={!simulated && missing.length === 0 ? null : blockers.length > 0 ? blockers : others}
      isDisabled={isBlocked}
      remove={remove}
      onClose={onClose}
      footer={<CopyAs method={deleteRole} request={request} />}
    />
  );
}

function useBindingsOf(role: string) {
  const { data: me } = useMe();
  const { org } = useRoleAddress();
  const request = { role, uidp: create(UIDPFilterSchema, { descendantsOf: org }), pageSize: listedUses };
  return useQuery(listRoleBindings, request, { enabled: may(me, listRoleBindings, org) }).data;
}
