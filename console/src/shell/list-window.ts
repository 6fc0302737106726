// Reads the rows of a long list that are in view.
import { useMediaQuery } from "@mantine/hooks";
import { type UseQueryOptions, useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { pageSize } from "./pager.tsx";

/** Up to so many rows a list has pages. */
const pagedRows = 1000;
/** How often rows are read while the list scrolls, in milliseconds. */
const readEveryMs = 150;
/** How long rows out of view are kept, in milliseconds. */
const keptMs = 60_000;

/** The rows of a long list by number. */
export interface ListWindow<Row> {
  /** Tells the list from one with other filters or another order. */
  readonly id: string;
  readonly total: number;
  /** The row that is the first when the list opens. */
  readonly start: number;
  /** Returns a row; undefined while it is read. */
  readonly rowAt: (index: number) => Row | undefined;
  /** Has the rows of a range read. */
  readonly onView: (from: number, to: number) => void;
  /** The rows that are read now, and the number of the first. */
  readonly rows: readonly (Row | undefined)[];
  readonly from: number;
}

interface ListWindowOptions<Response, Row> {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly total: number | undefined;
  readonly start: number;
  /** Returns how the page is read that begins with a row. */
  readonly optionsOf: (skip: number) => object;
  readonly rowsOf: (response: Response) => readonly Row[];
}

/** Returns the window of a list that has too many rows for pages; undefined for others, and on narrow screens. */
export function useListWindow<Response, Row>({
  id,
  isEnabled,
  total = 0,
  start,
  optionsOf,
  rowsOf,
}: ListWindowOptions<Response, Row>): ListWindow<Row> | undefined {
  const isWide = useMediaQuery("(min-width: 1024px)", true, { getInitialValueInEffect: false });
  const isWindow = isEnabled && isWide && total > pagedRows;
  const [view, setView] = useState({ first: pageOf(start), last: pageOf(start) });
  const { first, last } = useThrottled(view, readEveryMs);
  const queries = Array.from({ length: isWindow ? last - first + 1 : 0 }, (_, index) => ({
    ...(optionsOf((first + index) * pageSize) as UseQueryOptions<Response>),
    gcTime: keptMs,
  }));
  const pages = useQueries({ queries }).map(({ data }) => data && rowsOf(data));
  const onView = useCallback((from: number, to: number) => {
    const next = { first: pageOf(from), last: pageOf(Math.max(from, to - 1)) };
    setView((before) => (before.first === next.first && before.last === next.last ? before : next));
  }, []);
  if (!isWindow) return undefined;
  const from = first * pageSize;
  const rowAt = (index: number) => pages[pageOf(index) - first]?.[index % pageSize];
  const rows = Array.from({ length: pages.length * pageSize }, (_, index) => rowAt(from + index));
  return { id, total, start, rowAt, onView, rows, from };
}

function pageOf(row: number): number {
  return Math.floor(row / pageSize);
}

/** Returns a value that follows another one, but not more often than at this interval. */
function useThrottled<T>(value: T, intervalMs: number): T {
  const [shown, setShown] = useState(value);
  const changed = useRef(0);
  useEffect(() => {
    const waitMs = Math.max(0, changed.current + intervalMs - performance.now());
    const timer = setTimeout(() => {
      changed.current = performance.now();
      setShown(value);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [value, intervalMs]);
  return shown;
}
