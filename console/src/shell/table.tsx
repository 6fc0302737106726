// The table that views show lists in. Below 768 pixels its rows are cards.
import type { ReactNode } from "react";
import { useRef } from "react";
import { useTexts } from "../texts/texts.ts";
import type { Column, ListOrder } from "./columns.ts";
import type { Listed } from "./paged-list.ts";
import { Loading } from "./parts.tsx";
import { onRowKey, type RowActions } from "./row-keys.ts";
import type { TableSelection } from "./selection.ts";
import { Failure } from "./states.tsx";
import styles from "./table.module.css";
import { TableHead } from "./table-head.tsx";

interface TableProps<Row> {
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
          <tbody ref={body} onKeyDown={(event) => onRowKey(event, [...(body.current?.rows ?? [])], moves)}>
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

function actionsOf<Row>({ selection, from }: TableSelection<Row>, rows: readonly Row[]): Partial<RowActions> {
  return {
    toggle: (index) => rows[index] && selection.toggle(rows[index], from + index),
    extend: (at, to) => selection.extend(from + at, from + to),
    clear: selection.clear,
  };
}

interface BoxProps<Row> extends TableSelection<Row> {
  readonly row: Row;
  readonly index: number;
}

/** The box that selects a row. With Shift it selects all rows from the last one on. */
function Box<Row>({ row, index, selection, nameOf }: BoxProps<Row>) {
  const { t } = useTexts();
  return (
    <td className={styles.box}>
      <label>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={t("selection.row", { name: nameOf(row) })}
          checked={selection.has(row)}
          onChange={({ nativeEvent }) => {
            const isRange = (nativeEvent as Partial<MouseEvent>).shiftKey === true;
            if (isRange && selection.last !== undefined) selection.extend(selection.last, index);
            else selection.toggle(row, index);
          }}
        />
      </label>
    </td>
  );
}

interface CellsProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly hasOptions: boolean;
}

function Cells<Row>({ row, columns, hasOptions }: CellsProps<Row>) {
  return columns.map(({ title, cell, isWide }, column) => (
    <td
      key={title}
      {...(column > 0 && { "data-label": title })}
      {...(hasOptions && column === columns.length - 1 && { colSpan: 2 })}
      {...(isWide && { className: styles.wide })}
    >
      {cell(row)}
    </td>
  ));
}
