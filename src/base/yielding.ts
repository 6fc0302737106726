import { setImmediate as nextTick } from "node:timers/promises";

/** How long work runs before other requests do, in milliseconds. */
const maxTickMs = 8;

/** Lets other requests run if the last time is long ago. Returns undefined if it is not. */
export type Yield = () => Promise<void> | undefined;

/** Returns a function to call for each of many items: `for (const item of items) { await pause(); … }`. */
export function newYield(): Yield {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxTickMs) return undefined;
    return nextTick().then(() => {
      since = performance.now();
    });
  };
}
