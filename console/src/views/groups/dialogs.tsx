// The dialogs that change groups.
import { create } from "@bufbuild/protobuf";
import { callUnaryMethod, useMutation, useQuery, useTransport } from "@connectrpc/connect-query";
import { Textarea } from "@mantine/core";
import { useState } from "react";
import { type Group, GroupSchema, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { queryClient } from "../../api/transport.ts";
import { parentOf } from "../../api/uids.ts";
import { useContents } from "../../shell/counts.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { TextField } from "../../shell/fields.tsx";
import { Form, useEdit, useSave } from "../../shell/form.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
import { useSiblingCheck } from "../../shell/siblings.ts";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useGroupAddress } from "./address.ts";
import { ContentLink } from "./content-link.tsx";

const { getGroup, listGroups, createGroup, updateGroup, deleteGroup } = GroupsService.method;
const fields = ["name", "description"] as const;

/** Shows the dialog that is in the address. */
export function GroupDialogs() {
  const { org, selected, search, close } = useGroupAddress();
  const { data: me } = useMe();
  const uid = selected === "" ? org : selected;
  const isOpen = search.dialog !== undefined;
  const { data: group } = useQuery(getGroup, { uid }, { enabled: isOpen && may(me, getGroup, uid) });
  if (!isOpen || !group) return null;
  if (search.dialog === "new" && may(me, createGroup, uid))
    return <NewGroup parent={group} onClose={() => void close()} />;
  if (search.dialog === "edit" && may(me, updateGroup, uid))
    return <EditGroup group={group} onClose={() => void close()} />;
  if (search.dialog === "delete" && may(me, deleteGroup, uid))
    return <DeleteGroup group={group} onClose={() => void close()} />;
  return null;
}

function NewGroup({ parent, onClose }: { readonly parent: Group; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { open } = useGroupAddress();
  const [group, setGroup] = useState(() => create(GroupSchema));
  const request = { parent: parent.uid, group };
  const save = useSave(createGroup);
  const findSibling = useSiblingCheck(listGroups);
  const submit = () =>
    save(request, {
      report: t("groups.done.created", { name: group.name }),
      onSaved: ({ uid }) => open(uid),
    });
  return (
    <Dialog title={t("groups.newIn", { name: parent.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("groups.create")}
        findConfirm={() => findSibling(parent.uid, group.name)}
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
  const { uid } = read;
  const transport = useTransport();
  const latest = () => callUnaryMethod(transport, getGroup, { uid });
  const { before, mine, setMine, changed, conflict } = useEdit(read, latest, valuesOf);
  const request = { group: create(GroupSchema, { uid, ...valuesOf(mine) }), updateMask: { paths: changed } };
  const save = useSave(updateGroup);
  const submit = () => save(request, { report: t("groups.done.updated", { name: mine.name }), onSaved: onClose });
  return (
    <Dialog title={t("groups.editTitle", { name: before.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("groups.save")}
        isDisabled={changed.length === 0}
        onClose={onClose}
        footer={<CopyAs method={updateGroup} request={request} />}
        {...conflict}
      >
        {(errors) => <GroupFields group={mine} onChange={setMine} errors={errors} />}
      </Form>
    </Dialog>
  );
}

function valuesOf({ name, description }: Group) {
  return { name, description };
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
      <TextField
        name="name"
        label={t("groups.name")}
        description={t("groups.nameHelp")}
        value={group.name}
        error={errors.name}
        data-autofocus
        onChange={(value) => onChange({ ...group, name: value })}
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
  const contents = useContents(group.uid);
  const { mutateAsync } = useMutation(deleteGroup);
  const remove = async () => {
    await mutateAsync({ uid: group.uid });
    notify(t("groups.done.deleted", { name: group.name }));
    await open(parentOf(group.uid), { filter: undefined });
    await queryClient.invalidateQueries();
  };
  return (
    <DeleteDialog
      title={t("groups.deleteTitle", { name: group.name })}
      text={t("groups.empty")}
      button={t("groups.deleteButton")}
      blocked={t("groups.blocked")}
      blockers={
        contents?.deletionObstacles.map(({ kind, count }) => (
          <ContentLink key={kind} kind={kind} count={count} uid={group.uid} isInDialog />
        )) ?? null
      }
      name={group.name}
      remove={remove}
      onClose={onClose}
      footer={<CopyAs method={deleteGroup} request={{ uid: group.uid }} />}
    />
  );
}
