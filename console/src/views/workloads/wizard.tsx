// The wizard that lets a workload in: which provider, which workload, which role, and what to copy into its configuration.
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  IdentitiesService,
  type Identity,
  IdentitySchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { type NewKey, newKey } from "../../api/new-key.ts";
import { AccessPreview, completeChange } from "../../shell/access-preview.tsx";
import { Dialog } from "../../shell/dialog.tsx";
import { TextField } from "../../shell/fields.tsx";
import { Form, useSave } from "../../shell/form.tsx";
import { Verdict } from "../../shell/look.tsx";
import { Code, CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import previewStyles from "../../shell/preview.module.css";
import { download } from "../../shell/secret.tsx";
import { useSiblingCheck } from "../../shell/siblings.ts";
import tileStyles from "../../shell/tiles.module.css";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { Demands } from "./demands.tsx";
import { wasUsed } from "./identity-facts.ts";
import { type Values, type WizardKind, wizardKinds } from "./wizard-kinds.ts";

const { createIdentity, getIdentity, listIdentities } = IdentitiesService.method;
const { createRoleBinding } = RoleBindingsService.method;

/** The steps, each in the same dialog. */
export function Wizard({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { open } = useWorkloadsAddress();
  const [kind, setKind] = useState<WizardKind>();
  const [made, setMade] = useState<{ readonly identity: Identity; readonly values: Values }>();
  const [isBound, setBound] = useState(false);
  const step = !kind ? 1 : !made ? 2 : !isBound ? 3 : 4;
  const finish = () => (made ? void open(made.identity.uid) : onClose());
  return (
    <Dialog title={t("wizard.title", { step })} onClose={finish}>
      {!kind && <ChooseKind onChoose={setKind} />}
      {kind && !made && (
        <Describe kind={kind} onClose={onClose} onMade={(identity, values) => setMade({ identity, values })} />
      )}
      {made && !isBound && <Grant identity={made.identity} onDone={() => setBound(true)} />}
      {kind && made && isBound && <Guide kind={kind} {...made} />}
    </Dialog>
  );
}

function ChooseKind({ onChoose }: { readonly onChoose: (kind: WizardKind) => void }) {
  const { t } = useTexts();
  return (
    <div className="stack">
      <p>{t("wizard.kind")}</p>
      <div className={tileStyles.tiles}>
        {wizardKinds.map((kind) => (
          <button key={kind.id} type="button" className={tileStyles.tile} onClick={() => onChoose(kind)}>
            <strong>{kind.name ?? t("wizard.key")}</strong>
          </button>
        ))}
      </div>
    </div>
  );
}

function Describe({
  kind,
  onMade,
  onClose,
}: {
  readonly kind: WizardKind;
  readonly onMade: (identity: Identity, values: Values) => void;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const { org } = useWorkloadsAddress();
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(kind.fields.map(({ name, initial = "" }) => [name, initial])),
  );
  const [name, setName] = useState("");
  const [parent, setParent] = useState(org);
  const [key, setKey] = useState<NewKey>();
  const save = useSave(createIdentity);
  const findSibling = useSiblingCheck(listIdentities);
  const requestFor = (publicKeys: string) => ({
    parent,
    identity: create(IdentitySchema, {
      name,
      relationship: kind.relationshipOf({ ...trimmed(values), issuerKeys: publicKeys }),
    }),
  });
  const request = requestFor(key?.publicKeys ?? "");
  const isComplete =
    name !== "" && parent !== "" && kind.fields.every((field) => field.isOptional || values[field.name]?.trim());
  const submit = async () => {
    // The same key again if the server has found something wrong with the rest.
    const made = kind.id === "key" ? (key ?? (await newKey())) : undefined;
    setKey(made);
    await save(requestFor(made?.publicKeys ?? ""), {
      onSecret: (identity) => {
        if (made) download(`${identity.name}-key.json`, made.privateKey, "application/json");
      },
      onSaved: (identity) => onMade(identity, trimmed(values)),
    });
  };
  return (
    <Form
      fields={["name", "parent", ...kind.fields.flatMap(({ api }) => api ?? [])]}
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
            onChange={setName}
          />
          {kind.fields.map((field) => (
            <TextField
              key={field.name}
              {...(field.api !== undefined && { name: field.api })}
              label={t(field.text)}
              error={field.api && errors[field.api]}
              placeholder={field.placeholder}
              required={!field.isOptional}
              withAsterisk={false}
              value={values[field.name] ?? ""}
              onChange={(value) => setValues({ ...values, [field.name]: value })}
            />
          ))}
          <Pattern identity={request.identity} />
          <Picker
            kind="group"
            name="parent"
            label={t("wizard.group")}
            description={t("wizard.groupHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
          {kind.id === "key" && <p className="notice">{t("wizard.keyHelp")}</p>}
        </>
      )}
    </Form>
  );
}

function trimmed(values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()]));
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

function Grant({ identity, onDone }: { readonly identity: Identity; readonly onDone: () => void }) {
  const { t } = useTexts();
  const { org } = useWorkloadsAddress();
  const [roleUid, setRole] = useState("");
  const [parent, setParent] = useState(identity.uid.slice(0, identity.uid.lastIndexOf("/")));
  const save = useSave(createRoleBinding);
  const request = { parent, roleBinding: create(RoleBindingSchema, { identityUid: identity.uid, roleUid }) };
  const submit = () => save(request, { onSaved: onDone });
  return (
    <Form
      fields={["role_uid", "parent"]}
      submit={submit}
      button={t("wizard.grant")}
      isDisabled={roleUid === "" || parent === ""}
      onClose={onDone}
      cancel={t("wizard.skip")}
      footer={<CopyAs method={createRoleBinding} request={request} />}
    >
      {(errors) => (
        <>
          <p>{t("wizard.role", { name: identity.name })}</p>
          <Picker
            kind="role"
            name="role_uid"
            label={t("identities.role")}
            within={org}
            value={roleUid}
            error={errors.role_uid}
            onChange={setRole}
          />
          <Picker
            kind="group"
            name="parent"
            label={t("wizard.group")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
          <AccessPreview change={completeChange({ case: "createRoleBinding", value: request }, parent, roleUid)} />
        </>
      )}
    </Form>
  );
}

function Guide({
  kind,
  identity,
  values,
}: {
  readonly kind: WizardKind;
  readonly identity: Identity;
  readonly values: Values;
}) {
  const { t } = useTexts();
  const { data } = useQuery(getIdentity, { uid: identity.uid }, { refetchInterval: 3000, staleTime: 0 });
  const isSeen = data !== undefined && wasUsed(data);
  return (
    <div className="stack">
      <p>{t("wizard.guide", { name: identity.name })}</p>
      <Code what={t("wizard.file")} text={kind.guideOf({ uid: identity.uid, url: location.origin, values })} />
      <p role="status">
        {isSeen ? <Verdict isGood>{t("wizard.seen")}</Verdict> : <span className="muted">{t("wizard.waiting")}</span>}
      </p>
    </div>
  );
}
