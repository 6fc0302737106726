/** The maximum length of a caller's text in errors and log lines, in UTF-16 units. */
const maxRepeated = 200;

/** Cuts a text to a maximum length, never in the middle of a character. */
export function clip(text: string, maxLength: number = maxRepeated): string {
  if (text.length <= maxLength) return text;
  const end = isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}…`;
}

/** Returns a caller's text for an error or log line: one line of limited length. */
export function show(text: string): string {
  return visible(clip(text));
}

/**
 * Returns a text on one line (security case L2): control and format characters, half surrogates, line separators and
 * bidirectional marks are escaped, so a terminal interprets none of them.
 */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
