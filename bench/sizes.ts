// The sizes of the generated installations and their names.

/** The sizes of a full run, in groups. A quick run has its sizes too: each is compared with its recorded rows. */
export const fullSizes: readonly number[] = [1000, 100_000, 1_000_000];

/** The sizes of a quick run. */
export const quickSizes: readonly number[] = [1000, 100_000];

/** The sizes of `--scale`, and those of `--quick --scale`. */
export const scaleSizes: readonly number[] = [10_000, 10_000_000];
export const quickScaleSizes: readonly number[] = [10_000, 1_000_000];

/** Returns a size as the report prints it: 1000 is `1k`, 1000000 is `1M`. */
export function sizeName(groups: number): string {
  if (groups % 1_000_000 === 0) return `${groups / 1_000_000}M`;
  return groups % 1000 === 0 ? `${groups / 1000}k` : String(groups);
}

/** Reads `1k`, `100k`, `1M` or a number; undefined for any other text and below 1000. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d{1,8})([kM]?)$/.exec(text);
  if (!match) return undefined;
  const groups = Number(match[1]) * { "": 1, k: 1000, M: 1_000_000 }[match[2] as "" | "k" | "M"];
  return groups >= 1000 && groups <= 10_000_000 ? groups : undefined;
}
