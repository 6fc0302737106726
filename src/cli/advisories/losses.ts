// Reports what the format of an export cannot express.
import type { Losses } from "../../advisories/writing.ts";

/** Counts losses by kind. */
export interface LossReport extends Losses {
  /** Returns a line per kind, the most frequent first. */
  lines(): string[];
}

/** Creates an empty report. */
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
