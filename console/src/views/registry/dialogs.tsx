// The dialogs that change repos.
import { create } from "@bufbuild/protobuf";
import { callUnaryMethod, useMutation, useQuery, useTransport } from "@connectrpc/connect-query";
import { Textarea } from "@mantine/core";
import { useState } from "react";
import {
  type Repo,
  RepoReadmeSchema,
  RepoSchema,
  ReposService,
} from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { queryClient } from "../../api/transport.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { TextField } from "../../shell/fields.tsx";
import { Form, useEdit, useSave } from "../../shell/form.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import { PullToken } from "./pull-token.tsx";
import { missingForPullToken } from "./pull-token-access.ts";

const { getRepo, createRepo, updateRepo, deleteRepo, getRepoReadme, updateRepoReadme } = ReposService.method;
const fields = ["name", "description"] as const;

/** Shows the dialog that is in the address. */
export function RegistryDialogs() {
  const { data: me } = useMe();
  const { org, selected: uid, search, close } = useRegistryAddress();
  const { dialog } = search;
  const isOfRepo = dialog !== undefined && dialog !== "new" && uid !== "" && may(me, getRepo, uid);
  const { data: repo } = useQuery(getRepo, { uid }, { enabled: isOfRepo });
  const onClose = () => void close();
  if (dialog === "new" && may(me, createRepo, org)) return <NewRepo onClose={onClose} />;
  if (!repo) return null;
  if (dialog === "edit" && may(me, updateRepo, uid)) return <EditRepo repo={repo} onClose={onClose} />;
  if (dialog === "readme" && may(me, updateRepoReadme, uid)) return <EditReadme repo={repo} onClose={onClose} />;
  if (dialog === "delete" && may(me, deleteRepo, uid)) return <DeleteRepo repo={repo} onClose={onClose} />;
  if (dialog === "pull-token" && me && missingForPullToken(me, uid).length === 0)
    return <PullToken repo={repo} onClose={onClose} />;
  return null;
}

function NewRepo({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org, open } = useRegistryAddress();
  const [parent, setParent] = useState(org);
  const [repo, setRepo] = useState(() => create(RepoSchema));
  const save = useSave(createRepo);
  const request = { parent, repo };
  const submit = () =>
    save(request, {
      report: t("registry.done.created", { name: repo.name }),
      onSaved: ({ uid }) => open(uid),
    });
  return (
    <Dialog title={t("registry.new")} onClose={onClose}>
      <Form
        fields={[...fields, "parent"]}
        submit={submit}
        button={t("registry.create")}
        onClose={onClose}
        footer={<CopyAs method={createRepo} request={request} />}
      >
        {(errors) => (
          <>
            <RepoFields repo={repo} onChange={setRepo} errors={errors} />
            <Picker
              kind="group"
              name="parent"
              label={t("registry.group")}
              description={t("registry.groupHelp")}
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

function EditRepo({ repo: read, onClose }: { readonly repo: Repo; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { uid } = read;
  const transport = useTransport();
  const latest = () => callUnaryMethod(transport, getRepo, { uid });
  const { before, mine, setMine, changed, conflict } = useEdit(read, latest, valuesOf);
  const { name } = mine;
  const request = { repo: create(RepoSchema, { uid, ...valuesOf(mine) }), updateMask: { paths: changed } };
  const save = useSave(updateRepo);
  const submit = () => save(request, { report: t("registry.done.updated", { name }), onSaved: onClose });
  return (
    <Dialog title={t("registry.editTitle", { name: before.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("registry.save")}
        isDisabled={changed.length === 0}
        onClose={onClose}
        footer={<CopyAs method={updateRepo} request={request} />}
        {...conflict}
      >
        {(errors) => (
          <>
            {name !== before.name && <p className="notice warn">{t("registry.renameHelp")}</p>}
            <RepoFields repo={mine} onChange={setMine} errors={errors} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function valuesOf({ name, description }: Repo) {
  return { name, description };
}

function RepoFields({
  repo,
  onChange,
  errors,
}: {
  readonly repo: Repo;
  readonly onChange: (repo: Repo) => void;
  readonly errors: Readonly<Record<string, string>>;
}) {
  const { t } = useTexts();
  return (
    <>
      <TextField
        name="name"
        label={t("registry.name")}
        description={t("registry.nameHelp")}
        value={repo.name}
        error={errors.name}
        data-autofocus
        onChange={(value) => onChange({ ...repo, name: value })}
      />
      <TextField
        name="description"
        label={t("registry.description")}
        value={repo.description}
        error={errors.description}
        onChange={(value) => onChange({ ...repo, description: value })}
      />
    </>
  );
}

/** Reads the readme, and then shows the form: it begins with what was read. */
function EditReadme({ repo, onClose }: { readonly repo: Repo; readonly onClose: () => void }) {
  const { data } = useQuery(getRepoReadme, { uid: repo.uid });
  return data ? <ReadmeForm repo={repo} read={data.content} onClose={onClose} /> : null;
}

function ReadmeForm({
  repo: { uid, name },
  read,
  onClose,
}: {
  readonly repo: Repo;
  readonly read: string;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const transport = useTransport();
  const latest = async () => (await callUnaryMethod(transport, getRepoReadme, { uid })).content;
  const {
    mine: content,
    setMine: setContent,
    changed,
    conflict,
  } = useEdit(read, latest, (readme) => ({ content: readme }));
  const request = { repoReadme: create(RepoReadmeSchema, { uid, content }), updateMask: { paths: changed } };
  const save = useSave(updateRepoReadme);
  const submit = () => save(request, { report: t("registry.done.readme", { name }), onSaved: onClose });
  return (
    <Dialog title={t("registry.readmeTitle", { name })} onClose={onClose}>
      <Form
        fields={["content"]}
        submit={submit}
        button={t("registry.saveReadme")}
        isDisabled={changed.length === 0}
        onClose={onClose}
        footer={<CopyAs method={updateRepoReadme} request={request} />}
        {...conflict}
      >
        {(errors) => (
          <Textarea
            name="content"
            label={t("registry.markdown")}
            description={t("registry.markdownHelp")}
            rows={16}
            value={content}
            error={errors.content}
            data-autofocus
            onChange={({ currentTarget }) => setContent(currentTarget.value)}
          />
        )}
      </Form>
    </Dialog>
  );
}

function DeleteRepo({ repo: { uid, name }, onClose }: { readonly repo: Repo; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { open } = useRegistryAddress();
  const { mutateAsync } = useMutation(deleteRepo);
  const remove = async () => {
    await mutateAsync({ uid });
    notify(t("registry.done.deleted", { name }));
    await open("");
    await queryClient.invalidateQueries();
  };
  return (
    <DeleteDialog
      title={t("registry.deleteTitle", { name })}
      text={t("registry.deleteText")}
      button={t("registry.deleteButton")}
      name={name}
      remove={remove}
      onClose={onClose}
      footer={<CopyAs method={deleteRepo} request={{ uid }} />}
    />
  );
}
