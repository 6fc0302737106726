// The dialogs that change groups.
import { create } from "@bufbuild/protobuf";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Button, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { type Group, GroupSchema, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { type FormErrors, formErrors, noErrors } from "../../api/field-errors.ts";
import { queryClient } from "../../api/transport.ts";
import { parentOf } from "../../api/uids.ts";
import { CopyAs, Dialog, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useCounts } from "../counts.ts";
import { useGroupAddress } from "./groups.tsx";

const { getGroup, createGroup, updateGroup, deleteGroup } = GroupsService.method;

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
      <GroupForm group={group} onChange={setGroup} submit={submit} button={t("groups.create")} onClose={onClose}>
        <CopyAs method={createGroup} request={request} />
      </GroupForm>
    </Dialog>
  );
}

function EditGroup({ group: before, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [group, setGroup] = useState(before);
  const { uid, name, description } = group;
  const request = {
    group: create(GroupSchema, { uid, name, description }),
    updateMask: { paths: ["name", "description"] },
  };
  const { mutateAsync } = useMutation(updateGroup);
  const submit = async () => {
    const updated = await mutateAsync(request);
    await refresh();
    notify(t("groups.done.updated", { name: updated.name }));
    onClose();
  };
  return (
    <Dialog title={t("groups.editTitle", { name: before.name })} onClose={onClose}>
      <GroupForm group={group} onChange={setGroup} submit={submit} button={t("groups.save")} onClose={onClose}>
        <CopyAs method={updateGroup} request={request} />
      </GroupForm>
    </Dialog>
  );
}

/** The fields of a group. Violations stand below their field, the others above the form. */
function GroupForm({
  group,
  onChange,
  submit,
  button,
  onClose,
  children,
}: {
  readonly group: Group;
  readonly onChange: (group: Group) => void;
  readonly submit: () => Promise<void>;
  readonly button: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useTexts();
  const [errors, setErrors] = useState<FormErrors>(noErrors);
  const [isSending, setSending] = useState(false);
  const send = async (form: HTMLFormElement) => {
    setSending(true);
    setErrors(noErrors);
    try {
      await submit();
    } catch (error) {
      const found = formErrors(error, ["name", "description"]);
      setErrors(found);
      setSending(false);
      const [first] = Object.keys(found.fields);
      if (first !== undefined) form.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
    }
  };
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
      onKeyDown={(event) => {
        if (event.ctrlKey && event.key === "Enter") void send(event.currentTarget);
      }}
    >
      {errors.others.map((text) => (
        <p key={text} className="notice bad" role="alert">
          {text}
        </p>
      ))}
      <TextInput
        name="name"
        label={t("groups.name")}
        description={t("groups.nameHelp")}
        value={group.name}
        error={errors.fields.name}
        data-autofocus
        autoComplete="off"
        onChange={({ currentTarget }) => onChange({ ...group, name: currentTarget.value })}
      />
      <Textarea
        name="description"
        label={t("groups.description")}
        value={group.description}
        error={errors.fields.description}
        rows={3}
        onChange={({ currentTarget }) => onChange({ ...group, description: currentTarget.value })}
      />
      <div className="row">
        {children}
        <div className="grow" />
        <Button variant="default" onClick={onClose}>
          {t("action.cancel")}
        </Button>
        <Button type="submit" loading={isSending}>
          {button}
        </Button>
      </div>
    </form>
  );
}

/** Says what stands in the way. Without anything there, the name must be typed. */
function DeleteGroup({ group, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { open } = useGroupAddress();
  const counts = useCounts(group.uid);
  const [typed, setTyped] = useState("");
  const { mutateAsync, error, isPending } = useMutation(deleteGroup);
  const blocking = counts.filter(({ count }) => count !== undefined && count > 0);
  const isRead = counts.every(({ count }) => count !== undefined);
  const remove = async () => {
    await mutateAsync({ uid: group.uid });
    notify(t("groups.done.deleted", { name: group.name }));
    await open(parentOf(group.uid));
    await refresh();
  };
  return (
    <Dialog title={t("groups.deleteTitle", { name: group.name })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          remove().catch(() => {});
        }}
      >
        {error && <Failure error={error} />}
        {!isRead && <Loading lines={2} />}
        {isRead && blocking.length > 0 && (
          <div className="notice warn">
            <p>{t("groups.blocked")}</p>
            <ul>
              {blocking.map(({ kind, count }) => (
                <li key={kind}>{t(`kind.${kind}`, { count })}</li>
              ))}
            </ul>
          </div>
        )}
        {isRead && blocking.length === 0 && (
          <>
            <p>{t("groups.empty")}</p>
            <TextInput
              label={t("groups.typeName", { name: group.name })}
              value={typed}
              autoComplete="off"
              data-autofocus
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          </>
        )}
        <div className="row">
          <CopyAs method={deleteGroup} request={{ uid: group.uid }} />
          <div className="grow" />
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button
            type="submit"
            color="danger"
            loading={isPending}
            disabled={!isRead || blocking.length > 0 || typed !== group.name}
          >
            {t("groups.deleteButton")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
