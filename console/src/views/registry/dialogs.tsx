// The dialogs that change repos.
import { useQuery } from "@connectrpc/connect-query";
import { Textarea } from "@mantine/core";
import {
  type Repo,
  type RepoReadme,
  ReposService,
} from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { useDraft } from "../../shell/draft.ts";
import { type FieldOf, TextFields } from "../../shell/fields.tsx";
import { Picker } from "../../shell/picker.tsx";
import { DeleteResourceDialog, SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import { PullToken } from "./pull-token.tsx";
import { missingForPullToken } from "./pull-token-access.ts";

const { getRepo, createRepo, updateRepo, deleteRepo, getRepoReadme, updateRepoReadme } = ReposService.method;

const textFields = [
  { name: "name", text: "registry.name", help: "registry.nameHelp" },
  { name: "description", text: "registry.description" },
] as const satisfies readonly FieldOf<string>[];

const fieldNames = textFields.map(({ name }) => name);

type Draft = Pick<Repo, (typeof fieldNames)[number]>;

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
  const [parent, setParent] = useDraft("newRepo.parent", org);
  const [repo, setRepo] = useDraft<Draft>("newRepo", { name: "", description: "" });
  return (
    <SaveDialog
      title={t("registry.new")}
      method={createRepo}
      request={{ parent, repo }}
      fields={[...fieldNames, "parent"]}
      button={t("registry.create")}
      report={t("registry.done.created", { name: repo.name })}
      onSaved={({ uid }) => open(uid)}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <TextFields fields={textFields} values={repo} onChange={setRepo} errors={errors} />
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
    </SaveDialog>
  );
}

function EditRepo({ repo, onClose }: { readonly repo: Repo; readonly onClose: () => void }) {
  const { t } = useTexts();
  const edit = useEdit(getRepo, repo, draftOf, (draft) => draft);
  const { before, mine, setMine, changed } = edit;
  return (
    <SaveDialog
      title={t("registry.editTitle", { name: before.name })}
      method={updateRepo}
      request={{ repo: { uid: repo.uid, ...mine }, updateMask: { paths: changed } }}
      fields={fieldNames}
      button={t("registry.save")}
      report={t("registry.done.updated", { name: mine.name })}
      edit={edit}
      onClose={onClose}
    >
      {(errors) => (
        <>
          {mine.name !== before.name && <p className="notice warn">{t("registry.renameHelp")}</p>}
          <TextFields fields={textFields} values={mine} onChange={setMine} errors={errors} />
        </>
      )}
    </SaveDialog>
  );
}

function draftOf({ name, description }: Repo): Draft {
  return { name, description };
}

/** Reads the readme, and then shows the form: it begins with what was read. */
function EditReadme({ repo: { uid, name }, onClose }: { readonly repo: Repo; readonly onClose: () => void }) {
  const { data } = useQuery(getRepoReadme, { uid });
  return data ? <ReadmeForm repo={name} read={data} onClose={onClose} /> : null;
}

function ReadmeForm({
  repo: name,
  read,
  onClose,
}: {
  readonly repo: string;
  readonly read: RepoReadme;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const edit = useEdit(
    getRepoReadme,
    read,
    ({ content }) => content,
    (content) => ({ content }),
  );
  const { mine: content, setMine, changed } = edit;
  return (
    <SaveDialog
      title={t("registry.readmeTitle", { name })}
      method={updateRepoReadme}
      request={{ repoReadme: { uid: read.uid, content }, updateMask: { paths: changed } }}
      fields={["content"]}
      button={t("registry.saveReadme")}
      report={t("registry.done.readme", { name })}
      edit={edit}
      onClose={onClose}
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
          onChange={({ currentTarget }) => setMine(currentTarget.value)}
        />
      )}
    </SaveDialog>
  );
}

function DeleteRepo({ repo: { uid, name }, onClose }: { readonly repo: Repo; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { open } = useRegistryAddress();
  return (
    <DeleteResourceDialog
      title={t("registry.deleteTitle", { name })}
      text={t("registry.deleteText")}
      button={t("registry.deleteButton")}
      name={name}
      method={deleteRepo}
      request={{ uid }}
      report={t("registry.done.deleted", { name })}
      onDeleted={() => open("")}
      onClose={onClose}
    />
  );
}
