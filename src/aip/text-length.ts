/** What anything but a text counts for: a number, a switch, nothing. */
const plainLength = 8;

/**
 * How long the texts in a value are together, names of members included, in UTF-16 units: about what its JSON is long, as
 * far as nothing has to be escaped. Bytes count one each.
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
