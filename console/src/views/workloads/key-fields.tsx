// The fields of static keys: their replacement, and their end.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Textarea } from "@mantine/core";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { dayMs } from "../../api/durations.ts";
import { TextField } from "../../shell/fields.tsx";
import { Radios } from "../../shell/radios.tsx";
import { useTexts } from "../../texts/texts.ts";
import { keyChoices, type PartProps } from "./claims-draft.ts";
import { longestKeysMs } from "./identity-facts.ts";

/** Keeps the keys, has the browser make a new one, or takes a key set. */
export function KeyFields({ identity, draft, onChange, errors }: PartProps & { readonly identity: Identity }) {
  const { t } = useTexts();
  const { keyChoice } = draft;
  const createMs = identity.createTime ? timestampMs(identity.createTime) : Date.now();
  return (
    <>
      <Radios
        legend={t("claims.keys")}
        name="keys"
        choices={keyChoices.map((value) => ({ value, text: t(`claims.keys.${value}`) }))}
        value={keyChoice}
        onChange={(choice) => onChange({ ...draft, keyChoice: choice })}
      />
      {keyChoice === "make" && <p className="notice">{t("wizard.keyHelp")}</p>}
      {keyChoice === "paste" ? (
        <Textarea
          name="issuer_keys"
          label={t("claims.keySet")}
          description={t("claims.keySetHelp")}
          rows={4}
          value={draft.pastedKeys}
          error={errors.issuer_keys}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => onChange({ ...draft, pastedKeys: currentTarget.value })}
        />
      ) : (
        errors.issuer_keys !== undefined && (
          <p className="notice bad" role="alert">
            {t("claims.keys")}: <bdi>{errors.issuer_keys}</bdi>
          </p>
        )
      )}
      <TextField
        name="expiration_time"
        type="date"
        label={t("claims.end")}
        description={t("claims.endHelp")}
        value={draft.end}
        min={dayOf(Date.now() + dayMs)}
        max={dayOf(createMs + longestKeysMs)}
        error={errors.expiration_time}
        onChange={(end) => onChange({ ...draft, end })}
      />
    </>
  );
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
