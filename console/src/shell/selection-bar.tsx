// The bar below a list of which rows are selected: how many, and what can be done with them.
import { Button } from "@mantine/core";
import { useState } from "react";
import { missingFor, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import type { BulkAction } from "./bulk.ts";
import { ActionButton } from "./parts.tsx";
import { type Selection, selectionLimit } from "./selection.ts";
import styles from "./selection-bar.module.css";

interface SelectionBarProps<Row> {
  readonly selection: Selection<Row>;
  /** How many rows the list has. */
  readonly total: number;
  readonly actions: readonly BulkAction<Row>[];
  readonly nameOf: (row: Row) => string;
}

/** The bar, while something is selected or an action is under way. */
export function SelectionBar<Row>({ selection, total, actions, nameOf }: SelectionBarProps<Row>) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const [open, setOpen] = useState<BulkAction<Row>>();
  const { count, isAll, known } = selection;
  const missingOf = ({ method, placeOf }: BulkAction<Row>) => {
    const each = known.map((row) => missingFor(me, method, placeOf(row)));
    return each.some((missing) => missing.length === 0) ? [] : [...new Set(each.flat())];
  };
  return (
    <>
      {count > 0 && (
        <section className={styles.bar} aria-label={t("selection.title")} data-selection="">
          <strong role="status">{t("selection.count", { count })}</strong>
          {actions.map((action) => (
            <ActionButton key={action.text} missing={missingOf(action)} onClick={() => setOpen(action)}>
              {action.text}
            </ActionButton>
          ))}
          <div className="grow" />
          {!isAll && total > count && (
            <Button variant="subtle" size="sm" onClick={selection.selectAll}>
              {total > selectionLimit
                ? t("selection.first", { count: selectionLimit, total })
                : t("selection.all", { count: total })}
            </Button>
          )}
          <Button variant="subtle" size="sm" onClick={selection.clear}>
            {t("selection.clear")}
          </Button>
        </section>
      )}
      {open && (
        <open.Dialog
          action={open}
          read={selection.read}
          nameOf={nameOf}
          onDone={selection.drop}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}
