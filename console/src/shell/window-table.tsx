// A table of very many rows: those in view are in the document, and are read as they come into view.
import { memo, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { ListWindow } from "./list-window.ts";
import { onRowKey, type RowActions } from "./row-keys.ts";
import { type RowWindow, useRowWindow } from "./row-window.ts";
import styles from "./table.module.css";
import type { TableProps } from "./table.tsx";
import { Box, Cells } from "./table-cells.tsx";
import { TableHead } from "./table-head.tsx";

/** The heights of a row and of the head in pixels, as in the style sheet. */
const rowPx = 56;
const headPx = 40;

/** Where lists were left, by their filters: they open there again. */
const leftAt = new Map<string, number>();

/** The properties of the table. */
export interface WindowTableProps<Row> extends Omit<TableProps<Row>, "list" | "empty"> {
  readonly source: ListWindow<Row>;
}

/** The table, in a box that scrolls. One row is in the tab order, and stays in the document when it is scrolled out of view. */
export function WindowTable<Row>({
  label,
  source,
  columns,
  keyOf,
  selected,
  selecting,
  ...head
}: WindowTableProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = useRowWindow(frame, source.total, rowPx, headPx);
  const [current, setCurrent] = useState(source.start);
  const focusWanted = useFocus(body);
  useStart(source, shown);
  const { from, to } = shown.rendered;
  const { onView } = source;
  useEffect(() => onView(from, to), [onView, from, to]);
  const isAway = current < from || current >= to;
  const indexes = Array.from({ length: to - from }, (_, index) => from + index);
  const moves: RowActions = {
    count: source.total,
    focus(index) {
      focusWanted.current = true;
      setCurrent(index);
      shown.reveal(index);
    },
    ...(selecting && {
      toggle(index) {
        const row = source.rowAt(index);
        if (row) selecting.selection.toggle(row, index);
      },
      extend: selecting.selection.extend,
      clear: selecting.selection.clear,
    }),
  };
  const topPx = shown.topOf(from);
  return (
    <div className={`${styles.frame} ${styles.window}`} ref={frame}>
      <table className={styles.rows} aria-label={label} aria-rowcount={source.total + 1}>
        <TableHead columns={columns} {...head} {...(selecting && { selecting })} isWhole />
        {/* Rows are numbered by their place in the list, which the keys move in. */}
        <tbody ref={body} onKeyDown={(event) => onRowKey(event, current, moves)}>
          <Space heightPx={topPx} />
          {(isAway ? [current, ...indexes] : indexes).map((index) => {
            const row = source.rowAt(index);
            const key = row && keyOf(row);
            return (
              <tr
                key={index}
                {...(key !== undefined && { "data-key": key })}
                aria-rowindex={index + 2}
                tabIndex={index === current ? 0 : -1}
                onFocus={() => setCurrent(index)}
                {...(isAway && index === current && { className: styles.away })}
                {...(key !== undefined && key === selected && { "aria-current": "true" as const })}
                {...(row && selecting?.selection.has(row) && { "data-chosen": "" })}
              >
                {row ? (
                  <>
                    {selecting && <Box row={row} index={index} {...selecting} />}
                    <RowCells row={row} columns={columns as never} hasOptions={Boolean(head.options)} isClipped />
                  </>
                ) : (
                  <td colSpan={columns.length + 2} aria-busy="true">
                    <div className="bone" />
                  </td>
                )}
              </tr>
            );
          })}
          <Space heightPx={shown.extentPx - topPx - (to - from) * rowPx} />
        </tbody>
      </table>
    </div>
  );
}

/** Cells are made again for another row only: scrolling renders the table with each step. */
const RowCells = memo(Cells) as unknown as typeof Cells;

function Space({ heightPx }: { readonly heightPx: number }) {
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it takes no focus.
  return <tr aria-hidden="true" className={styles.space} style={{ height: Math.max(0, heightPx) }} />;
}

/** Gives the focus to the row in the tab order once it is in the document: before the browser goes on, for a key would be lost. */
function useFocus(body: RefObject<HTMLTableSectionElement | null>) {
  const isWanted = useRef(false);
  useLayoutEffect(() => {
    if (!isWanted.current) return;
    isWanted.current = false;
    body.current?.querySelector<HTMLElement>('tr[tabindex="0"]')?.focus({ preventScroll: true });
  });
  return isWanted;
}

/** Opens the list where it was left, else where the address says. */
function useStart<Row>({ id, start }: ListWindow<Row>, { reveal, view }: RowWindow): void {
  const first = useRef({ reveal, start });
  const last = useRef(view.from);
  last.current = view.from;
  useEffect(() => {
    first.current.reveal(leftAt.get(id) ?? first.current.start, "start");
    return () => void leftAt.set(id, last.current);
  }, [id]);
}
