// The rows of a list that somebody has selected, on whatever pages they are.
import { useRef, useState } from "react";
import { readRows } from "./all-pages.ts";
import type { ListReader } from "./paged-list.ts";

/** The most rows that one action takes. */
export const selectionLimit = 10_000;

/** The selected rows of a list. */
export interface Selection<Row> {
  readonly count: number;
  /** Whether all rows that match are selected, except those that were taken out again. */
  readonly isAll: boolean;
  readonly has: (row: Row) => boolean;
  /** Selects a row, or takes it out again. */
  readonly toggle: (row: Row, index: number) => void;
  /** Selects the rows between the one where a range began and `to`, and takes out those that the range had beyond it. */
  readonly extend: (from: number, to: number) => void;
  /** Where the last row was selected. */
  readonly last: number | undefined;
  readonly setMany: (rows: readonly Row[], isSelected: boolean) => void;
  readonly selectAll: () => void;
  readonly clear: () => void;
  /** Takes out what needs no further action. */
  readonly drop: (rows: readonly Row[]) => void;
  /** The selected rows that are known here: without those of "all" on other pages. */
  readonly known: readonly Row[];
  /** Reads the selected rows. */
  readonly read: (signal: AbortSignal) => Promise<readonly Row[]>;
}

/** The selection of a table, and where its rows are in the whole list. */
export interface TableSelection<Row> {
  readonly selection: Selection<Row>;
  /** The number of the first row, from 0. */
  readonly from: number;
  readonly nameOf: (row: Row) => string;
}

interface SelectionState<Row> {
  readonly list: string;
  readonly isAll: boolean;
  /** The selected rows by key; those taken out if all are selected. */
  readonly rows: ReadonlyMap<string, Row>;
}

/** A range that the keys or a click extend: where it began, its end, and what was selected without it. */
interface Range<Row> {
  readonly start: number;
  readonly end: number;
  readonly before: ReadonlyMap<string, Row>;
}

interface SelectionOptions<Row> {
  readonly reader: ListReader<Row>;
  readonly keyOf: (row: Row) => string;
  readonly total: number;
  /** The rows in the document, and the number of the first one from 0. */
  readonly rows: readonly (Row | undefined)[];
  readonly from: number;
}

/** Returns the selection of a list. Other filters leave nothing selected; another order and another page keep it. */
export function useSelection<Row>(options: SelectionOptions<Row>): Selection<Row> {
  const { reader, keyOf, total, rows } = options;
  const none: SelectionState<Row> = { list: reader.id, isAll: false, rows: new Map() };
  const [state, setState] = useState(none);
  const range = useRef<Range<Row>>(undefined);
  const current = state.list === reader.id ? state : none;
  const { isAll } = current;
  const put = (next: ReadonlyMap<string, Row>) => setState({ ...current, rows: next });
  const has = (row: Row) => current.rows.has(keyOf(row)) !== isAll;

  function changed(before: ReadonlyMap<string, Row>, changes: readonly Row[], isSelected: boolean) {
    const next = new Map(before);
    for (const row of changes) {
      if (isSelected === isAll) next.delete(keyOf(row));
      else next.set(keyOf(row), row);
    }
    return next;
  }

  async function extend(at: number, to: number) {
    const { start, before } = range.current?.end === at ? range.current : { start: at, before: current.rows };
    range.current = { start, end: to, before };
    const chosen = await rowsBetween(options, Math.min(start, to), Math.max(start, to));
    if (range.current?.end === to) put(changed(before, chosen, true));
  }

  return {
    count: isAll ? Math.max(0, Math.min(total, selectionLimit) - current.rows.size) : current.rows.size,
    isAll,
    has,
    toggle(row, index) {
      const next = changed(current.rows, [row], !has(row));
      range.current = { start: index, end: index, before: next };
      put(next);
    },
    extend: (at, to) => void extend(at, to),
    last: range.current?.end,
    setMany: (many, isSelected) => put(changed(current.rows, many, isSelected)),
    selectAll: () => setState({ ...none, isAll: true }),
    clear: () => setState(none),
    drop: (done) => (isAll ? setState(none) : put(changed(current.rows, done, false))),
    known: isAll ? rows.filter((row) => row !== undefined) : [...current.rows.values()],
    async read(signal) {
      if (!isAll) return [...current.rows.values()];
      const all = await readRows(reader.rowsFrom(0, signal), selectionLimit);
      return all.filter(has);
    },
  };
}

/** Returns the rows of a range: those in the document, or else those that the server has. */
async function rowsBetween<Row>({ reader, rows, from }: SelectionOptions<Row>, first: number, last: number) {
  const count = last - first + 1;
  const shown = first < from ? [] : rows.slice(first - from, last - from + 1).filter((row) => row !== undefined);
  if (shown.length === count) return shown;
  return await readRows(reader.rowsFrom(first, new AbortController().signal), Math.min(count, selectionLimit));
}
