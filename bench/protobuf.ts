// Protobuf messages of other servers, as far as requests need it: texts, messages and numbers below 128.

/** The number of a field and its value; a message is a buffer. */
export type Field = readonly [number: number, value: string | Buffer | number];

/** Encodes a message. */
export function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.map(([number, value]) => encode(number, value)));
}

function encode(number: number, value: string | Buffer | number): Buffer {
  if (typeof value === "number") return Buffer.from([number << 3, value]);
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...lengthOf(bytes)]), bytes]);
}

/** A length below 16,384. */
function lengthOf({ length }: Buffer): number[] {
  return length < 128 ? [length] : [(length & 127) | 128, length >> 7];
}
