/** The maximum length of a claim that is compared with an identity, in UTF-16 units. */
export const maxClaimLength = 2048;

/**
 * Returns the rule that a text breaks as a subject, audience, claim name or claim value, or undefined if it is valid.
 * It applies to new identities and to exchanged tokens: invisible or reordered characters must not decide who someone
 * is.
 */
export function checkClaimText(text: string): string | undefined {
  if (text.length > maxClaimLength) return `must be at most ${maxClaimLength} characters long`;
  return checkVisible(text);
}

/** Like `checkClaimText`, for any length. */
export function checkVisible(text: string): string | undefined {
  // PostgreSQL stores neither U+0000, which is a control character, nor half a surrogate pair.
  if (!text.isWellFormed()) return "must be well-formed Unicode";
  // UAX #9 §2: characters that change the direction of text; UAX #14: line and paragraph separators.
  if (/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(text))
    return "must not have control characters or marks that change the direction of text";
  return undefined;
}
