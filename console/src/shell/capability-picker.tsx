// The field in which a capability is chosen.
import { type ComboboxItem, Select } from "@mantine/core";
import { allCapabilities } from "../api/capabilities.ts";
import { findByWords } from "../api/words.ts";
import { useTexts } from "../texts/texts.ts";

/** A field with search over the capabilities that this server uses, by their names, what they allow, and synonyms. */
export function CapabilityPicker({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (name: string) => void;
}) {
  const { t } = useTexts();
  const used = allCapabilities().flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]));
  const texts = new Map(used.map(({ name, text }) => [name, t(text)]));
  const label = t("capability.choose");
  return (
    <Select
      label={label}
      placeholder={t("capability.any")}
      searchable
      clearable
      clearButtonProps={{ "aria-label": t("picker.clear", { what: label }) }}
      data={used.map(({ name }) => name)}
      filter={({ options, search }) =>
        findByWords(search, options as ComboboxItem[], ({ value: name }) => ({
          name,
          description: texts.get(name) ?? "",
        })) as ComboboxItem[]
      }
      value={value === "" ? null : value}
      onChange={(name) => onChange(name ?? "")}
      nothingFoundMessage={t("picker.none")}
      comboboxProps={{ withinPortal: false }}
      withScrollArea={false}
      // The listbox itself scrolls: a scroll area around it could not have the focus.
      styles={{ options: { maxHeight: 320, overflowY: "auto" } }}
      renderOption={({ option }) => (
        <span>
          <code>{option.value}</code>
          <br />
          <span className="muted">{texts.get(option.value)}</span>
        </span>
      )}
    />
  );
}
