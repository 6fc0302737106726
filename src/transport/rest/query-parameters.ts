import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { DurationSchema, FieldMaskSchema, isWrapperDesc, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../aip/errors.ts";
import type { Violations } from "../../aip/violations.ts";
import { enumFromText, scalarFromText, toFieldScalar } from "../json/decode-scalars.ts";
import { durationFromQuery, fieldMaskFromText, timestampFromText } from "../json/decode-well-known.ts";
import {
  type FieldPath,
  findFieldPath,
  formatFieldPath,
  isWithinPath,
  messageOf,
  writeAt,
} from "../json/field-path.ts";
import { guard, ValueError } from "../json/value-error.ts";
import type { Binding } from "./http-rule.ts";
import { systemParameter } from "./system-parameters.ts";

/** A decoded name and value. */
export type Parameter = readonly [name: string, value: string];

/** The most parameters of a query or form. */
export const maxParameters = 1000;

const notParameter = "is not a parameter of this method";

/** Parses a query or form. Throws INVALID_ARGUMENT for `field` if an escape is malformed, or there are too many parameters. */
export function parseParameters(text: string, field: string): Parameter[] {
  if (text === "") return [];
  const pairs = text.split("&", maxParameters + 1);
  if (pairs.length > maxParameters) throw invalidField(field, `must not have more than ${maxParameters} parameters`);
  return pairs.filter((pair) => pair !== "").map((pair) => parsePair(pair, field));
}

/**
 * Sets fields of the request from parameters. A name is a path of proto or JSON names; repeated fields repeat it.
 *
 * Accepts system parameters. Adds a violation for other unknown names, fields that the path or body binds, and a second value of a singular field or oneof.
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
    const problem = path ? undefined : problemOf(name, value);
    if (problem !== undefined) violations.add(name || "query", problem);
    if (path) guard(violations, formatFieldPath(path), () => bindParameter(target, path, value, seen, binding));
  }
}

/** Returns why a parameter that names no field is rejected; undefined for a system parameter that is accepted. */
function problemOf(name: string, value: string): string | undefined {
  const check = systemParameter(name);
  return check ? check(value) : notParameter;
}

/** Returns the paths of the fields that parameters can set, in the order of the fields. */
export function parameterPaths(binding: Binding): FieldPath[] {
  const within = (schema: DescMessage, above: FieldPath): FieldPath[] =>
    schema.fields.flatMap((field) => {
      const path = [...above, field];
      const holder = messageOf(field);
      if (!holder) return hasTextForm(field) && reservation(path, binding) === undefined ? [path] : [];
      // The paths of a recursive message are endless.
      return above.some((step) => step.message === holder) ? [] : within(holder, path);
    });
  return within(binding.method.descriptor.input, []);
}

/** Whether a parameter sets the field to a value. */
export function setsField(parameters: readonly Parameter[], field: DescField): boolean {
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

/** Returns why a parameter may not set the field; undefined if it may. */
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
  if (problem !== undefined) throw new ValueError(problem);
  const field = path.at(-1)!;
  const place = formatFieldPath(path);
  if (field.fieldKind !== "list" && seen.has(place)) throw new ValueError("must not be given twice");
  for (const [i, { oneof }] of path.entries()) {
    const rival = oneof?.fields.find(
      (other) => other !== path[i] && seen.has(formatFieldPath(path.with(i, other).slice(0, i + 1))),
    );
    if (rival) throw new ValueError(`must not be set together with ${rival.name}`);
  }
  const value = valueFromText(field, text, binding);
  for (let length = 1; length <= path.length; length++) seen.add(formatFieldPath(path.slice(0, length)));
  writeAt(target, path, (owner) => put(owner, field, value));
}

function put(owner: ReflectMessage, field: DescField, value: unknown): void {
  if (field.fieldKind === "list") owner.get(field).add(value);
  else owner.set(field, value);
}

/** Parses the value of a field, or of one item of a list. Throws a ValueError. */
export function valueFromText(field: DescField, text: string, binding: Binding): unknown {
  if (field.fieldKind === "map") throw new ValueError("cannot be given in a query");
  if (field.message) return reflect(field.message, messageFromText(field.message, text, binding));
  if (field.enum) return enumFromText(field.enum, text);
  return toFieldScalar(field, scalarFromText(field.scalar, text));
}

/** Whether a value of the field, or an item of its list, can be written as text. */
function hasTextForm(field: DescField): boolean {
  return field.fieldKind !== "map" && (!field.message || messageReader(field.message) !== undefined);
}

function messageFromText(schema: DescMessage, text: string, binding: Binding): Message {
  const read = messageReader(schema);
  if (!read) throw new ValueError("is a message; give its fields, or use another encoding");
  return read(text, binding);
}

/** Returns the parser of a message type; undefined if it has no text form. */
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
