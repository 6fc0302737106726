/** How much of a caller's text an error or a log line repeats, in UTF-16 units. */
const maxRepeated = 200;

/** A text of a caller, cut to what an error or a log line may repeat: never in the middle of a character. */
export function clip(text: string, maxLength: number = maxRepeated): string {
  if (text.length <= maxLength) return text;
  const end = isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
