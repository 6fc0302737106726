/** How much of a caller's text an error or a log line repeats, in UTF-16 units. */
const maxRepeated = 200;

/** A text of a caller, cut to what an error or a log line may repeat: never in the middle of a character. */
export function clip(text: string, maxLength: number = maxRepeated): string {
  if (text.length <= maxLength) return text;
  const end = isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}…`;
}

/** A text of a caller as it may appear in an error or a log line: on one line and of limited length. */
export function show(text: string): string {
  return visible(clip(text));
}

/**
 * A text on one line (security case L2): control and format characters, half surrogates, line separators and marks that change
 * the direction of text are escaped, so that a terminal obeys none of them.
 */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
