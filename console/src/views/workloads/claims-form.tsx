// The dialog that changes which tokens may assume an identity.
import { Checkbox } from "@mantine/core";
import { useState } from "react";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { type NewKey, newKey } from "../../api/new-key.ts";
import { TextField } from "../../shell/fields.tsx";
import { Pairs } from "../../shell/pairs.tsx";
import { SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { download } from "../../shell/secret.tsx";
import { useTexts } from "../../texts/texts.ts";
import {
  type DemandField,
  type Draft,
  demandFields,
  draftOf,
  identityOf,
  type PartProps,
  pathsOf,
  valuesOf,
} from "./claims-draft.ts";
import styles from "./claims-form.module.css";
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
          {fields.map((field, index) => (
            <DemandInput
              key={field.name}
              field={field}
              isFirst={index === 0}
              draft={mine}
              onChange={setMine}
              errors={errors}
            />
          ))}
          {mine.kind === "claimMatch" && <FurtherClaims draft={mine} onChange={setMine} errors={errors} />}
          {mine.kind === "staticKeys" && (
            <KeyFields identity={identity} draft={mine} onChange={setMine} errors={errors} />
          )}
          <ClaimsPreview identity={identity} before={before} after={mine} />
        </>
      )}
    </SaveDialog>
  );
}

interface InputProps extends PartProps {
  readonly field: DemandField;
  readonly isFirst: boolean;
}

function DemandInput({ field: { name, claim, text, takesPattern }, isFirst, draft, onChange, errors }: InputProps) {
  const { t } = useTexts();
  const { value = "", isPattern = false } = draft.demands[name] ?? {};
  const put = (next: object) =>
    onChange({ ...draft, demands: { ...draft.demands, [name]: { value, isPattern, ...next } } });
  const label = t(text);
  return (
    <div className={styles.demand}>
      <TextField
        name={isPattern ? `${name}_pattern` : name}
        label={label}
        {...(claim === "aud" && { description: t("claims.audienceHelp") })}
        value={value}
        error={errors[name] ?? errors[`${name}_pattern`]}
        {...(isFirst && { "data-autofocus": true })}
        spellCheck={false}
        onChange={(value) => put({ value })}
      />
      {takesPattern && (
        <Checkbox
          label={t("claims.isPattern")}
          aria-label={t("claims.isPatternOf", { what: label })}
          checked={isPattern}
          onChange={({ currentTarget }) => put({ isPattern: currentTarget.checked })}
        />
      )}
    </div>
  );
}

function FurtherClaims({ draft, onChange, errors }: PartProps) {
  const { t } = useTexts();
  return (
    <>
      <Pairs
        name="claims"
        label={t("claims.further")}
        columns={[t("claims.claim"), t("claims.value")]}
        add={t("claims.add")}
        pairs={draft.claims}
        error={errors.claims}
        onChange={(claims) => onChange({ ...draft, claims })}
      />
      <Pairs
        name="claim_patterns"
        label={t("claims.patterns")}
        description={t("claims.patternHelp")}
        columns={[t("claims.patternClaim"), t("claims.pattern")]}
        add={t("claims.addPattern")}
        pairs={draft.claimPatterns}
        error={errors.claim_patterns}
        onChange={(claimPatterns) => onChange({ ...draft, claimPatterns })}
      />
    </>
  );
}
