// The dialogs that rename, describe and delete the identity of a workload.
import { Textarea } from "@mantine/core";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { TextField } from "../../shell/fields.tsx";
import { DeleteResourceDialog, SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { HeldRoles } from "./held-roles.tsx";

const { getIdentity, updateIdentity, deleteIdentity } = IdentitiesService.method;

/** The dialog that changes the name and the description. */
export function EditIdentity({ identity, onClose }: { readonly identity: Identity; readonly onClose: () => void }) {
  const { t } = useTexts();
  const edit = useEdit(getIdentity, identity, draftOf, (draft) => draft);
  const { before, mine, setMine, changed } = edit;
  const { name, description } = mine;
  return (
    <SaveDialog
      title={t("identities.editTitle", { name: before.name })}
      method={updateIdentity}
      request={{ identity: { uid: identity.uid, name, description }, updateMask: { paths: changed } }}
      fields={["name", "description"]}
      button={t("identities.save")}
      report={t("identities.done.updated", { name })}
      edit={edit}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <TextField
            name="name"
            label={t("identities.name")}
            value={name}
            error={errors.name}
            data-autofocus
            onChange={(value) => setMine({ ...mine, name: value })}
          />
          <Textarea
            name="description"
            label={t("identities.description")}
            value={description}
            error={errors.description}
            rows={2}
            onChange={({ currentTarget }) => setMine({ ...mine, description: currentTarget.value })}
          />
        </>
      )}
    </SaveDialog>
  );
}

function draftOf({ name, description }: Identity) {
  return { name, description };
}

/** The dialog in front of the deletion. It says which roles are lost. */
export function DeleteIdentity({ identity: { uid, name } }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { open, close } = useWorkloadsAddress();
  return (
    <DeleteResourceDialog
      title={t("identities.deleteTitle", { name })}
      text={t("identities.deleteText")}
      button={t("identities.deleteButton")}
      method={deleteIdentity}
      request={{ uid }}
      report={t("identities.done.deleted", { name })}
      onDeleted={() => open("")}
      onClose={close}
    >
      <HeldRoles uid={uid}>
        <h3>{t("identities.roles")}</h3>
      </HeldRoles>
    </DeleteResourceDialog>
  );
}
