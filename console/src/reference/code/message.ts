// A request as a literal of a programming language.
import { camel, type Field, type Grpc } from "../documents.ts";

type Json = unknown;

/** A field with the code of its value. */
export interface FieldCode {
  readonly field: Field;
  readonly code: string;
}

/** How a language writes values. */
export interface Dialect {
  /** Returns the code of a text, number, boolean, of bytes, or of an enum. */
  scalar(field: Field, type: string, value: Json): string;
  list(field: Field, items: readonly string[]): string;
  /** Returns the code of a map. `keys` are texts, as JSON has them. */
  map(field: Field, entries: readonly (readonly [key: string, code: string])[]): string;
  message(type: string, fields: readonly FieldCode[]): string;
  /** Returns the code of a message with a JSON form of its own: a time, a mask, a struct. */
  wellKnown(type: string, value: Json): string;
}

/** Returns the code of a message, given as JSON. Throws an Error for a member that is no field. */
export function messageCode(dialect: Dialect, grpc: Grpc, type: string, value: Json): string {
  if (type.startsWith("google.protobuf.")) return dialect.wellKnown(type, value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${type}: not an object`);
  const fields = grpc.types[type]?.fields ?? [];
  const members = Object.entries(value).filter(([, member]) => member !== null);
  const codes = members.map(([name, member]) => {
    const field = fields.find((one) => camel(one.name) === name || one.name === name);
    if (!field) throw new Error(`${type} has no field ${name}`);
    return { field, code: fieldCode(dialect, grpc, field, member) };
  });
  return dialect.message(type, codes);
}

function fieldCode(dialect: Dialect, grpc: Grpc, field: Field, value: Json): string {
  if (field.type.startsWith("map<")) {
    const one = { ...field, type: mapTypes(field).value };
    const entries = Object.entries(value as Record<string, Json>);
    return dialect.map(
      field,
      entries.map(([key, member]) => [key, valueCode(dialect, grpc, one, member)]),
    );
  }
  if (!field.isRepeated) return valueCode(dialect, grpc, field, value);
  const items = Array.isArray(value) ? value : [value];
  return dialect.list(
    field,
    items.map((item) => valueCode(dialect, grpc, field, item)),
  );
}

function valueCode(dialect: Dialect, grpc: Grpc, field: Field, value: Json): string {
  if (field.message !== undefined) return messageCode(dialect, grpc, field.message, value);
  return dialect.scalar(field, field.type, value);
}

/** Returns the types of a map's keys and values. */
export function mapTypes({ type }: Field): { readonly key: string; readonly value: string } {
  const [, key = "", value = ""] = /^map<(\w+), (.*)>$/.exec(type) ?? [];
  return { key, value };
}

const lineLength = 72;

/** Joins items on one line if they fit, else on a line each. `gap` is the space inside the brackets of one line. */
export function block(open: string, items: readonly string[], close: string, indent: string, gap = ""): string {
  if (items.length === 0) return open + close;
  const line = `${open}${gap}${items.join(", ")}${gap}${close}`;
  if (line.length <= lineLength && !line.includes("\n")) return line;
  return `${open}\n${items.map((item) => `${indented(item, indent)},\n`).join("")}${close}`;
}

/** Returns lines with an indent. */
export function indented(text: string, indent: string): string {
  return text.replace(/^(?=.)/gm, indent);
}

/** Returns the seconds and nanoseconds of a time or a duration in JSON. Throws an Error for other texts. */
export function secondsOf(value: Json): { readonly seconds: string; readonly nanos: number } {
  const text = String(value);
  const [, whole, fraction = ""] = /^(.*?)(?:\.(\d+))?(?:Z|s|[+-]\d\d:\d\d)$/i.exec(text) ?? [];
  const isDuration = /^-?\d+$/.test(whole ?? "");
  const ms = Date.parse(text.replace(/\.\d+/, ""));
  if (whole === undefined || (!isDuration && Number.isNaN(ms))) throw new Error(`${text}: not a time`);
  const sign = text.startsWith("-") && isDuration ? -1 : 1;
  const nanos = sign * Number(fraction.padEnd(9, "0").slice(0, 9));
  return { seconds: isDuration ? whole : String(ms / 1000), nanos: nanos === 0 ? 0 : nanos };
}

/** Returns the paths of a field mask in JSON, as proto files write them. */
export function pathsOf(value: Json): readonly string[] {
  const paths = String(value).split(",").filter(Boolean);
  return paths.map((path) => path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}
