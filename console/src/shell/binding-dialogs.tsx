// The dialogs that grant, change and revoke roles. Each says what would change before it does anything. Load the texts `access` and
// `capabilities` with them.

import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { GroupInvitesService } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import {
  type RoleBinding,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { may, useMe } from "../api/access.ts";
import { groupText, identityText } from "../api/naming.ts";
import { type Texts, useTexts } from "../texts/texts.ts";
import { AccessPreview, completeChange, useSimulation } from "./access-preview.tsx";
import { useBindingAddress } from "./binding-address.ts";
import { useDraft } from "./draft.ts";
import { Picker } from "./picker.tsx";
import { DeleteResourceDialog, SaveDialog } from "./resource-dialogs.tsx";

const { getRoleBinding, createRoleBinding, updateRoleBinding, deleteRoleBinding } = RoleBindingsService.method;
const { createGroupInvite } = GroupInvitesService.method;

interface GrantPreset {
  /** The group to begin with. */
  readonly group: string;
  /** The identity to begin with; empty to choose one. */
  readonly identity: string;
}

/** Shows the dialog that is in the address. */
export function BindingDialogs(preset: GrantPreset) {
  const { data: me } = useMe();
  const { dialog, binding, closeDialog } = useBindingAddress();
  const isOfBinding = dialog === "change" || dialog === "revoke";
  const { data } = useQuery(
    getRoleBinding,
    { uid: binding },
    { enabled: isOfBinding && may(me, getRoleBinding, binding) },
  );
  if (dialog === "grant" && may(me, createRoleBinding, preset.group))
    return <Grant {...preset} onClose={closeDialog} />;
  if (!data) return null;
  if (dialog === "change" && may(me, updateRoleBinding, binding))
    return <Change binding={data} onClose={closeDialog} />;
  if (dialog === "revoke" && may(me, deleteRoleBinding, binding))
    return <Revoke binding={data} onClose={closeDialog} />;
  return null;
}

interface OfBinding {
  readonly binding: RoleBinding;
  readonly onClose: () => Promise<void>;
}

function Grant({ group, identity, onClose }: GrantPreset & Pick<OfBinding, "onClose">) {
  const { t } = useTexts();
  const { org } = useBindingAddress();
  const { data: me } = useMe();
  const navigate = useNavigate();
  const invite = (email: string) =>
    navigate({
      to: "/o/$org/sign-in/$",
      params: { org, _splat: "" },
      search: { tab: "invites", dialog: "new", email },
    });
  const [parent, setParent] = useDraft("grant.parent", group);
  const [identityUid, setIdentity] = useDraft("grant.identity", identity);
  const [roleUid, setRole] = useDraft("grant.role", "");
  const request = { parent, roleBinding: create(RoleBindingSchema, { identityUid, roleUid }) };
  const change = completeChange({ case: "createRoleBinding", value: request }, parent, identityUid, roleUid);
  const { isBlocked } = useSimulation(change);
  return (
    <SaveDialog
      title={t("access.grant")}
      method={createRoleBinding}
      request={request}
      fields={["parent", "identity_uid", "role_uid"]}
      button={t("access.grantButton")}
      report={t("access.done.granted")}
      isDisabled={isBlocked}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <Picker
            kind="identity"
            name="identity_uid"
            label={t("access.identity")}
            within={org}
            value={identityUid}
            error={errors.identity_uid}
            isFirst
            onChange={setIdentity}
            {...(may(me, createGroupInvite, parent) && { onInvite: invite })}
          />
          <Picker
            kind="role"
            name="role_uid"
            label={t("access.role")}
            within={org}
            value={roleUid}
            error={errors.role_uid}
            onChange={setRole}
          />
          <Picker
            kind="group"
            name="parent"
            label={t("access.group")}
            description={t("access.groupHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
          <AccessPreview change={change} />
        </>
      )}
    </SaveDialog>
  );
}

function Change({ binding, onClose }: OfBinding) {
  const { t } = useTexts();
  const { org } = useBindingAddress();
  const [roleUid, setRole] = useDraft("change.role", binding.role?.uid ?? "");
  const request = {
    roleBinding: create(RoleBindingSchema, { uid: binding.uid, roleUid }),
    updateMask: { paths: ["role_uid"] },
  };
  const isSame = roleUid === binding.role?.uid;
  const change = isSame ? undefined : completeChange({ case: "updateRoleBinding", value: request }, roleUid);
  const { isBlocked } = useSimulation(change);
  return (
    <SaveDialog
      title={t("access.changeTitle", namesOf(t, binding))}
      method={updateRoleBinding}
      request={request}
      fields={["role_uid"]}
      button={t("access.change")}
      report={t("access.done.changed")}
      isDisabled={isSame || roleUid === "" || isBlocked}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <Picker
            kind="role"
            name="role_uid"
            label={t("access.role")}
            within={org}
            value={roleUid}
            error={errors.role_uid}
            onChange={setRole}
          />
          <AccessPreview change={change} />
        </>
      )}
    </SaveDialog>
  );
}

function Revoke({ binding, onClose }: OfBinding) {
  const { t } = useTexts();
  const request = { uid: binding.uid };
  const change = { case: "deleteRoleBinding", value: request } as const;
  const { isBlocked } = useSimulation(change);
  return (
    <DeleteResourceDialog
      title={t("access.revokeTitle", namesOf(t, binding))}
      text={t("access.revokeText")}
      button={t("access.revoke")}
      isDisabled={isBlocked}
      method={deleteRoleBinding}
      request={request}
      report={t("access.done.revoked")}
      onClose={onClose}
    >
      <AccessPreview change={change} />
    </DeleteResourceDialog>
  );
}

function namesOf(t: Texts, { role, identity, group }: RoleBinding) {
  return {
    role: role?.name ?? t("names.hidden"),
    who: identityText(t, identity),
    group: groupText(t, group?.name),
  };
}
