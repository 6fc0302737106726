// The table that views show lists in. Below 768 pixels its rows are cards.
import { Button } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { useTexts } from "../texts/texts.ts";
import { Loading } from "./parts.tsx";
import { Failure } from "./states.tsx";
import styles from "./table.module.css";

/** A column of a table of rows. The first column has the link that opens the row. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Whether the column is hidden on narrow screens. */
  readonly isWide?: boolean;
  /** The order that a first choice of the column gives, as `order_by` has it, such as "score desc"; a second choice turns it round. */
  readonly sort?: string;
}

/** The order of a list, as `order_by` has it. */
export interface ListOrder {
  readonly by: string;
  readonly onChange: (by: string) => void;
}

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
  /** Shown in the place of an empty table. */
  readonly empty: ReactNode;
}

/** A table. Arrow keys move between its rows, Enter and Space open the link of a row. */
export function Table<Row>({ label, list, columns, keyOf, order, selected, empty }: TableProps<Row>) {
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
          <thead>
            <tr>
              {columns.map(({ title, isWide, sort }) => (
                <Head key={title} title={title} isWide={isWide ?? false} sort={sort} order={order} />
              ))}
            </tr>
          </thead>
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

interface HeadProps {
  readonly title: string;
  readonly isWide: boolean;
  readonly sort: string | undefined;
  readonly order: ListOrder | undefined;
}

/** The head of a column: a button if it sorts. */
function Head({ title, isWide, sort, order }: HeadProps) {
  const wide = isWide && { className: styles.wide };
  if (sort === undefined || !order)
    return (
      <th scope="col" {...wide}>
        {title}
      </th>
    );
  const [field, direction] = order.by.split(" ");
  const isSorted = sort.split(" ")[0] === field;
  const isDown = direction === "desc";
  const next = isSorted ? `${field}${isDown ? "" : " desc"}` : sort;
  return (
    <th scope="col" aria-sort={isSorted ? (isDown ? "descending" : "ascending") : "none"} {...wide}>
      <button type="button" className={styles.sort} onClick={() => order.onChange(next)}>
        {title} <span aria-hidden="true">{isSorted ? (isDown ? "↓" : "↑") : "↕"}</span>
      </button>
    </th>
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

/** Where a page of a list is, and the ways to the pages next to it. Nothing for a list of one page. */
export function Pager({
  from,
  count,
  total,
  onPrevious,
  onNext,
}: {
  /** The number of the first row, from 1. */
  readonly from: number;
  readonly count: number;
  readonly total: number;
  readonly onPrevious?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
}) {
  const { t } = useTexts();
  if (count === 0) return null;
  return (
    <div className="row">
      <span className="muted" role="status">
        {t("list.range", { from, to: from + count - 1, total })}
      </span>
      {(onPrevious || onNext) && (
        <>
          <Button variant="default" size="compact-sm" disabled={!onPrevious} onClick={onPrevious}>
            {t("list.previous")}
          </Button>
          <Button variant="default" size="compact-sm" disabled={!onNext} onClick={onNext}>
            {t("list.next")}
          </Button>
        </>
      )}
    </div>
  );
}

/** How many rows a page has. */
export const pageSize = 50;

/** Returns the pages of a list that has `skip`, for a number of the page in the address (`pageIn`). */
export function pagesOf(page: number | undefined, total: number | undefined, open: (page: number | undefined) => void) {
  const current = page ?? 1;
  const skip = (current - 1) * pageSize;
  return {
    skip,
    from: skip + 1,
    total: total ?? 0,
    onPrevious: current > 1 ? () => open(current === 2 ? undefined : current - 1) : undefined,
    onNext: skip + pageSize < (total ?? 0) ? () => open(current + 1) : undefined,
  };
}
