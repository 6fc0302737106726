/** The shortest and the longest time until an issuer that failed is asked again, in milliseconds (security case J9). */
const [firstDelayMs, longestDelayMs] = [1000, 30_000];

/** How long to wait after so many failures in a row: 1, 2, 4 … 30 s. */
export function retryDelayMs(failures: number): number {
  return Math.min(firstDelayMs * 2 ** (failures - 1), longestDelayMs);
}
