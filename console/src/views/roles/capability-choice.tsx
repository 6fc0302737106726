// The part of a form in which the capabilities of a role are chosen, by area.
import { Checkbox, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { holdsAt, useMe } from "../../api/access.ts";
import { allCapabilities, areas, type NamedCapability, useCapabilityText } from "../../api/capabilities.ts";
import { wordsIn } from "../../api/words.ts";
import { useTexts } from "../../texts/texts.ts";
import styles from "./capability-choice.module.css";

/** Checkboxes with search. The box of an area chooses all that is shown of it. */
export function CapabilityChoice({
  chosen,
  at,
  error,
  onChange,
}: {
  readonly chosen: readonly Capability[];
  /** The group of the role: nobody can put into a role what they lack there. */
  readonly at: string;
  readonly error: string | undefined;
  readonly onChange: (chosen: Capability[]) => void;
}) {
  const { t } = useTexts();
  const [filter, setFilter] = useState("");
  const { data: me } = useMe();
  const lacks = (name: string) => !holdsAt(me, name, at);
  const textOf = useCapabilityText();
  const words = wordsIn(filter);
  const shown = allCapabilities().filter(
    (row) => (row.text !== undefined || chosen.includes(row.number)) && words.isMeantBy(row.name, textOf(row)),
  );
  const switchTo = (rows: readonly NamedCapability[], isOn: boolean) => {
    const numbers = new Set(chosen);
    for (const { number, name } of rows) {
      if (!isOn) numbers.delete(number);
      else if (!lacks(name)) numbers.add(number);
    }
    onChange([...numbers]);
  };
  const grantable = (rows: readonly NamedCapability[]) =>
    rows.filter(({ name, number }) => chosen.includes(number) || !lacks(name)).length;
  return (
    <fieldset className={styles.choice}>
      <legend>{t("roles.chosen", { count: chosen.length })}</legend>
      {error !== undefined && (
        <p className="danger" role="alert">
          {error}
        </p>
      )}
      <TextInput
        type="search"
        aria-label={t("roles.filterCapabilities")}
        placeholder={t("roles.filterCapabilities")}
        value={filter}
        onChange={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      <div className={styles.scroll}>
        {([...areas, "other"] as const).map((area) => {
          const rows = shown.filter((row) => row.area === area);
          const count = rows.filter(({ number }) => chosen.includes(number)).length;
          if (rows.length === 0) return null;
          return (
            <div key={area} className="stack dense">
              <Checkbox
                label={<strong>{`${t(`area.${area}`)} ${count}/${rows.length}`}</strong>}
                checked={count === rows.length}
                indeterminate={count > 0 && count < rows.length}
                disabled={count === 0 && rows.every((row) => lacks(row.name))}
                onChange={() => switchTo(rows, count < grantable(rows))}
              />
              {rows.map((row) => (
                <Checkbox
                  key={row.name}
                  className={styles.indented}
                  label={<code>{row.name}</code>}
                  description={[textOf(row), ...(lacks(row.name) ? [t("roles.youLack")] : [])].join(". ")}
                  disabled={lacks(row.name) && !chosen.includes(row.number)}
                  checked={chosen.includes(row.number)}
                  onChange={({ currentTarget }) => switchTo([row], currentTarget.checked)}
                />
              ))}
            </div>
          );
        })}
      </div>
    </fieldset>
  );
}
