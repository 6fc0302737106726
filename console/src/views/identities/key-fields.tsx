// The fields of static keys: their replacement, and their end.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { Radios } from "../../shell/radios.tsx";
import { useTexts } from "../../texts/texts.ts";
import { keysToMake, type PartProps } from "./claims-draft.ts";
import { dayMs, longestKeysMs } from "./identity-facts.ts";

const choices = ["keep", "make", "paste"] as const;

/** Keeps the keys, has the browser make a new one, or takes a key set. */
export function KeyFields({ identity, draft, onChange, errors }: PartProps & { readonly identity: Identity }) {
  const { t } = useTexts();
  const [choice, setChoice] = useState<(typeof choices)[number]>("keep");
  const choose = (next: (typeof choices)[number]) => {
    setChoice(next);
    onChange({ ...draft, keys: next === "make" ? keysToMake : "" });
  };
  const createMs = identity.createTime ? timestampMs(identity.createTime) : Date.now();
  return (
    <>
      <Radios
        legend={t("claims.keys")}
        name="keys"
        choices={choices.map((value) => ({ value, text: t(`claims.keys.${value}`) }))}
        value={choice}
        onChange={choose}
      />
      {choice === "make" && <p className="notice">{t("wizard.keyHelp")}</p>}
      {choice === "paste" && (
        <Textarea
          name="issuer_keys"
          label={t("claims.keySet")}
          description={t("claims.keySetHelp")}
          rows={4}
          value={draft.keys}
          error={errors.issuer_keys}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => onChange({ ...draft, keys: currentTarget.value })}
        />
      )}
      <TextInput
        name="expiration_time"
        type="date"
        label={t("claims.end")}
        description={t("claims.endHelp")}
        value={draft.end}
        min={dayOf(Date.now() + dayMs)}
        max={dayOf(createMs + longestKeysMs)}
        error={errors.expiration_time}
        onChange={({ currentTarget }) => onChange({ ...draft, end: currentTarget.value })}
      />
    </>
  );
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
