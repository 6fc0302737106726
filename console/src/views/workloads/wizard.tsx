// The wizard that lets a workload in: which provider, which workload, which role, and what to copy into its configuration.
import { create } from "@bufbuild/protobuf";
import { Checkbox } from "@mantine/core";
import { Navigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  IdentitiesService,
  type Identity,
  IdentitySchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { fieldError } from "../../api/field-errors.ts";
import { type NewKey, newKey } from "../../api/new-key.ts";
import { Dialog } from "../../shell/dialog.tsx";
import { useDraft } from "../../shell/draft.ts";
import { TextField } from "../../shell/fields.tsx";
import { Form, useSave } from "../../shell/form.tsx";
import { CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import previewStyles from "../../shell/preview.module.css";
import { download } from "../../shell/secret.tsx";
import { useSiblingCheck } from "../../shell/siblings.ts";
import tileStyles from "../../shell/tiles.module.css";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { Demands } from "./demands.tsx";
import { Grant } from "./wizard-grant.tsx";
import { Guide } from "./wizard-guide.tsx";
import { type Values, type WizardField, type WizardKind, wizardKinds } from "./wizard-kinds.ts";
import { forgetProgress, type Progress, useProgress } from "./wizard-progress.ts";

const { createIdentity, listIdentities } = IdentitiesService.method;

/** The values of the first two steps. */
interface Draft {
  /** The id of the kind; empty until it is chosen. */
  readonly kind: string;
  readonly name: string;
  readonly parent: string;
  readonly values: Values;
  readonly isAnyRef: boolean;
}

/** The steps, each in the same dialog. */
export function Wizard({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { org, open, change, search } = useWorkloadsAddress();
  const empty: Draft = { kind: "", name: "", parent: search.group ?? "", values: {}, isAnyRef: false };
  const [draft, setDraft] = useDraft("wizard", empty, isFilled);
  const [made, setMade] = useProgress(search.made);
  const kind = wizardKinds.find(({ id }) => id === draft.kind);
  const step = made ? (made.task === "" ? 3 : 4) : kind ? 2 : 1;
  const finish = () => {
    if (made) forgetProgress(made);
    return made ? void open(made.uid) : onClose();
  };
  const undone = (what: Progress) => {
    forgetProgress(what);
    onClose();
  };
  const setKind = (chosen: WizardKind) =>
    setDraft({
      ...draft,
      kind: chosen.id,
      values: Object.fromEntries(chosen.fields.map(({ name, initial = "" }) => [name, initial])),
    });
  if (search.made !== undefined && !made)
    return <Navigate to="/o/$org/workloads/$" params={{ org, _splat: search.made }} replace />;
  return (
    <Dialog title={t("wizard.title", { step })} onClose={finish}>
      {!made && !kind && <ChooseKind onChoose={setKind} />}
      {!made && kind && (
        <Describe
          kind={kind}
          draft={draft}
          onChange={setDraft}
          onClose={onClose}
          onMade={async ({ uid, name }, values) => {
            setMade({ uid, name, kind: kind.id, values, task: "" });
            await change({ dialog: "new", made: uid });
            setDraft(empty);
          }}
        />
      )}
      {made?.task === "" && <Grant identity={made} onDone={(task) => setMade({ ...made, task })} />}
      {made && made.task !== "" && (
        <Guide {...made} identity={made} task={made.task} onDone={finish} onUndone={() => undone(made)} />
      )}
    </Dialog>
  );
}

/** The initial values of a kind are not typed. */
function isFilled({ kind, name, values }: Draft): boolean {
  const fields = wizardKinds.find(({ id }) => id === kind)?.fields ?? [];
  return name !== "" || fields.some((field) => (values[field.name] ?? "") !== (field.initial ?? ""));
}

function ChooseKind({ onChoose }: { readonly onChoose: (kind: WizardKind) => void }) {
  const { t } = useTexts();
  return (
    <div className="stack">
      <p>{t("wizard.kind")}</p>
      <div className={tileStyles.tiles}>
        {wizardKinds.map((kind) => (
          <button key={kind.id} type="button" className={tileStyles.tile} onClick={() => onChoose(kind)}>
            <strong>{"name" in kind.title ? kind.title.name : t(kind.title.text)}</strong>
          </button>
        ))}
      </div>
    </div>
  );
}

function Describe({
  kind,
  draft,
  onChange,
  onMade,
  onClose,
}: {
  readonly kind: WizardKind;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly onMade: (identity: Identity, values: Values) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const { org } = useWorkloadsAddress();
  const { name, parent, isAnyRef } = draft;
  const values = valuesOf(kind, draft);
  const [key, setKey] = useState<NewKey>();
  const save = useSave(createIdentity);
  const findSibling = useSiblingCheck(listIdentities);
  const requestFor = (publicKeys: string) => ({
    parent,
    identity: create(IdentitySchema, {
      name,
      relationship: kind.relationshipOf({ ...values, issuerKeys: publicKeys }),
    }),
  });
  const request = requestFor(key?.publicKeys ?? "");
  const missingRef = isAnyRef ? undefined : kind.fields.find((field) => field.isRef && !values[field.name]);
  const isComplete =
    name !== "" && parent !== "" && kind.fields.every((field) => field.isOptional || field.isRef || values[field.name]);
  const submit = async () => {
    if (missingRef) throw fieldError(missingRef.name, t("wizard.branchMissing"));
    // The same key again if the server has found something wrong with the rest.
    const made = kind.id === "key" ? (key ?? (await newKey())) : undefined;
    setKey(made);
    await save(requestFor(made?.publicKeys ?? ""), {
      onSecret: (identity) => {
        if (made) download(`${identity.name}-key.json`, made.privateKey, "application/json");
      },
      onSaved: (identity) => onMade(identity, values),
    });
  };
  return (
    <Form
      fields={["name", "parent", ...kind.fields.map(fieldName)]}
      submit={submit}
      button={t("wizard.create")}
      findConfirm={() => findSibling(parent, name)}
      isDisabled={!isComplete}
      onClose={onClose}
      footer={<CopyAs method={createIdentity} request={request} />}
    >
      {(errors) => (
        <>
          <TextField
            name="name"
            label={t("identities.name")}
            description={t("wizard.nameHelp")}
            value={name}
            error={errors.name}
            data-autofocus
            onChange={(typed) => onChange({ ...draft, name: typed })}
          />
          {kind.fields.map((field) => (
            <KindField
              key={field.name}
              field={field}
              draft={draft}
              error={errors[fieldName(field)]}
              onChange={onChange}
            />
          ))}
          {!missingRef && <Pattern identity={request.identity} />}
          <Picker
            kind="group"
            name="parent"
            label={t("wizard.group")}
            description={t("wizard.groupHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={(uid) => onChange({ ...draft, parent: uid })}
          />
          {kind.id === "key" && <p className="notice">{t("wizard.keyHelp")}</p>}
        </>
      )}
    </Form>
  );
}

/** Returns the name of a field in the form: that of the API if it has one. */
function fieldName({ api, name }: WizardField): string {
  return api ?? name;
}

/** Returns the values without spaces around them; that of the branch is empty if any will do. */
function valuesOf({ fields }: WizardKind, { values, isAnyRef }: Draft): Values {
  return Object.fromEntries(
    fields.map(({ name, isRef }) => [name, isRef && isAnyRef ? "" : (values[name] ?? "").trim()]),
  );
}

interface KindFieldProps {
  readonly field: WizardField;
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly onChange: (draft: Draft) => void;
}

/** A field of the kind. That of a branch has a checkbox below it. */
function KindField({ field, draft, error, onChange }: KindFieldProps) {
  const { t } = useTexts();
  const { values, isAnyRef } = draft;
  const isAny = field.isRef === true && isAnyRef;
  return (
    <>
      <TextField
        name={fieldName(field)}
        label={t(field.text)}
        error={isAny ? undefined : error}
        placeholder={field.placeholder}
        required={!field.isOptional && !isAny}
        withAsterisk={false}
        disabled={isAny}
        value={isAny ? "" : (values[field.name] ?? "")}
        onChange={(value) => onChange({ ...draft, values: { ...values, [field.name]: value } })}
      />
      {field.isRef && (
        <Checkbox
          size="sm"
          label={t("wizard.anyRef")}
          checked={isAnyRef}
          onChange={({ currentTarget }) => onChange({ ...draft, isAnyRef: currentTarget.checked })}
        />
      )}
    </>
  );
}

/** The pattern that the fields make, which a token must match to be accepted. */
function Pattern({ identity }: { readonly identity: Identity }) {
  const { t } = useTexts();
  return (
    <div className={previewStyles.preview}>
      <h3>{t("wizard.demands")}</h3>
      <dl className="facts">
        <Demands identity={identity} />
      </dl>
    </div>
  );
}
