/**
 * How much of a text counts in an order, in code points: rows that begin alike for so long are in the order of their uids. Texts
 * can be much longer, and a place between rows, which goes out in page tokens, must not be.
 */
export const maxSortPrefix = 384;

/** The part of a text that counts in an order, as `substr` of SQL cuts it. */
export function sortPrefix(text: string): string {
  if (text.length <= maxSortPrefix) return text;
  // A code point has two units at most.
  return [...text.slice(0, 2 * maxSortPrefix)].slice(0, maxSortPrefix).join("");
}

/** Whether all of a text counts in an order, so that no other text is ordered as the same; false where it may not. */
export function isWholeInOrder(text: string): boolean {
  return text.length < maxSortPrefix;
}
