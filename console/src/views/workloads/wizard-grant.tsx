// The third step of the wizard: what the workload does, and at which group. The role is the least that does it.
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { parentOf } from "../../api/uids.ts";
import { AccessPreview, completeChange } from "../../shell/access-preview.tsx";
import { useDraft } from "../../shell/draft.ts";
import { Form, useSave } from "../../shell/form.tsx";
import { CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { Radios } from "../../shell/radios.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { type Task, tasks } from "./wizard-script.ts";

const { createRoleBinding } = RoleBindingsService.method;
const { listRoles } = RolesService.method;

interface GrantProps {
  readonly identity: Pick<Identity, "uid" | "name">;
  /** Gets the task that the workload has a role for. */
  readonly onDone: (task: Task["id"] | "none") => void;
}

/** The values of the form. */
interface Choice {
  readonly task: Task["id"];
  /** The uid of a role for the task `other`. */
  readonly otherRole: string;
  readonly parent: string;
}

/** Grants one role at one group. */
export function Grant({ identity, onDone }: GrantProps) {
  const { t } = useTexts();
  const { org } = useWorkloadsAddress();
  const { data: me } = useMe();
  const place = parentOf(identity.uid);
  const [choice, setChoice] = useDraft<Choice>("grant", {
    task: "pull",
    otherRole: "",
    // A role at the organization holds in all of its groups: that has to be chosen.
    parent: place === org ? "" : place,
  });
  const { task: taskId, otherRole, parent } = choice;
  const save = useSave(createRoleBinding);
  const task = tasks.find(({ id }) => id === taskId)!;
  const leastRole = useBuiltInRole(task.role);
  const roleUid = taskId === "other" ? otherRole : leastRole;
  const request = { parent, roleBinding: create(RoleBindingSchema, { identityUid: identity.uid, roleUid }) };
  const missing = parent === "" ? [] : missingFor(me, createRoleBinding, parent);
  return (
    <Form
      fields={["role_uid", "parent"]}
      submit={() => save(request, { onSaved: () => onDone(taskId) })}
      button={t("wizard.grant")}
      isDisabled={roleUid === "" || parent === "" || missing.length > 0}
      onClose={() => onDone("none")}
      cancel={t("wizard.skip")}
      footer={<CopyAs method={createRoleBinding} request={request} />}
    >
      {(errors) => (
        <>
          <Radios
            legend={t("wizard.task", { name: identity.name })}
            name="task"
            choices={tasks.map(({ id }) => ({ value: id, text: t(`wizard.task.${id}`) }))}
            value={taskId}
            isFirst
            onChange={(id) => setChoice({ ...choice, task: id })}
          />
          {taskId === "other" && (
            <Picker
              kind="role"
              name="role_uid"
              label={t("identities.role")}
              within={org}
              value={otherRole}
              error={errors.role_uid}
              onChange={(uid) => setChoice({ ...choice, otherRole: uid })}
            />
          )}
          <Picker
            kind="group"
            name="parent"
            label={t("wizard.group")}
            description={t("wizard.roleGroupHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={(uid) => setChoice({ ...choice, parent: uid })}
          />
          {parent === org && <p className="notice warn">{t("wizard.atOrganization")}</p>}
          {missing.length > 0 ? (
            <p className="notice warn">{t("state.missing", { capabilities: missing.join(", ") })}</p>
          ) : (
            <AccessPreview change={completeChange({ case: "createRoleBinding", value: request }, parent, roleUid)} />
          )}
        </>
      )}
    </Form>
  );
}

/** Returns the uid of a built-in role; empty while it is read, and without a name. Roles of the organization may have the same name. */
function useBuiltInRole(name: string | undefined): string {
  const { data: me } = useMe();
  const request = { name: name ?? "", pageSize: 50 };
  const { data } = useQuery(listRoles, request, { enabled: name !== undefined && may(me, listRoles) });
  return data?.roles.find(({ uid }) => !uid.includes("/"))?.uid ?? "";
}
