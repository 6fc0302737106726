// Progress of long work: a bar on a terminal, nothing elsewhere.
import type { Shell } from "../shell.ts";

/** The remaining time follows from so many steps: several requests of an import, since steps come as fast as requests are sent. */
const etaBuffer = 5000;

/** How far a piece of work is. Disposing of it leaves the line as it is. */
export interface Progress extends Disposable {
  /** Whether anybody sees it: what only the bar needs need not be found out otherwise. */
  readonly isShown: boolean;
  /** How much there is to do, once that is known better. */
  total(count: number): void;
  /** `detail` is what else is shown from now on, such as a rate. */
  advance(count?: number, detail?: string): void;
}

/** Shows progress on standard error: as counts, in percent, or only how much is done, where nobody knows how much there is. */
export async function openProgress(
  { stderr }: Shell,
  what: string,
  total: number,
  unit: "counts" | "percent" | "done" = "counts",
): Promise<Progress> {
  if (stderr.isTTY !== true) return { isShown: false, total() {}, advance() {}, [Symbol.dispose]() {} };
  const { Presets, SingleBar } = await import("cli-progress");
  const counts = unit === "counts" ? "{value}/{total} " : "";
  const format = unit === "done" ? `${what} {value}` : `${what} {bar} ${counts}{percentage}%{detail} {eta_formatted}`;
  // The cursor stays: a program that ends in between would leave the terminal without one.
  const bar = new SingleBar({ format, stream: stderr, hideCursor: false, etaBuffer }, Presets.shades_classic);
  // A bar without a total would begin as full.
  bar.start(total || 1, 0, { detail: "" });
  let done = 0;
  return {
    isShown: true,
    total: (count) => bar.setTotal(count),
    advance(count = 1, detail) {
      // Beyond its total the bar knows no remaining time.
      done = Math.min(bar.getTotal(), done + count);
      bar.update(done, detail === undefined ? {} : { detail: ` ${detail}` });
    },
    [Symbol.dispose]: () => bar.stop(),
  };
}
