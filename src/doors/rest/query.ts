import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { DurationSchema, FieldMaskSchema, isWrapperDesc, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../aip/errors.ts";
import type { Violations } from "../../aip/violations.ts";
import { type FieldPath, findFieldPath, formatFieldPath, isWithinPath, writeAt } from "./fields.ts";
import type { Binding } from "./http-rule.ts";
import { guard, Mismatch } from "./mismatch.ts";
import { enumFromText, scalarFromText, toFieldScalar } from "./scalar.ts";
import { durationFromQuery, fieldMaskFromText, timestampFromText } from "./well-known.ts";

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

function checkPath(path: FieldPath, binding: Binding): void {
  if (binding.body === "whole") throw new Mismatch(notParameter);
  if (binding.variables.some((bound) => isWithinPath(path, bound))) throw new Mismatch("is given by the path");
  if (path[0] === binding.body) throw new Mismatch("is given by the body");
}

function bindParameter(
  target: ReflectMessage,
  path: FieldPath,
  text: string,
  seen: Set<string>,
  binding: Binding,
): void {
  checkPath(path, binding);
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

function messageFromText(schema: DescMessage, text: string, binding: Binding): Message {
  switch (schema.typeName) {
    case TimestampSchema.typeName:
      // Some clients send the JSON form, quotes included.
      return timestampFromText(text.replace(/^"(.*)"$/, "$1"));
    case DurationSchema.typeName:
      return durationFromQuery(text.replace(/^"(.*)"$/, "$1"));
    case FieldMaskSchema.typeName:
      return fieldMaskFromText(text, typeof binding.body === "object" ? binding.body.message : undefined);
  }
  if (!isWrapperDesc(schema)) throw new Mismatch("is a message; give its fields, or use another encoding");
  const wrapper = reflect(schema);
  wrapper.set(schema.fields[0], scalarFromText(schema.fields[0].scalar, text));
  return wrapper.message;
}
