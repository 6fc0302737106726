/** An object as JSON.parse makes it, whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object with members: no list, and not null. What is JSON by its type stays that. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof RepeatedMember);
}

/** In place of an object that has a member twice: no reader may choose one of them. */
export class RepeatedMember {
  /** The member. */
  readonly name: string;
  /** All members, each as often as it is there. */
  readonly entries: readonly (readonly [name: string, value: unknown])[];

  constructor(name: string, entries: RepeatedMember["entries"]) {
    this.name = name;
    this.entries = entries;
  }
}

/** A number as it was sent, where JavaScript would write it otherwise. JSON.stringify writes it as it was sent. */
interface RawNumber {
  readonly rawJSON: string;
}

/** What V8 has of https://tc39.es/proposal-json-parse-with-source/, and the types of ES2024 do not. */
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
 * Parses JSON without losing anything of it. A number that JavaScript would write otherwise (`1.0`, `1e400`, integers beyond 2^53)
 * stays as it was sent; `numberOf` and `numberText` read it. Throws a SyntaxError for an object that has a member twice, since
 * parsers disagree about which one counts (RFC 8725 §2.4).
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

/** The number that a value of `parseExactly` is, possibly rounded; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return json.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

/** The text of a number as it was sent; undefined for anything else. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}

/** The text of a string, a number or a boolean; empty for anything else. `String` throws for some objects. */
export function scalarText(value: unknown): string {
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  return numberText(value) ?? "";
}
