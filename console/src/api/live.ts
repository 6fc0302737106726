// Keeps views up to date: one visible tab follows the change log for all tabs of the browser, and each tab reads again what has changed.
import { useEffect, useSyncExternalStore } from "react";
import { mayReadChanges, useMe } from "./access.ts";

/** How often the page is looked at until it is shown, and how long its own parts then have the line for themselves, in milliseconds. */
const [lookMs, restMs] = [200, 1500];

let lastTime = 0;
const listeners = new Set<() => void>();

function setTime(time: number): void {
  lastTime = time;
  for (const listener of listeners) listener();
}

/** Returns when the page was last known to be up to date, in milliseconds since the epoch; 0 before that. */
export function useLiveTime(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => lastTime,
  );
}

/** Follows the changes of an organization while the page is visible, if the caller may read them. */
export function useLive(organization: string): void {
  const { data: me } = useMe();
  const mayFollow = organization !== "" && mayReadChanges(me, organization);
  useEffect(() => {
    if (!mayFollow) return;
    const stop = new AbortController();
    void followOnceShown(organization, stop.signal);
    return () => stop.abort();
  }, [organization, mayFollow]);
}

/** The page is shown before it loads what follows changes. */
async function followOnceShown(organization: string, signal: AbortSignal): Promise<void> {
  while (document.querySelector("#content h1") === null) await pause(lookMs);
  do {
    await pause(restMs);
    const tabs = await import("./live-tabs.ts").catch(() => undefined);
    if (tabs && !signal.aborted) return tabs.join(organization, signal, setTime);
  } while (!signal.aborted);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
