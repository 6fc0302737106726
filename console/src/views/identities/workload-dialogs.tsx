// The dialogs that rename, describe and delete the identity of a workload.
import { create } from "@bufbuild/protobuf";
import { callUnaryMethod, useMutation, useTransport } from "@connectrpc/connect-query";
import { Textarea } from "@mantine/core";
import {
  IdentitiesService,
  type Identity,
  IdentitySchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { queryClient } from "../../api/transport.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { TextField } from "../../shell/fields.tsx";
import { Form, useEdit, useSave } from "../../shell/form.tsx";
import { CopyAs, Dialog } from "../../shell/parts.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";
import { HeldRoles } from "./held-roles.tsx";

const { getIdentity, updateIdentity, deleteIdentity } = IdentitiesService.method;

const fields = ["name", "description"] as const;

export function EditIdentity({
  identity: read,
  onClose,
}: {
  readonly identity: Identity;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const { uid } = read;
  const transport = useTransport();
  const latest = () => callUnaryMethod(transport, getIdentity, { uid });
  const { before, mine, setMine, changed, conflict } = useEdit(read, latest, valuesOf);
  const { name, description } = mine;
  const request = { identity: create(IdentitySchema, { uid, name, description }), updateMask: { paths: changed } };
  const save = useSave(updateIdentity);
  const submit = () => save(request, { report: t("identities.done.updated", { name }), onSaved: onClose });
  return (
    <Dialog title={t("identities.editTitle", { name: before.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("identities.save")}
        isDisabled={changed.length === 0}
        onClose={onClose}
        footer={<CopyAs method={updateIdentity} request={request} />}
        {...conflict}
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
      </Form>
    </Dialog>
  );
}

function valuesOf({ name, description }: Identity) {
  return { name, description };
}

export function DeleteIdentity({ identity: { uid, name } }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { open, close } = useIdentitiesAddress();
  const { mutateAsync } = useMutation(deleteIdentity);
  const request = { uid };
  const remove = async () => {
    await mutateAsync(request);
    notify(t("identities.done.deleted", { name }));
    await open("");
    await queryClient.invalidateQueries();
  };
  return (
    <DeleteDialog
      title={t("identities.deleteTitle", { name })}
      text={t("identities.deleteText")}
      button={t("identities.deleteButton")}
      remove={remove}
      onClose={() => void close()}
      footer={<CopyAs method={deleteIdentity} request={request} />}
    >
      <HeldRoles uid={uid}>
        <h3>{t("identities.roles")}</h3>
      </HeldRoles>
    </DeleteDialog>
  );
}
