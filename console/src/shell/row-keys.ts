// The keys of a table of rows.
import type { KeyboardEvent } from "react";

/** The effects of the keys of a table. */
export interface RowActions {
  /** How many rows there are. */
  readonly count: number;
  /** Moves the focus to a row. */
  readonly focus: (index: number) => void;
  /** Selects a row, or takes it out again; undefined in a table without selection. */
  readonly toggle?: (index: number) => void;
  /** Selects the rows up to another one. */
  readonly extend?: (at: number, to: number) => void;
  readonly clear?: () => void;
}

/** Acts on a key in the row that has the focus, which is row `at` of those that the keys move in. */
export function onRowKey(event: KeyboardEvent, at: number, actions: RowActions): void {
  const { target, key, shiftKey } = event;
  if (!(target instanceof HTMLTableRowElement) || event.ctrlKey || event.altKey || event.metaKey) return;
  const to = targetOf(key, at, actions.count);
  if (to !== undefined) {
    if (shiftKey && to !== at) actions.extend?.(at, to);
    actions.focus(to);
  } else if (!act(event, target, at, actions)) return;
  event.preventDefault();
}

function targetOf(key: string, at: number, count: number): number | undefined {
  const last = count - 1;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last, PageDown: at + 10, PageUp: at - 10 }[key];
  return to === undefined ? undefined : Math.min(Math.max(to, 0), last);
}

function act({ key, shiftKey }: KeyboardEvent, row: HTMLElement, at: number, { toggle, clear }: RowActions): boolean {
  const isSpace = key === " ";
  if (isSpace && toggle) toggle(at);
  else if (isSpace || key === "Enter") row.querySelector<HTMLElement>("a, button")?.click();
  else if (key === "F10" && shiftKey) row.querySelector<HTMLElement>('[aria-haspopup="menu"]')?.click();
  else if (key === "." && clear) document.querySelector<HTMLElement>("[data-selection] button")?.focus();
  else if (key === "Escape" && clear) clear();
  else return false;
  return true;
}
