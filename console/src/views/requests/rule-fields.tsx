// The fields of a rule of access requests.
import { Checkbox } from "@mantine/core";
import { dayMs, hourMs, minuteMs } from "../../api/durations.ts";
import { type FieldOf, TextField, TextFields } from "../../shell/fields.tsx";
import { LengthField } from "../../shell/length-field.tsx";
import { PickerList } from "../../shell/picker-list.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";
import { useRequestsAddress } from "./address.ts";
import type { RuleDraft } from "./rule-draft.ts";

const textFields = [
  { name: "name", text: "requests.rules.name" },
  { name: "description", text: "requests.rules.description" },
] as const satisfies readonly FieldOf<string>[];

/** The lengths that are offered. */
const roleLengths = [hourMs / 2, hourMs, 2 * hourMs, 4 * hourMs, 8 * hourMs, dayMs, 3 * dayMs, 7 * dayMs, 30 * dayMs];
const decisionLengths = [15 * minuteMs, hourMs, 4 * hourMs, 8 * hourMs, dayMs, 3 * dayMs, 7 * dayMs, 14 * dayMs];

/** How many approvals a rule may need. */
const approvals = [0, 1, 2, 3, 4, 5];

interface RuleFieldsProps {
  readonly rule: RuleDraft;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (rule: RuleDraft) => void;
}

/** The fields: what can be requested, who may request, who approves, and what a reason must have. */
export function RuleFields({ rule, errors, onChange }: RuleFieldsProps) {
  const { t } = useTexts();
  return (
    <>
      <TextFields fields={textFields} values={rule} onChange={onChange} errors={errors} />
      <Uids field={lists.roles} rule={rule} errors={errors} onChange={onChange} />
      <LengthField
        name="max_duration"
        label={t("requests.rules.longest")}
        lengths={roleLengths}
        value={rule.maxDuration}
        error={errors.max_duration}
        onChange={(maxDuration) => onChange({ ...rule, maxDuration })}
      />
      <Uids field={lists.eligibleRoles} rule={rule} errors={errors} onChange={onChange} />
      <Uids field={lists.eligible} rule={rule} errors={errors} onChange={onChange} />
      <SelectField
        name="required_approvals"
        label={t("requests.rules.required")}
        value={String(rule.requiredApprovals)}
        error={errors.required_approvals}
        choices={approvals.map((count) => ({ value: String(count), text: t("requests.rules.approvals", { count }) }))}
        onChange={(count) => onChange({ ...rule, requiredApprovals: Number(count) })}
      />
      {rule.requiredApprovals > 0 && (
        <>
          <Uids field={lists.approverRoles} rule={rule} errors={errors} onChange={onChange} />
          <Uids field={lists.approvers} rule={rule} errors={errors} onChange={onChange} />
          <LengthField
            name="decision_time"
            label={t("requests.rules.decisionTime")}
            lengths={decisionLengths}
            value={rule.decisionTime}
            error={errors.decision_time}
            onChange={(decisionTime) => onChange({ ...rule, decisionTime })}
          />
          <Checkbox
            name="break_glass"
            label={t("requests.rules.breakGlass")}
            description={t("requests.breakGlass.help")}
            checked={rule.breakGlass}
            onChange={({ currentTarget }) => onChange({ ...rule, breakGlass: currentTarget.checked })}
          />
        </>
      )}
      <TextField
        name="reason_pattern"
        label={t("requests.rules.pattern")}
        description={t("requests.rules.patternHelp")}
        value={rule.reasonPattern}
        error={errors.reason_pattern}
        spellCheck={false}
        onChange={(reasonPattern) => onChange({ ...rule, reasonPattern })}
      />
    </>
  );
}

/** A field with several roles or identities. */
interface ListField {
  readonly value:
    | "roleUids"
    | "eligibleRoleUids"
    | "eligibleIdentityUids"
    | "approverRoleUids"
    | "approverIdentityUids";
  readonly name: string;
  readonly kind: "role" | "identity";
  readonly text: TextId;
  readonly help?: TextId;
}

const lists = {
  roles: { value: "roleUids", name: "role_uids", kind: "role", text: "requests.rules.roles" },
  eligibleRoles: {
    value: "eligibleRoleUids",
    name: "eligible_role_uids",
    kind: "role",
    text: "requests.rules.eligibleRoles",
    help: "requests.rules.rolesHelp",
  },
  eligible: {
    value: "eligibleIdentityUids",
    name: "eligible_identity_uids",
    kind: "identity",
    text: "requests.rules.eligibleIdentities",
  },
  approverRoles: {
    value: "approverRoleUids",
    name: "approver_role_uids",
    kind: "role",
    text: "requests.rules.approverRoles",
    help: "requests.rules.approversHelp",
  },
  approvers: {
    value: "approverIdentityUids",
    name: "approver_identity_uids",
    kind: "identity",
    text: "requests.rules.approverIdentities",
  },
} as const satisfies Readonly<Record<string, ListField>>;

function Uids({ field, rule, errors, onChange }: RuleFieldsProps & { readonly field: ListField }) {
  const { t } = useTexts();
  const { org } = useRequestsAddress();
  const { value, name, kind, text, help } = field;
  return (
    <PickerList
      kind={kind}
      name={name}
      label={t(text)}
      {...(help !== undefined && { description: t(help) })}
      within={org}
      values={rule[value]}
      error={errors[name]}
      onChange={(uids) => onChange({ ...rule, [value]: uids })}
    />
  );
}
