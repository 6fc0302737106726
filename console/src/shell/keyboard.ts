// Keys of the whole page. They never act in a field, and can be switched off (WCAG 2.1.4).
import { useEffect, useRef } from "react";

const stored = "gatehouse-keys";

/** Whether single-letter keys act. */
export function areKeysOn(): boolean {
  return localStorage.getItem(stored) !== "off";
}

/** Switches single-letter keys. */
export function switchKeys(isOn: boolean): void {
  localStorage.setItem(stored, isOn ? "on" : "off");
}

/** The actions of keys. Two letters are typed one after the other: `g o`. */
export type Keys = Readonly<Record<string, () => void>>;

/** How long the second key may take, in milliseconds. */
const pauseMs = 1500;

/** Acts on keys while the component is there. */
export function useKeys(keys: Keys): void {
  // Kept when other keys act, as when the page learns between two letters who the reader is.
  const last = useRef({ key: "", at: Number.NEGATIVE_INFINITY });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !areKeysOn() || isBusy(event))
        return;
      const { key: first, at } = last.current;
      const pair = event.timeStamp - at < pauseMs ? `${first} ${event.key}` : "";
      const act = keys[pair] ?? keys[event.key];
      last.current = { key: event.key, at: event.timeStamp };
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [keys]);
}

function isBusy({ target }: KeyboardEvent): boolean {
  const isField = target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
  return isField || document.querySelector('[role="dialog"]') !== null;
}
