// The field in which a group, an identity or a role is chosen, by name or by a pasted uid.
import { Select } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { type Name, NameState } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import type { NamedKind } from "../api/named-kinds.ts";
import { resolvedText } from "../api/naming.ts";
import { type Candidate, useCandidates, useResolved } from "../api/resources.ts";
import { wordsIn } from "../api/words.ts";
import { type Texts, useTexts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";
import { Avatar } from "./look.tsx";
import { useDelayed } from "./parts.tsx";

interface PickerProps {
  readonly kind: NamedKind;
  readonly label: string;
  readonly description?: ReactNode;
  /** The id of the input, if its label stands elsewhere: `label` is then a part of other texts only. */
  readonly id?: string;
  /** The name of the field in the form. */
  readonly name?: string;
  /** The group in which it lies; usually the organization. */
  readonly within: string;
  /** The uid that is chosen; empty without one. */
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (uid: string) => void;
  /** Whether the field has the focus when the dialog opens. */
  readonly isFirst?: boolean;
  /** Offers to invite a person whose address is unknown here. */
  readonly onInvite?: (email: string) => void;
}

/** A field with search. Any uid can be pasted, also one that the search does not find. */
export function Picker({
  kind,
  label,
  description,
  id,
  name,
  within,
  value,
  error,
  isFirst = false,
  onChange,
  onInvite,
}: PickerProps) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const resolved = useResolved([value]).get(value);
  const chosen = value === "" ? "" : chosenText(t, resolved);
  const text = typed.trim();
  const wanted = text === chosen ? "" : text;
  const searched = useDelayed(wanted, 200);
  const found = useCandidates(kind, within, searched);
  // Results for the letters before are offered only if they have these letters, too: Enter chooses by the text in the field.
  const words = wordsIn(wanted);
  const candidates = wanted === searched ? found : found?.filter(({ name: of, detail }) => words.isMeantBy(of, detail));
  const isSearching = !candidates || wanted !== searched;
  const offered = new Map(candidates?.map((one) => [one.uid, one]));
  const options = [...offered.values()].map((one) => ({ value: one.uid, label: one.name || t("picker.notJoined") }));
  // Behind what was found: the first option is the one that somebody looks for.
  if (value !== "" && !offered.has(value)) options.push({ value, label: chosen });
  const isUnknownAddress = /^\S+@\S+\.\S+$/.test(text) && wanted === searched && candidates?.length === 0;
  if (onInvite && isUnknownAddress) options.push({ value: inviteOption, label: t("picker.invite", { email: text }) });
  return (
    <Select
      {...(name !== undefined && { name })}
      {...(id === undefined ? { label } : { id, inputWrapperOrder: ["input", "description", "error"] })}
      {...(description !== undefined && { description })}
      // Its options would cover the other fields, and take the first Escape.
      {...(isFirst && { "data-autofocus": true, openOnFocus: false })}
      searchable
      clearable
      allowDeselect={false}
      clearButtonProps={{ "aria-label": t("picker.clear", { what: label }) }}
      data={options}
      value={value === "" ? null : value}
      error={error}
      filter={({ options: all }) => all}
      onSearchChange={setTyped}
      onChange={(uid) => (uid === inviteOption ? onInvite?.(text) : onChange(uid ?? ""))}
      nothingFoundMessage={t(isSearching ? "picker.searching" : wanted === "" ? "picker.type" : "picker.none")}
      comboboxProps={{ withinPortal: false }}
      withScrollArea={false}
      // The listbox itself scrolls: a scroll area around it could not have the focus.
      styles={{ options: { maxHeight: 280, overflowY: "auto" } }}
      renderOption={({ option }): ReactNode => (
        <Option kind={kind} uid={option.value} label={option.label} candidate={offered.get(option.value)} />
      )}
    />
  );
}

/** Returns the text of the field: "…" while the name is read. A uid that the caller may not resolve stays as it was pasted. */
function chosenText(t: Texts, resolved: Name | undefined): string {
  if (!resolved) return "…";
  return resolved.state === NameState.HIDDEN ? resolved.uid : resolvedText(t, resolved);
}

/** The value of the option that invites somebody: no uid. */
const inviteOption = "invite";

interface OptionProps {
  readonly kind: NamedKind;
  readonly uid: string;
  readonly label: string;
  readonly candidate: Candidate | undefined;
}

/** A name, with what tells it from others of the same name: an address, a path, or a short uid. */
function Option({ kind, uid, label, candidate }: OptionProps) {
  if (uid === inviteOption)
    return (
      <span className="who">
        <Icon name="person-add" /> {label}
      </span>
    );
  return (
    <span className="who">
      {kind === "identity" && (
        <Avatar uid={uid} name={candidate && (candidate.name || undefined)} isWorkload={uid.includes("/")} />
      )}
      <span className="lines">
        <bdi>{label}</bdi>
        <bdi className="muted small">{candidate?.detail}</bdi>
      </span>
    </span>
  );
}
