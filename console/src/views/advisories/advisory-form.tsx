// The dialogs that create, change and delete an advisory. The published contract has these methods in version 1 only.
import { create } from "@bufbuild/protobuf";
import {
  Advisories,
  type Advisory as Advisory1,
  AdvisorySchema,
} from "../../../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import {
  AdvisoriesService,
  type Advisory,
  AdvisorySchema as CurrentSchema,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { useMe } from "../../api/access.ts";
import { useDraft } from "../../shell/draft.ts";
import { type FieldOf, TextField, TextFields } from "../../shell/fields.tsx";
import { Picker } from "../../shell/picker.tsx";
import { DeleteResourceDialog, SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAdvisoryAddress } from "./address.ts";
import { authorOf, listIn } from "./event-draft.ts";

const { getAdvisory } = AdvisoriesService.method;
const { create: createAdvisory, update: updateAdvisory, delete: deleteAdvisory } = Advisories.method;

const textFields = [
  { name: "aliases", text: "advisories.aliases", help: "advisories.aliasesHelp" },
  { name: "artifact_name", text: "advisories.package", help: "advisories.packageHelp" },
  { name: "artifact_type", text: "advisories.packageType", help: "advisories.packageTypeHelp" },
  { name: "artifact_architecture", text: "advisories.architecture", help: "advisories.architectureHelp" },
  { name: "component_name", text: "advisories.component", help: "advisories.componentHelp" },
  { name: "component_type", text: "advisories.componentType", help: "advisories.componentTypeHelp" },
  { name: "component_location", text: "advisories.componentLocation" },
  { name: "author", text: "advisories.author" },
] as const satisfies readonly FieldOf<string>[];

const fieldNames = textFields.map(({ name }) => name);

type Draft = Readonly<Record<(typeof textFields)[number]["name"], string>>;

function draftOf(advisory: Advisory): Draft {
  return {
    aliases: advisory.aliases.join(", "),
    artifact_name: advisory.artifactName,
    artifact_type: advisory.artifactType,
    artifact_architecture: advisory.artifactArchitecture,
    component_name: advisory.componentName,
    component_type: advisory.componentType,
    component_location: advisory.componentLocation,
    author: advisory.author,
  };
}

function messageOf(draft: Draft, ids: { readonly id?: string; readonly advisoryId?: string }): Advisory1 {
  return create(AdvisorySchema, {
    ...ids,
    aliases: listIn(draft.aliases),
    artifactName: draft.artifact_name.trim(),
    artifactType: draft.artifact_type.trim(),
    artifactArchitecture: draft.artifact_architecture.trim(),
    componentName: draft.component_name.trim(),
    componentType: draft.component_type.trim(),
    componentLocation: draft.component_location.trim(),
    author: draft.author.trim(),
  });
}

/** The dialog of a new advisory. `parent` is a group where the caller may create it. */
export function NewAdvisory({ parent: place }: { readonly parent: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, open, close } = useAdvisoryAddress();
  const [parent, setParent] = useDraft("newAdvisory.parent", place);
  const [advisoryId, setId] = useDraft("newAdvisory.id", "");
  const [draft, setDraft] = useDraft<Draft>("newAdvisory", () => ({
    ...draftOf(create(CurrentSchema)),
    author: authorOf(me),
  }));
  return (
    <SaveDialog
      title={t("advisories.new")}
      method={createAdvisory}
      request={{ parentId: parent, advisory: messageOf(draft, { advisoryId: advisoryId.trim() }) }}
      fields={[...fieldNames, "advisory_id", "parent_id"]}
      button={t("advisories.create")}
      report={t("advisories.done.created")}
      isDisabled={parent === ""}
      onSaved={({ id }) => open(id)}
      onClose={close}
    >
      {(errors) => (
        <>
          <TextFields fields={textFields} values={draft} onChange={setDraft} errors={errors} />
          <TextField
            name="advisory_id"
            label={t("advisories.id")}
            description={t("advisories.idHelp")}
            value={advisoryId}
            error={errors.advisory_id}
            onChange={setId}
          />
          <Picker
            kind="group"
            name="parent_id"
            label={t("advisories.group")}
            within={org}
            value={parent}
            error={errors.parent_id}
            onChange={setParent}
          />
        </>
      )}
    </SaveDialog>
  );
}

/** The dialog that changes what is said of the artifact. Version 1 replaces the whole advisory. */
export function EditAdvisory({ advisory }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { close } = useAdvisoryAddress();
  const { uid: id, advisoryId } = advisory;
  const edit = useEdit(getAdvisory, advisory, draftOf, (draft) => draft);
  const { mine, setMine, changed, latest } = edit;
  return (
    <SaveDialog
      title={t("advisories.editTitle", { id: advisoryId })}
      method={updateAdvisory}
      request={messageOf(mine, { id })}
      fields={fieldNames}
      button={t("advisories.save")}
      report={t("advisories.done.updated")}
      edit={edit}
      submit={async (send) => {
        // An update without a mask: the fields that are not changed here stay as they are now.
        const own = Object.fromEntries(changed.map((name) => [name, mine[name]]));
        await send(messageOf({ ...(await latest()), ...own }, { id }));
      }}
      onClose={close}
    >
      {(errors) => <TextFields fields={textFields} values={mine} onChange={setMine} errors={errors} />}
    </SaveDialog>
  );
}

/** The dialog in front of the deletion: no list and no export has the advisory afterwards. */
export function DeleteAdvisory({ advisory: { uid, advisoryId } }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { open, close } = useAdvisoryAddress();
  return (
    <DeleteResourceDialog
      title={t("advisories.deleteTitle", { id: advisoryId })}
      text={t("advisories.deleteText")}
      button={t("advisories.deleteButton")}
      name={advisoryId}
      method={deleteAdvisory}
      request={{ id: uid }}
      report={t("advisories.done.deleted", { id: advisoryId })}
      onDeleted={() => open("")}
      onClose={close}
    />
  );
}
