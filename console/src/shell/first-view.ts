// When the first view is shown: tasks that start earlier would delay its code on a slow line.

let resolveShown = () => {};

/** Resolves in a quiet moment after the first view is shown. */
export const firstViewShown = new Promise<void>((resolve) => {
  resolveShown = resolve;
});

// Without it the page has the font of the system.
void firstViewShown.then(() => import("./font.css")).catch(() => {});

/** Notes that a view is shown. Safari has no requestIdleCallback. */
export function noteView(): void {
  const whenIdle = window.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 2000));
  whenIdle(() => resolveShown(), { timeout: 2000 });
}
