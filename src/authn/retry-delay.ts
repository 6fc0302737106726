/**
 * The minimum and maximum delay before an issuer that failed is contacted again, in milliseconds (security case J9).
 */
const [firstDelayMs, longestDelayMs] = [1000, 30_000];

/** Returns the delay after this many failures in a row: 1, 2, 4 … 30 s. */
export function retryDelayMs(failures: number): number {
  return Math.min(firstDelayMs * 2 ** (failures - 1), longestDelayMs);
}
