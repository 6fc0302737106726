// The actions that the page offers now, for the palette and for keys.
import { useEffect, useRef, useSyncExternalStore } from "react";

/** An action on the page. */
export interface PageAction {
  readonly text: string;
  /** The capabilities that the caller lacks for it. */
  readonly missing: readonly string[];
  readonly act: () => void;
  /** The key that does the same. */
  readonly shortcut?: Shortcut | undefined;
}

const mounted = new Set<PageAction>();
const listeners = new Set<() => void>();
let shown: readonly PageAction[] = [];

function publish(): void {
  const counts = new Map<string, number>();
  for (const { text } of mounted) counts.set(text, (counts.get(text) ?? 0) + 1);
  // What each row of a table offers: the name alone does not say for which row.
  shown = [...mounted].filter(({ text }) => text !== "" && counts.get(text) === 1);
  for (const listener of listeners) listener();
}

/** Offers an action in the palette while the component is there. */
export function usePageAction({ text, missing, act, shortcut }: PageAction): void {
  const latest = useRef(act);
  latest.current = act;
  const lacking = missing.join(" ");
  useEffect(() => {
    const action = { text, missing: lacking === "" ? [] : lacking.split(" "), act: () => latest.current(), shortcut };
    mounted.add(action);
    publish();
    return () => {
      mounted.delete(action);
      publish();
    };
  }, [text, lacking, shortcut]);
}

/** Returns the actions on the page, and renders again when there are others. */
export function usePageActions(): readonly PageAction[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

/** The keys of actions, as `aria-keyshortcuts` names them. */
export type Shortcut = "n" | "e" | "c" | "Delete";

/** Clicks the button of a key: in the row that has the focus, else the first one of the page outside of rows, else an action of a menu. */
export function clickShortcut(shortcut: Shortcut): void {
  const selector = `[aria-keyshortcuts="${shortcut}"]`;
  const buttons = [...document.querySelectorAll<HTMLElement>(`#content ${selector}`)];
  const focused = document.activeElement;
  const row = focused?.closest("tr");
  const section = focused?.closest("section");
  const button =
    buttons.find((one) => row?.contains(one)) ??
    buttons.find((one) => section?.contains(one) && !one.closest("tr")) ??
    buttons.find((one) => !one.closest("tr"));
  button?.focus();
  if (button) button.click();
  else shown.find((one) => one.shortcut === shortcut && one.missing.length === 0)?.act();
}
