// The table that views show lists in. Where it has less than 560 pixels its rows are cards.
import type { ReactNode } from "react";
import { useRef } from "react";
import type { Column, ListOrder } from "./columns.ts";
import type { Listed } from "./paged-list.ts";
import { Loading } from "./parts.tsx";
import { onRowKey, type RowActions } from "./row-keys.ts";
import type { TableSelection } from "./selection.ts";
import { Failure } from "./states.tsx";
import styles from "./table.module.css";
import { Box, Cells } from "./table-cells.tsx";
import { TableHead } from "./table-head.tsx";

/** The properties of a table. */
export interface TableProps<Row> {
  /** The name of the table, for screen readers. */
  readonly label: string;
  readonly list: Listed<Row>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The order; without it no column sorts. */
  readonly order?: ListOrder;
  /** The key of the row that the view shows next to the table. */
  readonly selected?: string;
  /** The selection for actions on several rows; without it there are no boxes. */
  readonly selecting?: TableSelection<Row>;
  /** The menu at the end of the head. */
  readonly options?: ReactNode;
  /** Shown in the place of an empty table. */
  readonly empty: ReactNode;
}

/** A table. Arrow keys move between its rows, Enter opens the link of a row; Space selects it, or opens it in a table without boxes. */
export function Table<Row>({ label, list, columns, keyOf, selected, selecting, empty, ...head }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { rows, error, onRetry } = list;
  if (error && !rows) return <Failure error={error} {...(onRetry && { onRetry })} />;
  if (!rows) return <Loading />;
  if (rows.length === 0) return <>{empty}</>;
  const hasSelected = rows.some((row) => keyOf(row) === selected);
  const moves: RowActions = {
    count: rows.length,
    focus: (index) => body.current?.rows[index]?.focus(),
    ...(selecting && actionsOf(selecting, rows)),
  };
  return (
    <>
      {Boolean(error) && <Failure error={error} {...(onRetry && { onRetry })} />}
      <div className={styles.frame}>
        <table className={`${styles.cards} ${styles.rows}`} aria-label={label}>
          <TableHead columns={columns} {...head} {...(selecting && { selecting, rows })} />
          <tbody ref={body} onKeyDown={(event) => onRowKey(event, placeOf(event.target), moves)}>
            {rows.map((row, index) => {
              const key = keyOf(row);
              const isOpen = key === selected;
              return (
                <tr
                  key={key}
                  data-key={key}
                  tabIndex={isOpen || (!hasSelected && index === 0) ? 0 : -1}
                  {...(isOpen && { "aria-current": "true" as const })}
                  {...(selecting?.selection.has(row) && { "data-chosen": "" })}
                >
                  {selecting && <Box row={row} index={selecting.from + index} {...selecting} />}
                  <Cells row={row} columns={columns} hasOptions={Boolean(head.options)} />
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Returns the number of a row in its table, from 0. */
function placeOf(row: EventTarget): number {
  return row instanceof HTMLTableRowElement ? row.sectionRowIndex : -1;
}

function actionsOf<Row>({ selection, from }: TableSelection<Row>, rows: readonly Row[]): Partial<RowActions> {
  return {
    toggle: (index) => rows[index] && selection.toggle(rows[index], from + index),
    extend: (at, to) => selection.extend(from + at, from + to),
    clear: selection.clear,
  };
}
