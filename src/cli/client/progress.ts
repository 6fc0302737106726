// Progress of long work: a bar on a terminal, nothing elsewhere.
import type { Shell } from "../shell.ts";

/** How far a piece of work is. Disposing of it leaves the line as it is. */
export interface Progress extends Disposable {
  /** How much there is to do, once that is known better. */
  total(count: number): void;
  advance(count?: number): void;
}

/** Shows progress on standard error, so that results can be piped. */
export async function openProgress({ stderr }: Shell, what: string, total: number): Promise<Progress> {
  if (stderr.isTTY !== true) return { total() {}, advance() {}, [Symbol.dispose]() {} };
  const { Presets, SingleBar } = await import("cli-progress");
  const format = `${what} {bar} {value}/{total} {percentage}% {eta_formatted}`;
  // The cursor stays: whoever ends the program in between would be left without one.
  const bar = new SingleBar({ format, stream: stderr, hideCursor: false, etaBuffer: 100 }, Presets.shades_classic);
  bar.start(total, 0);
  return {
    total: (count) => bar.setTotal(count),
    advance: (count = 1) => bar.increment(count),
    [Symbol.dispose]: () => bar.stop(),
  };
}
