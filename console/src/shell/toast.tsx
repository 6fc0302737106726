// Short reports of what was done.
import { useSyncExternalStore } from "react";
import styles from "./toast.module.css";

let text = "";
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Shows a text for some seconds. */
export function notify(next: string): void {
  clearTimeout(timer);
  show(next);
  timer = setTimeout(() => show(""), 6000);
}

function show(next: string): void {
  text = next;
  for (const listener of listeners) listener();
}

/** Shows the latest report, and announces it to screen readers. */
export function Toast() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => text,
  );
  return <div role="status">{shown !== "" && <div className={styles.toast}>{shown}</div>}</div>;
}
