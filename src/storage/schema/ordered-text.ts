/**
 * How many code points of a text are compared when sorting: rows with the same prefix of this length are sorted by uid.
 * A cursor, which is part of page tokens, must not be as long as the text.
 */
export const maxSortPrefix = 384;

/** Returns the prefix of a text that is compared when sorting, as `substr` of SQL returns it. */
export function sortPrefix(text: string): string {
  if (text.length <= maxSortPrefix) return text;
  // A code point has at most two UTF-16 units.
  return [...text.slice(0, 2 * maxSortPrefix)].slice(0, maxSortPrefix).join("");
}

/**
 * Returns whether a text is compared as a whole: no other text then sorts as equal. May return false for a text that
 * is.
 */
export function isWholeInOrder(text: string): boolean {
  return text.length < maxSortPrefix;
}
