// The dialogs that change groups.
import { useQuery } from "@connectrpc/connect-query";
import { Textarea } from "@mantine/core";
import { type Group, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { parentOf } from "../../api/uids.ts";
import { useContents } from "../../shell/counts.ts";
import { useDraft } from "../../shell/draft.ts";
import { TextField } from "../../shell/fields.tsx";
import { DeleteResourceDialog, SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useSiblingCheck } from "../../shell/siblings.ts";
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

function NewGroup({
  parent: { uid: parent, name },
  onClose,
}: {
  readonly parent: Group;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const { open } = useGroupAddress();
  const [group, setGroup] = useDraft<Draft>("newGroup", { name: "", description: "" });
  const findSibling = useSiblingCheck(listGroups);
  return (
    <SaveDialog
      title={t("groups.newIn", { name })}
      method={createGroup}
      request={{ parent, group }}
      fields={fields}
      button={t("groups.create")}
      report={t("groups.done.created", { name: group.name })}
      findConfirm={() => findSibling(parent, group.name)}
      onSaved={({ uid }) => open(uid)}
      onClose={onClose}
    >
      {(errors) => <GroupFields group={group} onChange={setGroup} errors={errors} />}
    </SaveDialog>
  );
}

function EditGroup({ group, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const { t } = useTexts();
  const edit = useEdit(getGroup, group, draftOf, (draft) => draft);
  const { before, mine, setMine, changed } = edit;
  return (
    <SaveDialog
      title={t("groups.editTitle", { name: before.name })}
      method={updateGroup}
      request={{ group: { uid: group.uid, ...mine }, updateMask: { paths: changed } }}
      fields={fields}
      button={t("groups.save")}
      report={t("groups.done.updated", { name: mine.name })}
      edit={edit}
      onClose={onClose}
    >
      {(errors) => <GroupFields group={mine} onChange={setMine} errors={errors} />}
    </SaveDialog>
  );
}

type Draft = Pick<Group, (typeof fields)[number]>;

function draftOf({ name, description }: Group): Draft {
  return { name, description };
}

function GroupFields({
  group,
  onChange,
  errors,
}: {
  readonly group: Draft;
  readonly onChange: (group: Draft) => void;
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
  return (
    <DeleteResourceDialog
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
      method={deleteGroup}
      request={{ uid: group.uid }}
      report={t("groups.done.deleted", { name: group.name })}
      onDeleted={() => open(parentOf(group.uid), { filter: undefined })}
      onClose={onClose}
    />
  );
}
