/** The longest text of a claim that an identity is compared with, in UTF-16 units. */
export const maxClaimLength = 2048;

/**
 * The rule that a text breaks as a subject, an audience, or the name or value of a claim; undefined for a good one. It holds where an
 * identity is created and where a token is exchanged: what nobody sees, or sees in another order, must not decide who somebody is.
 */
export function checkClaimText(text: string): string | undefined {
  if (text.length > maxClaimLength) return `must be at most ${maxClaimLength} characters long`;
  return checkVisible(text);
}

/** The same, of any length. */
export function checkVisible(text: string): string | undefined {
  // PostgreSQL stores neither U+0000, a control character, nor half a surrogate pair.
  if (!text.isWellFormed()) return "must be well-formed Unicode";
  // UAX #9 §2: marks that change the direction of text; UAX #14: separators of lines and paragraphs.
  if (/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(text))
    return "must not have control characters or marks that change the direction of text";
  return undefined;
}
