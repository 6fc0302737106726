// The dialogs that grant, change and revoke roles. Each says what would change before it does anything. Load the texts `access` and
// `capabilities` with them.

import { create, type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { GroupInvitesService } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import {
  type RoleBinding,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RoleBindingTermsService } from "../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { may, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { AccessPreview, completeChange, useSimulation } from "./access-preview.tsx";
import { useBindingAddress } from "./binding-address.ts";
import { bindingNames } from "./binding-names.ts";
import { useDraft } from "./draft.ts";
import { EndField, endFields, isPossible, noEnd, outlivesText, termOf } from "./end-field.tsx";
import { Picker } from "./picker.tsx";
import { DeleteResourceDialog, SaveDialog } from "./resource-dialogs.tsx";
import { TermDialog } from "./term-dialog.tsx";

const { getRoleBinding, createRoleBinding, updateRoleBinding, deleteRoleBinding } = RoleBindingsService.method;
const { createRoleBindingTerm, updateRoleBindingTerm } = RoleBindingTermsService.method;
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
  const isOfBinding = dialog !== undefined && dialog !== "grant";
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
  if (dialog === "end" && may(me, updateRoleBindingTerm, binding))
    return <TermDialog binding={data} onClose={closeDialog} />;
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
  const [end, setEnd] = useDraft("grant.end", noEnd);
  const forever = { parent, roleBinding: create(RoleBindingSchema, { identityUid, roleUid }) };
  const timed = { parent, term: { identityUid, roleUid, ...termOf(end) } };
  const isTimed = end.choice !== "";
  const full = isTimed
    ? ({ case: "createTerm", value: timed } as const)
    : ({ case: "createRoleBinding", value: forever } as const);
  const change = isPossible(end) ? completeChange(full, parent, identityUid, roleUid) : undefined;
  const { data: simulated, isBlocked } = useSimulation(change);
  const dialogOf = <I extends DescMessage, O extends DescMessage>(call: {
    readonly method: DescMethodUnary<I, O>;
    readonly request: MessageInitShape<I>;
  }) => (
    <SaveDialog
      {...call}
      title={t("access.grant")}
      fields={["parent", "identity_uid", "role_uid", ...endFields]}
      button={t("access.grantButton")}
      report={t("access.done.granted")}
      isDisabled={isBlocked || !isPossible(end)}
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
          <EndField value={end} errors={errors} obstacle={outlivesText(t, simulated)} onChange={setEnd} />
          <AccessPreview change={change} />
        </>
      )}
    </SaveDialog>
  );
  return isTimed
    ? dialogOf({ method: createRoleBindingTerm, request: timed })
    : dialogOf({ method: createRoleBinding, request: forever });
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
      title={t("access.changeTitle", bindingNames(t, binding))}
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
      title={t("access.revokeTitle", bindingNames(t, binding))}
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
