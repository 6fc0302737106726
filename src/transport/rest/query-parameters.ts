import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { DurationSchema, FieldMaskSchema, isWrapperDesc, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../aip/errors.ts";
import type { Violations } from "../../aip/violations.ts";
import { type FieldPath, findFieldPath, formatFieldPath, holderOf, isWithinPath, writeAt } from "./field-path.ts";
import type { Binding } from "./http-rule.ts";
import { enumFromText, scalarFromText, toFieldScalar } from "./json/decode-scalars.ts";
import { durationFromQuery, fieldMaskFromText, timestampFromText } from "./json/decode-well-known.ts";
import { guard, Mismatch } from "./json/value-error.ts";

/** A name and a value, decoded. */
export type Parameter = readonly [name: string, value: string];

/** How many parameters a query or a form may have. */
export const maxParameters = 1000;

const notParameter = "is not a parameter of this method";

/** Takes a query or a form apart; throws INVALID_ARGUMENT about `field` for malformed escapes and too many parameters. */
export function parseParameters(text: string, field: string): Parameter[] {
  if (text === "") return [];
  const pairs = text.split("&", maxParameters + 1);
  if (pairs.length > maxParameters) throw invalidField(field, `must not have more than ${maxParameters} parameters`);
  return pairs.filter((pair) => pair !== "").map((pair) => parsePair(pair, field));
}

/**
 * Writes parameters into the request: proto or JSON names along a path, repeated fields by repeating the name.
 *
 * Refuses what the path or the body binds, what is no field, and a second value of a singular field or of a oneof.
 */
export function bindParameters(
  target: ReflectMessage,
  parameters: readonly Parameter[],
  binding: Binding,
  violations: Violations,
): void {
  const seen = new Set<string>();
  for (const [name, value] of parameters) {
    const path = findFieldPath(target.desc, name);
    if (!path) violations.add(name || "query", notParameter);
    else guard(violations, formatFieldPath(path), () => bindParameter(target, path, value, seen, binding));
  }
}

/** The paths of the fields that parameters can give, in the order of the fields. */
export function parameterPaths(binding: Binding): FieldPath[] {
  const within = (schema: DescMessage, above: FieldPath): FieldPath[] =>
    schema.fields.flatMap((field) => {
      const path = [...above, field];
      const holder = holderOf(field);
      if (!holder) return takesText(field) && reservation(path, binding) === undefined ? [path] : [];
      // A message inside itself could be named for ever.
      return above.some((step) => step.message === holder) ? [] : within(holder, path);
    });
  return within(binding.method.descriptor.input, []);
}

/** Whether a parameter names the field and gives it a value. */
export function givesField(parameters: readonly Parameter[], field: DescField): boolean {
  return parameters.some(([name, value]) => (name === field.name || name === field.jsonName) && value.trim() !== "");
}

function parsePair(pair: string, field: string): Parameter {
  const equals = pair.indexOf("=");
  try {
    return equals < 0 ? [decode(pair), ""] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
  } catch {
    throw invalidField(field, "has a malformed percent-escape");
  }
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}

/** Why a parameter may not give the field; undefined when it may. */
function reservation(path: FieldPath, binding: Binding): string | undefined {
  if (binding.body === "whole") return notParameter;
  if (binding.variables.some((bound) => isWithinPath(path, bound))) return "is given by the path";
  return path[0] === binding.body ? "is given by the body" : undefined;
}

function bindParameter(
  target: ReflectMessage,
  path: FieldPath,
  text: string,
  seen: Set<string>,
  binding: Binding,
): void {
  const problem = reservation(path, binding);
  if (problem !== undefined) throw new Mismatch(problem);
  const field = path.at(-1)!;
  const place = formatFieldPath(path);
  if (field.fieldKind !== "list" && seen.has(place)) throw new Mismatch("must not be given twice");
  for (const [i, { oneof }] of path.entries()) {
    const rival = oneof?.fields.find(
      (other) => other !== path[i] && seen.has(formatFieldPath(path.with(i, other).slice(0, i + 1))),
    );
    if (rival) throw new Mismatch(`must not be set together with ${rival.name}`);
  }
  const value = valueFromText(field, text, binding);
  for (let length = 1; length <= path.length; length++) seen.add(formatFieldPath(path.slice(0, length)));
  writeAt(target, path, (owner) => put(owner, field, value));
}

function put(owner: ReflectMessage, field: DescField, value: unknown): void {
  if (field.fieldKind === "list") owner.get(field).add(value);
  else owner.set(field, value);
}

/** Reads the value of one field, or one item of a list, from text; throws a Mismatch. */
export function valueFromText(field: DescField, text: string, binding: Binding): unknown {
  if (field.fieldKind === "map") throw new Mismatch("cannot be given in a query");
  if (field.message) return reflect(field.message, messageFromText(field.message, text, binding));
  if (field.enum) return enumFromText(field.enum, text);
  return toFieldScalar(field, scalarFromText(field.scalar, text));
}

/** Whether a value of the field, or an item of its list, can be given as text. */
function takesText(field: DescField): boolean {
  return field.fieldKind !== "map" && (!field.message || messageReader(field.message) !== undefined);
}

function messageFromText(schema: DescMessage, text: string, binding: Binding): Message {
  const read = messageReader(schema);
  if (!read) throw new Mismatch("is a message; give its fields, or use another encoding");
  return read(text, binding);
}

/** What reads a message from text; undefined when it has no text. */
function messageReader(schema: DescMessage): ((text: string, binding: Binding) => Message) | undefined {
  switch (schema.typeName) {
    case TimestampSchema.typeName:
      // Some clients send the JSON form, quotes included.
      return (text) => timestampFromText(text.replace(/^"(.*)"$/, "$1"));
    case DurationSchema.typeName:
      return (text) => durationFromQuery(text.replace(/^"(.*)"$/, "$1"));
    case FieldMaskSchema.typeName:
      return (text, { body }) => fieldMaskFromText(text, typeof body === "object" ? body.message : undefined);
  }
  if (!isWrapperDesc(schema)) return undefined;
  return (text) => {
    const wrapper = reflect(schema);
    wrapper.set(schema.fields[0], scalarFromText(schema.fields[0].scalar, text));
    return wrapper.message;
  };
}
