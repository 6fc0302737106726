// Progress of long tasks: a bar on terminals, nothing elsewhere.
import type { Shell } from "../shell.ts";

/** The number of steps that the remaining time is estimated from: several requests of an import. */
const etaBuffer = 5000;

/** The progress of a task. Disposing of it leaves the line as it is. */
export interface Progress extends Disposable {
  /** Whether a bar is shown; if not, its details need not be computed. */
  readonly isShown: boolean;
  /** Sets the total, once it is known better. */
  total(count: number): void;
  /** `detail` is shown from now on, such as a rate. */
  advance(count?: number, detail?: string): void;
}

/** Shows progress on standard error: as counts, in percent, or only the amount done if the total is unknown. */
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
  // The cursor stays visible: a program that is killed would leave the terminal without one.
  const bar = new SingleBar({ format, stream: stderr, hideCursor: false, etaBuffer }, Presets.shades_classic);
  // A bar without a total would start as full.
  bar.start(total || 1, 0, { detail: "" });
  let done = 0;
  return {
    isShown: true,
    total: (count) => bar.setTotal(count),
    advance(count = 1, detail) {
      // Beyond its total, the bar shows no remaining time.
      done = Math.min(bar.getTotal(), done + count);
      bar.update(done, detail === undefined ? {} : { detail: ` ${detail}` });
    },
    [Symbol.dispose]: () => bar.stop(),
  };
}
