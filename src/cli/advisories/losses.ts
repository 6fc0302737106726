// What the format of an export cannot say, for the person who exports.
import type { Losses } from "../../advisories/writing.ts";

/** Counts what is left out, by kind. */
export interface LossReport extends Losses {
  /** A line for each kind, the most frequent first. */
  lines(): string[];
}

/** Makes an empty report. */
export function newLossReport(): LossReport {
  const kinds = new Map<string, { readonly where: string; count: number }>();
  return {
    add(what, where) {
      const known = kinds.get(what);
      if (known) known.count++;
      else kinds.set(what, { where, count: 1 });
    },
    lines: () =>
      [...kinds]
        .sort(([, a], [, b]) => b.count - a.count)
        .map(([what, { where, count }]) => `${what} (${count}, such as in ${where})`),
  };
}
