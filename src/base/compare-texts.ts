/** Compares as JavaScript does: by UTF-16 units, which for ASCII is by bytes. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
