// The progress of a copy: one bar after the other.
import type { CopyProgress } from "../storage/engine/copy.ts";
import { openProgress, type Progress } from "./client/progress.ts";
import type { Shell } from "./shell.ts";

/** Shows the progress on terminals. Disposing of it ends the last bar. */
export function openCopyProgress(shell: Shell): CopyProgress & AsyncDisposable {
  let bar: Progress | undefined;
  let startedAt = 0;
  let done = 0;
  let isRate = false;
  return {
    async begin(what, steps, unit) {
      bar?.[Symbol.dispose]();
      [startedAt, done, isRate] = [performance.now(), 0, unit === "rows"];
      bar = await openProgress(shell, what, steps, unit === "percent" ? "percent" : "counts");
    },
    advance(steps) {
      done += steps;
      if (!bar?.isShown) return;
      const rate = Math.round((done * 1000) / Math.max(1, performance.now() - startedAt));
      bar.advance(steps, isRate ? `${rate} rows/s` : undefined);
    },
    async [Symbol.asyncDispose]() {
      bar?.[Symbol.dispose]();
    },
  };
}
