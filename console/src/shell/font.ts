// Loads the font of the console.

let isWanted = false;

/**
 * Loads the font in a quiet moment, once there is something to read: at once, it would delay the code on a slow line. Safari has no
 * requestIdleCallback.
 */
export function loadFont(): void {
  if (isWanted) return;
  isWanted = true;
  const whenIdle = window.requestIdleCallback ?? ((load: () => void) => setTimeout(load, 2000));
  // Without it the page has the font of the system.
  whenIdle(() => import("./font.css").catch(() => {}), { timeout: 2000 });
}
