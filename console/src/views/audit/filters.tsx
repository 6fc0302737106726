// The filter of the audit log: fields for what is asked most, and a field for words, which completes them.
import { Autocomplete } from "@mantine/core";
import { useState } from "react";
import { useCandidates } from "../../api/resources.ts";
import { TextField } from "../../shell/fields.tsx";
import filterStyles from "../../shell/filters.module.css";
import { useDelayed } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import { isTextId, type Texts, useTexts } from "../../texts/texts.ts";
import { useAuditAddress } from "./address.ts";
import { changeKinds, outcomes, parseFilter, type WordName, withWord, wordNames } from "./filter.ts";

/** The words without a field of their own. */
const fieldless = ["name", "method", "resource"] as const;

/** The filter. All of it stands in the address. */
export function Filters() {
  const { t } = useTexts();
  const { org, search, change } = useAuditAddress();
  const { q = "" } = search;
  const { words } = parseFilter(q);
  const set = (name: WordName, value: string) => void change({ q: withWord(q, name, value) || undefined });
  const kinds = changeKinds.map((value) => [value, kindText(t, value)] as const);
  return (
    <>
      <WordField q={q} onAdd={(text) => void change({ q: text })} />
      <div className={`${filterStyles.filters} ${filterStyles.even}`}>
        <Picker
          kind="identity"
          label={t("audit.person")}
          within={org}
          value={words.actor ?? ""}
          onChange={(uid) => set("actor", uid)}
        />
        <Choice label={t("audit.kind")} value={words.kind} options={kinds} onChange={(value) => set("kind", value)} />
        <Picker
          kind="group"
          label={t("audit.group")}
          within={org}
          value={words.group ?? ""}
          onChange={(uid) => set("group", uid)}
        />
        <Choice
          label={t("audit.outcome")}
          value={words.outcome}
          options={outcomes.map((value) => [value, t(`audit.${value}`)] as const)}
          onChange={(value) => set("outcome", value)}
        />
        <Day label={t("audit.after")} value={words.after} onChange={(value) => set("after", value)} />
        <Day label={t("audit.before")} value={words.before} onChange={(value) => set("before", value)} />
      </div>
      {fieldless.some((name) => words[name] !== undefined) && (
        <div className="row">
          {fieldless.map((name) => {
            const value = words[name];
            // The uid says nothing to people.
            const shown = name === "resource" ? t("audit.word.resource") : `${t(`audit.word.${name}`)}: ${value}`;
            return (
              value !== undefined && (
                <button key={name} type="button" className={filterStyles.chip} onClick={() => set(name, "")}>
                  <span className="hidden">{t("audit.without")}</span> <bdi>{shown}</bdi>{" "}
                  <span aria-hidden="true">×</span>
                </button>
              )
            );
          })}
        </div>
      )}
    </>
  );
}

function kindText(t: Texts, kind: string): string {
  const text = `one.${kind}`;
  return isTextId(text) ? t(text) : kind.replaceAll("_", " ");
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value = "", options, onChange }: ChoiceProps) {
  const { t } = useTexts();
  const choices = [["", t("audit.any")], ...options] as const;
  return (
    <SelectField
      label={label}
      value={value}
      choices={choices.map(([each, text]) => ({ value: each, text }))}
      onChange={onChange}
    />
  );
}

function Day({ label, value = "", onChange }: Pick<ChoiceProps, "label" | "value" | "onChange">) {
  return <TextField type="date" label={label} value={value.slice(0, 10)} onChange={onChange} />;
}

/** A field that completes words, and adds each to the filter. */
function WordField({ q, onAdd }: { readonly q: string; readonly onAdd: (q: string) => void }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const [refused, setRefused] = useState<string>();
  const offers = useOffers(typed);
  const add = (text: string) => {
    const { words, unknown } = parseFilter(text);
    setRefused(unknown[0]);
    if (unknown.length > 0 || Object.keys(words).length === 0) return;
    onAdd(
      (Object.entries(words) as [WordName, string][]).reduce((all, [name, value]) => withWord(all, name, value), q),
    );
    setTyped("");
  };
  return (
    <Autocomplete
      label={t("audit.filter")}
      placeholder="actor:ada kind:groups after:2026-11-01"
      value={typed}
      maxLength={1000}
      spellCheck={false}
      data={[...offers.keys()]}
      filter={({ options }) => options}
      error={refused === undefined ? undefined : t("audit.unknown", { words: refused, known: wordNames.join(", ") })}
      comboboxProps={{ withinPortal: false }}
      withScrollArea={false}
      styles={{ options: { maxHeight: 280, overflowY: "auto" } }}
      onChange={(text) => {
        setTyped(text);
        setRefused(undefined);
      }}
      onOptionSubmit={(label) => {
        const word = offers.get(label) ?? label;
        // The name of a word waits for its value.
        if (word.endsWith(":")) queueMicrotask(() => setTyped(word));
        else queueMicrotask(() => add(word));
      }}
      onKeyDown={(event) => {
        if (
          event.key === "Enter" &&
          !event.defaultPrevented &&
          event.currentTarget.getAttribute("aria-activedescendant") === null
        )
          add(typed);
      }}
    />
  );
}

/** Returns the words that complete what is typed, by their texts. */
function useOffers(typed: string): ReadonlyMap<string, string> {
  const { t } = useTexts();
  const { org } = useAuditAddress();
  const [, name = "", value = ""] = /^(\w*):(.*)$/.exec(typed.trim()) ?? [];
  const isNamed = name === "actor" || name === "group";
  const asked = useDelayed(isNamed ? value : "", 200);
  const found = useCandidates(name === "group" ? "group" : "identity", org, asked);
  if (isNamed)
    return new Map(
      (asked === "" ? [] : (found ?? [])).map((one) => [
        `${name}:${one.name || t("picker.notJoined")}${one.detail && ` (${one.detail})`}`,
        `${name}:${one.uid}`,
      ]),
    );
  const values = name === "kind" ? changeKinds : name === "outcome" ? outcomes : [];
  const offers = typed.includes(":") ? values.map((one) => `${name}:${one}`) : wordNames.map((one) => `${one}:`);
  return new Map(offers.filter((one) => one.startsWith(typed.trim())).map((one) => [one, one]));
}
