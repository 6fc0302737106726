/** An object from JSON.parse, whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Reports whether a value is an object with members: neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof RepeatedMember);
}

/** Replaces an object with a duplicate member, so no reader can pick one of the values. */
export class RepeatedMember {
  /** The duplicate member. */
  readonly name: string;
  /** All members, including duplicates. */
  readonly entries: readonly (readonly [name: string, value: unknown])[];

  constructor(name: string, entries: RepeatedMember["entries"]) {
    this.name = name;
    this.entries = entries;
  }
}

/** A number that JavaScript would write differently. JSON.stringify writes it as it was sent. */
interface RawNumber {
  readonly rawJSON: string;
}

/** The part of https://tc39.es/proposal-json-parse-with-source/ that V8 supports and the types of ES2024 lack. */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (this: object, key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}

const json: JsonWithSource = JSON as never;

/**
 * Parses JSON without loss. A number that JavaScript would write differently (`1.0`, `1e400`, integers beyond 2^53)
 * keeps its text; `numberOf` and `numberText` read it. Throws a SyntaxError for an object with a duplicate member,
 * because parsers disagree about which one counts (RFC 8725 §2.4).
 */
export function parseExactly(text: string): unknown {
  let members = -1; // JSON.parse puts the value itself into an object.
  const value = json.parse(text, function (_name, member, { source }) {
    if (!Array.isArray(this)) members++;
    return typeof member === "number" && source !== undefined && String(member) !== source
      ? json.rawJSON(source)
      : member;
  });
  const written = text.replace(/"(?:[^"\\]|\\.)*"/g, "").match(/:/g)?.length ?? 0;
  if (written !== members) throw new SyntaxError("an object has a member twice");
  return value;
}

/** Returns the number in a value of `parseExactly`, possibly rounded; undefined for other values. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return json.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

/** Returns the text of a number as it was sent; undefined for other values. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}

/** Returns the text of a string, a number or a boolean; empty for other values. `String` throws for some objects. */
export function scalarText(value: unknown): string {
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  return numberText(value) ?? "";
}
