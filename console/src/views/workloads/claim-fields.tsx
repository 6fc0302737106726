// The fields for what an identity asks of a token.
import { Checkbox } from "@mantine/core";
import { TextField } from "../../shell/fields.tsx";
import { Pairs } from "../../shell/pairs.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./claim-fields.module.css";
import { type DemandField, demandFields, type PartProps } from "./claims-draft.ts";

/** The fields, of which the first has the focus in a dialog that opens. */
export function ClaimFields(props: PartProps) {
  const { kind } = props.draft;
  return (
    <>
      {demandFields[kind].map((field, index) => (
        <DemandInput key={field.name} field={field} isFirst={index === 0} {...props} />
      ))}
      {kind === "claimMatch" && <FurtherClaims {...props} />}
    </>
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
