// The table that views show lists in. Below 768 pixels its rows are cards.
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import type { Column, ListOrder } from "./columns.ts";
import { Loading } from "./parts.tsx";
import { Failure } from "./states.tsx";
import styles from "./table.module.css";
import { TableHead } from "./table-head.tsx";

/** A list as Connect-Query returns it. */
export interface Listed<Row> {
  /** Undefined while it is read for the first time. */
  readonly rows: readonly Row[] | undefined;
  readonly error?: unknown;
  readonly onRetry?: () => void;
}

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
  /** The menu at the end of the head. */
  readonly options?: ReactNode;
  /** Shown in the place of an empty table. */
  readonly empty: ReactNode;
}

/** A table. Arrow keys move between its rows, Enter and Space open the link of a row. */
export function Table<Row>({ label, list, columns, keyOf, order, options, selected, empty }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { rows, error, onRetry } = list;
  if (error && !rows) return <Failure error={error} {...(onRetry && { onRetry })} />;
  if (!rows) return <Loading />;
  if (rows.length === 0) return <>{empty}</>;
  const hasSelected = rows.some((row) => keyOf(row) === selected);
  return (
    <>
      {Boolean(error) && <Failure error={error} {...(onRetry && { onRetry })} />}
      <div className={styles.frame}>
        <table className={`${styles.cards} ${styles.rows}`} aria-label={label}>
          <TableHead columns={columns} order={order} options={options} />
          <tbody ref={body} onKeyDown={(event) => move(event, body.current)}>
            {rows.map((row, index) => {
              const key = keyOf(row);
              const isSelected = key === selected;
              return (
                <tr
                  key={key}
                  data-key={key}
                  tabIndex={isSelected || (!hasSelected && index === 0) ? 0 : -1}
                  {...(isSelected && { "aria-current": "true" as const })}
                >
                  {columns.map(({ title, cell, isWide }, column) => (
                    <td
                      key={title}
                      {...(column > 0 && { "data-label": title })}
                      {...(options && column === columns.length - 1 && { colSpan: 2 })}
                      {...(isWide && { className: styles.wide })}
                    >
                      {cell(row)}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

function move(event: KeyboardEvent, body: HTMLTableSectionElement | null): void {
  const { target, key } = event;
  if (!body || !(target instanceof HTMLTableRowElement)) return;
  const rows = [...body.rows];
  const at = rows.indexOf(target);
  const last = rows.length - 1;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last, PageDown: at + 10, PageUp: at - 10 }[key];
  if (to !== undefined) rows[Math.min(Math.max(to, 0), last)]?.focus();
  else if (key === "Enter" || key === " ") target.querySelector<HTMLElement>("a, button")?.click();
  else if (key === "F10" && event.shiftKey) target.querySelector<HTMLElement>('[aria-haspopup="menu"]')?.click();
  else return;
  event.preventDefault();
}
