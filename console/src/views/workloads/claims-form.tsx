// The dialog that changes which tokens may assume an identity.
import { useState } from "react";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { type NewKey, newKey } from "../../api/new-key.ts";
import { SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { download } from "../../shell/secret.tsx";
import { useTexts } from "../../texts/texts.ts";
import { ClaimFields } from "./claim-fields.tsx";
import { type Draft, demandFields, draftOf, identityOf, pathsOf, valuesOf } from "./claims-draft.ts";
import { ClaimsPreview } from "./claims-preview.tsx";
import { KeyFields } from "./key-fields.tsx";

const { getIdentity, updateIdentity } = IdentitiesService.method;

/** The form: what is asked for, and what the change of it lets in. */
export function EditClaims({ identity, onClose }: { readonly identity: Identity; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { uid, name } = identity;
  const edit = useEdit(getIdentity, identity, draftOf, valuesOf);
  const { before, mine, setMine, changed } = edit;
  const [key, setKey] = useState<NewKey>();
  const requestFor = (draft: Draft) => ({
    identity: identityOf(uid, draft),
    updateMask: { paths: pathsOf(before, mine, changed) },
  });
  const fields = demandFields[mine.kind];
  return (
    <SaveDialog
      title={t("claims.title", { name })}
      method={updateIdentity}
      request={requestFor(mine)}
      fields={[
        ...fields.flatMap(({ name: field }) => [field, `${field}_pattern`]),
        "claims",
        "claim_patterns",
        "issuer_keys",
        "expiration_time",
      ]}
      button={t("identities.save")}
      report={t("identities.done.updated", { name })}
      edit={edit}
      submit={async (send) => {
        if (mine.keyChoice !== "make") return send();
        // The same key again if the server has found something wrong with the rest.
        const made = key ?? (await newKey());
        setKey(made);
        await send(requestFor({ ...mine, keyChoice: "paste", pastedKeys: made.publicKeys }), () =>
          download(`${name}-key.json`, made.privateKey, "application/json"),
        );
      }}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <ClaimFields draft={mine} onChange={setMine} errors={errors} />
          {mine.kind === "staticKeys" && (
            <KeyFields identity={identity} draft={mine} onChange={setMine} errors={errors} />
          )}
          <ClaimsPreview identity={identity} before={before} after={mine} />
        </>
      )}
    </SaveDialog>
  );
}
