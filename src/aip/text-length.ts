/** The length counted for anything but a text: a number, a boolean, null. */
const plainLength = 8;

/**
 * Returns the total length of the texts in a value, including member names, in UTF-16 units: about the length of its
 * JSON before escaping. Each byte of a byte array counts one.
 */
export function textLength(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return plainLength;
  if (value instanceof Uint8Array) return value.length;
  let length = 0;
  if (Array.isArray(value)) for (const item of value) length += textLength(item);
  else for (const name in value) length += name.length + textLength((value as Readonly<Record<string, unknown>>)[name]);
  return length;
}
