// Shows a part of very many rows of one height: only those in view are in the document.
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

/** The height in pixels from which rows scroll in proportion: an element in Firefox ends at 17.9 million. */
const maxExtentPx = 15_000_000;
/** Rows outside of the view that are in the document: the keyboard moves to them, and scrolling shows them at once. */
const overscan = 8;
/** The height until the element has been measured, in pixels. */
const firstHeightPx = 600;

/** The rows in view, and how to move them. */
export interface RowWindow {
  /** The height of all rows in the element that scrolls, in pixels. */
  readonly extentPx: number;
  /** The first row in view, and the one after the last. */
  readonly view: RowRange;
  /** The rows that belong into the document. */
  readonly rendered: RowRange;
  /** Returns where the top of a row is in the element that scrolls, in pixels. */
  topOf(row: number): number;
  /** Scrolls to a row: no further than needed, so far that it is the first, or, if it is not in view, to the middle. */
  reveal(row: number, align?: Align): void;
}

/** Where a row comes to stand. */
export type Align = "nearest" | "start" | "middle";

/** Rows from one on, and up to another that does not belong to them. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Follows the scrolling of an element with `count` rows, below a head that stays at its top. */
export function useRowWindow(
  place: RefObject<HTMLElement | null>,
  count: number,
  rowPx: number,
  headPx = 0,
): RowWindow {
  const wholePx = headPx + count * rowPx;
  const { offset, scrollTop, height, extentPx, scrollTo, exact } = useScrolling(place, wholePx);
  const isScaled = wholePx > extentPx;
  const row = (number: number) => Math.max(0, Math.min(count, number));
  const view = { from: row(Math.floor(offset / rowPx)), to: row(Math.ceil((offset + height - headPx) / rowPx)) };
  return {
    extentPx: extentPx - headPx,
    view,
    rendered: { from: row(view.from - overscan), to: row(view.to + overscan) },
    topOf: (index) => index * rowPx + (isScaled ? scrollTop - offset : 0),
    reveal(index, align = "nearest") {
      const top = index * rowPx;
      const viewPx = (place.current?.clientHeight ?? height) - headPx;
      const [isAbove, isBelow] = [top < exact.current, top + rowPx > exact.current + viewPx];
      if (align === "middle" && (isAbove || isBelow)) scrollTo(top - (viewPx - rowPx) / 2);
      else if (align === "start" || isAbove) scrollTo(top);
      else if (isBelow) scrollTo(top + rowPx - viewPx);
    },
  };
}

/** Maps the position of the scroll bar to a position among all rows, of `wholePx` in height. */
function useScrolling(place: RefObject<HTMLElement | null>, wholePx: number) {
  const [view, setView] = useState({ offset: 0, scrollTop: 0, height: firstHeightPx });
  const extentPx = Math.min(wholePx, maxExtentPx);
  const isScaled = wholePx > extentPx;
  // A scroll position is in whole pixels, each of which may be several pixels of rows.
  const exact = useRef(0);

  const read = useCallback(() => {
    const element = place.current;
    if (!element) return;
    const scale = scaleOf(element, wholePx, extentPx);
    const scrolled = element.scrollTop * scale;
    if (Math.abs(scrolled - exact.current) >= scale) exact.current = scrolled;
    const next = { offset: exact.current, scrollTop: element.scrollTop, height: element.clientHeight };
    setView((before) => (isSame(before, next) ? before : next));
  }, [place, wholePx, extentPx]);

  const scrollTo = useCallback(
    (offsetPx: number) => {
      const element = place.current;
      if (!element) return;
      exact.current = Math.max(0, Math.min(offsetPx, wholePx - element.clientHeight));
      element.scrollTop = exact.current / scaleOf(element, wholePx, extentPx);
      read();
    },
    [place, read, wholePx, extentPx],
  );

  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    // Rows that come or go change the scale: what is in view stays.
    if (isScaled) scrollTo(exact.current);
    else read();
    // By a wheel, rows move as far as elsewhere.
    const moveBy = isScaled ? (px: number) => scrollTo(exact.current + px) : undefined;
    return listen(element, read, moveBy);
  }, [place, read, scrollTo, isScaled]);

  return { ...view, extentPx, scrollTo, exact };
}

/** How many pixels of rows a pixel of the scroll bar stands for. */
function scaleOf({ clientHeight }: HTMLElement, wholePx: number, extentPx: number): number {
  return wholePx > extentPx ? (wholePx - clientHeight) / (extentPx - clientHeight) : 1;
}

function isSame<T extends object>(before: T, after: T): boolean {
  return (Object.keys(before) as (keyof T)[]).every((key) => before[key] === after[key]);
}

/** Reports changes of size and position, and returns how to stop. `moveBy` replaces what the browser does with a wheel. */
function listen(element: HTMLElement, onChange: () => void, moveBy: ((px: number) => void) | undefined): () => void {
  const onWheel = (event: WheelEvent) => {
    if (event.ctrlKey || event.deltaY === 0 || event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL) return;
    event.preventDefault();
    moveBy?.(event.deltaY);
  };
  const sizes = new ResizeObserver(onChange);
  sizes.observe(element);
  element.addEventListener("scroll", onChange, { passive: true });
  if (moveBy) element.addEventListener("wheel", onWheel, { passive: false });
  return () => {
    sizes.disconnect();
    element.removeEventListener("scroll", onChange);
    element.removeEventListener("wheel", onWheel);
  };
}
