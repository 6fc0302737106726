// The field in which a group, an identity or a role is chosen, by name or by a pasted uid.
import { Select } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { type NamedKind, useCandidates, useNames } from "../api/resources.ts";
import { shortUid } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";
import { useDelayed } from "./parts.tsx";

interface PickerProps {
  readonly kind: NamedKind;
  readonly label: string;
  readonly description?: string;
  /** The name of the field in the form. */
  readonly name?: string;
  /** The group in which it lies; usually the organization. */
  readonly within: string;
  /** The uid that is chosen; empty without one. */
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (uid: string) => void;
}

/** A field with search. Any uid can be pasted, also one that the search does not find. */
export function Picker({ kind, label, description, name, within, value, error, onChange }: PickerProps) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const nameOfValue = useNames(kind, [value]).get(value);
  const chosen = value === "" ? "" : (nameOfValue ?? value);
  const text = typed.trim();
  const candidates = useCandidates(kind, within, useDelayed(text === chosen ? "" : text, 200));
  const options = (candidates ?? []).map((one) => ({ value: one.uid, label: one.name }));
  // Behind what was found: the first option is the one that somebody looks for.
  if (value !== "" && !options.some((one) => one.value === value)) options.push({ value, label: chosen });
  return (
    <Select
      {...(name !== undefined && { name })}
      label={label}
      {...(description !== undefined && { description })}
      searchable
      clearable
      allowDeselect={false}
      clearButtonProps={{ "aria-label": t("picker.clear", { what: label }) }}
      data={options}
      value={value === "" ? null : value}
      error={error}
      filter={({ options: all }) => all}
      onSearchChange={setTyped}
      onChange={(uid) => onChange(uid ?? "")}
      nothingFoundMessage={candidates ? t("picker.none") : t("picker.searching")}
      comboboxProps={{ withinPortal: false }}
      withScrollArea={false}
      // The listbox itself scrolls: a scroll area around it could not have the focus.
      styles={{ options: { maxHeight: 280, overflowY: "auto" } }}
      renderOption={({ option }): ReactNode => (
        <span className="row">
          <bdi>{option.label}</bdi> <code className="muted">{shortUid(option.value)}</code>
        </span>
      )}
    />
  );
}
