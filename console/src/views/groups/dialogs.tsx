// The dialogs that change groups.
import { create } from "@bufbuild/protobuf";
import { callUnaryMethod, useMutation, useQuery, useTransport } from "@connectrpc/connect-query";
import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Group, GroupSchema, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { queryClient } from "../../api/transport.ts";
import { parentOf } from "../../api/uids.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { differencesOf, Form } from "../../shell/form.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { type Kind, useCounts } from "../counts.ts";
import { useGroupAddress } from "./groups.tsx";

const { getGroup, createGroup, updateGroup, deleteGroup } = GroupsService.method;
const fields = ["name", "description"] as const;

/** Shows the dialog that is in the address. */
export function GroupDialogs() {
  const { org, selected, search, open } = useGroupAddress();
  const { data: me } = useMe();
  const uid = selected === "" ? org : selected;
  const isOpen = search.dialog !== undefined;
  const { data: group } = useQuery(getGroup, { uid }, { enabled: isOpen && may(me, getGroup, uid) });
  if (!isOpen || !group) return null;
  const close = () => void open(selected, search.filter === undefined ? {} : { filter: search.filter });
  if (search.dialog === "new" && may(me, createGroup, uid)) return <NewGroup parent={group} onClose={close} />;
  if (search.dialog === "edit" && may(me, updateGroup, uid)) return <EditGroup group={group} onClose={close} />;
  if (search.dialog === "delete" && may(me, deleteGroup, uid)) return <DeleteGroup group={group} onClose={close} />;
  return null;
}

/** Everything that shows groups is read again. */
async function refresh(): Promise<void> {
  await queryClient.invalidateQueries();
}

function NewGroup({ parent, onClose }: { readonly parent: Group; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { search, open } = useGroupAddress();
  const [group, setGroup] = useState(() => create(GroupSchema));
  const request = { parent: parent.uid, group };
  const { mutateAsync } = useMutation(createGroup);
  const submit = async () => {
    const created = await mutateAsync(request);
    await refresh();
    notify(t("groups.done.created", { name: created.name }));
    await open(created.uid, search.filter === undefined ? {} : { filter: search.filter });
  };
  return (
    <Dialog title={t("groups.newIn", { name: parent.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("groups.create")}
        onClose={onClose}
        footer={<CopyAs method={createGroup} request={request} />}
      >
        {(errors) => <GroupFields group={group} onChange={setGroup} errors={errors} />}
      </Form>
    </Dialog>
  );
}

function EditGroup({ group: read, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const { t } = useTexts();
  // The page reads the group again while the form is open.
  const [before, setBefore] = useState(read);
  const [group, setGroup] = useState(read);
  const transport = useTransport();
  const { uid, name, description } = group;
  const paths = fields.filter((field) => group[field] !== before[field]);
  const request = { group: create(GroupSchema, { uid, name, description }), updateMask: { paths } };
  const { mutateAsync } = useMutation(updateGroup);
  const latest = () => callUnaryMethod(transport, getGroup, { uid });
  const submit = async () => {
    const updated = paths.length === 0 ? group : await mutateAsync(request);
    await refresh();
    notify(t("groups.done.updated", { name: updated.name }));
    onClose();
  };
  const takeTheirs = async () => {
    const theirs = await latest();
    setBefore(theirs);
    setGroup(theirs);
  };
  return (
    <Dialog title={t("groups.editTitle", { name: before.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("groups.save")}
        onClose={onClose}
        footer={<CopyAs method={updateGroup} request={request} />}
        differences={async () => differencesOf(paths, before, await latest(), group)}
        onTakeTheirs={takeTheirs}
      >
        {(errors) => <GroupFields group={group} onChange={setGroup} errors={errors} />}
      </Form>
    </Dialog>
  );
}

function GroupFields({
  group,
  onChange,
  errors,
}: {
  readonly group: Group;
  readonly onChange: (group: Group) => void;
  readonly errors: Readonly<Record<string, string>>;
}) {
  const { t } = useTexts();
  return (
    <>
      <TextInput
        name="name"
        label={t("groups.name")}
        description={t("groups.nameHelp")}
        value={group.name}
        error={errors.name}
        data-autofocus
        autoComplete="off"
        onChange={({ currentTarget }) => onChange({ ...group, name: currentTarget.value })}
      />
      <Textarea
        name="description"
        label={t("groups.description")}
        value={group.description}
        error={errors.description}
        rows={3}
        onChange={({ currentTarget }) => onChange({ ...group, description: currentTarget.value })}
      />
    </>
  );
}

/** Says what stands in the way. Without anything there, the name must be typed. */
function DeleteGroup({ group, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { open } = useGroupAddress();
  const counts = useCounts(group.uid);
  const { mutateAsync } = useMutation(deleteGroup);
  const isRead = counts.every(({ count }) => count !== undefined);
  // The server takes the last owner's role binding away together with an organization.
  const allowed = (kind: Kind) => (kind === "bindings" && parentOf(group.uid) === "" ? 1 : 0);
  const blocking = counts.filter(({ kind, count }) => count !== undefined && count > allowed(kind));
  const remove = async () => {
    await mutateAsync({ uid: group.uid });
    notify(t("groups.done.deleted", { name: group.name }));
    await open(parentOf(group.uid));
    await refresh();
  };
  return (
    <DeleteDialog
      title={t("groups.deleteTitle", { name: group.name })}
      text={t("groups.empty")}
      button={t("groups.deleteButton")}
      blocked={t("groups.blocked")}
      blockers={isRead ? blocking.map(({ kind, count }) => t(`kind.${kind}`, { count })) : null}
      name={group.name}
      remove={remove}
      onClose={onClose}
      footer={<CopyAs method={deleteGroup} request={{ uid: group.uid }} />}
    />
  );
}
