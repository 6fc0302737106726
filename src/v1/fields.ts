// Maps messages of version 1 to current messages (v2beta1), field by field. Fields have the same name in both, except those in
// `FieldNames`, which also renames violations. The descriptors are compared when the mapping is made: a field without a counterpart
// must be declared as such.
import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { isOutputOnly } from "../aip/field-behavior.ts";
import { readField } from "../aip/fields.ts";
import type { FieldRules } from "../pipeline/text-rules.ts";

/** Current names of fields of version 1, in proto spelling. An empty name means that a field has no counterpart. */
export type FieldNames = Readonly<Record<string, string | Converted>>;

/** A field whose values differ too. A conversion that is never used may be absent. */
export interface Converted {
  readonly current: string;
  // biome-ignore lint/suspicious/noExplicitAny: the type of the value follows from the descriptors.
  readonly toCurrent?: (value: any) => unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the type of the value follows from the descriptors.
  readonly toV1?: (value: any) => unknown;
}

/** Fields that every resource has renamed. */
const commonNames: Readonly<Record<string, string>> = {
  id: "uid",
  parent_id: "parent",
  created_at: "create_time",
  updated_at: "update_time",
};

/** Converts between two message types. Values without a field in the target are dropped. */
export interface MessageMapping<V1 extends DescMessage = DescMessage, Current extends DescMessage = DescMessage> {
  toCurrent(message: MessageShape<V1>): MessageShape<Current>;
  toV1(message: MessageShape<Current>): MessageShape<V1>;
  /** Names of version 1 by current names, for fields and enum values that differ, including those of nested messages. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** The current fields to which a field of version 1 maps without conversion. There are two if methods differ. */
const targets = new Map<DescField, Set<DescField>>();

/** Returns the rules of fields of version 1: those of the current fields to which they map. */
export function rulesInV1(rules: FieldRules): FieldRules {
  const targetOf = (field: DescField) => {
    const [only, ...others] = targets.get(field) ?? [];
    // Output-only fields have no rules in requests.
    return others.length > 0 || (only && isOutputOnly(only)) ? undefined : only;
  };
  return {
    text(field) {
      const target = targetOf(field);
      return target && rules.text(target);
    },
    bounds(field) {
      const target = targetOf(field);
      return target ? rules.bounds(target) : {};
    },
  };
}

type Convert = (value: unknown) => unknown;
interface Conversion {
  readonly toCurrent: Convert;
  readonly toV1: Convert;
}
/** A field, its target, and the conversion of its value. */
interface MappedField {
  readonly from: DescField;
  readonly to: DescField;
  readonly convert: Convert;
}

const same: Conversion = { toCurrent: (value) => value, toV1: (value) => value };

/** Maps two message types. Throws an Error that names the first field without a counterpart of the same type. */
export function mapMessages<V1 extends DescMessage, Current extends DescMessage>(
  v1: V1,
  current: Current,
  names: FieldNames = {},
): MessageMapping<V1, Current> {
  const renamed = new Map<string, string>();
  const toCurrent: MappedField[] = [];
  const toV1: MappedField[] = [];
  for (const field of v1.fields) {
    const counterpart = counterpartOf(field, current, names);
    if (!counterpart) continue;
    if (counterpart.name !== field.name) renamed.set(counterpart.name, field.name);
    const declared = nameOf(field, names);
    if (typeof declared !== "object") targets.set(field, (targets.get(field) ?? new Set()).add(counterpart));
    const conversion =
      typeof declared === "object" ? convertedBy(declared) : conversionOf(field, counterpart, names, renamed);
    toCurrent.push({ from: field, to: counterpart, convert: conversion.toCurrent });
    toV1.push({ from: counterpart, to: field, convert: conversion.toV1 });
  }
  return {
    toCurrent: (message) => convertMessage(message, current, toCurrent),
    toV1: (message) => convertMessage(message, v1, toV1),
    renamed,
  };
}

/** Returns the fields of a message without `$typeName`, for `create` to copy them into a new message. */
export function fieldsOf<T extends Message>({ $typeName: _, ...fields }: T): Omit<T, "$typeName"> {
  return fields;
}

function convertMessage<T extends DescMessage>(
  message: Message,
  schema: T,
  fields: readonly MappedField[],
): MessageShape<T> {
  const init: Record<string, unknown> = {};
  for (const { from, to, convert } of fields) {
    const value = readField(message, from);
    if (value === undefined) continue;
    if (to.oneof) init[to.oneof.localName] = { case: to.localName, value: convert(value) };
    else init[to.localName] = convert(value);
  }
  return create(schema, init as never);
}

function counterpartOf(field: DescField, current: DescMessage, names: FieldNames): DescField | undefined {
  const declared = nameOf(field, names);
  const named = typeof declared === "object" ? declared.current : declared;
  if (named === "") return undefined;
  const candidates = named === undefined ? [field.name, commonNames[field.name]] : [named];
  for (const name of candidates) {
    const found = current.fields.find((candidate) => candidate.name === name);
    if (found) return found;
  }
  throw new Error(`${field.toString()} has no counterpart in ${current.typeName}`);
}

function nameOf(field: DescField, names: FieldNames): string | Converted | undefined {
  return names[`${field.parent.name}.${field.name}`] ?? names[field.name];
}

function convertedBy({ toCurrent = oneWay, toV1 = oneWay }: Converted): Conversion {
  return { toCurrent, toV1 };
}

function oneWay(): never {
  throw new Error("the field has no conversion in this direction");
}

function conversionOf(v1: DescField, current: DescField, names: FieldNames, renamed: Map<string, string>): Conversion {
  const kind = shapeOf(v1);
  if (kind !== shapeOf(current))
    throw new Error(`${v1.toString()} is ${kind}, ${current.toString()} is ${shapeOf(current)}`);
  const element = elementOf(v1, current, names, renamed);
  if (element === same) return same;
  if (v1.fieldKind === "list") return both(element, (convert) => (list) => (list as unknown[]).map(convert));
  if (v1.fieldKind === "map") {
    return both(element, (convert) => (map) => {
      return Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, convert(value)]));
    });
  }
  return element;
}

/** Describes the type of a field, which must be equal in both messages, such as `list of scalar 9`. */
function shapeOf(field: DescField): string {
  const inner = field.enum ? "enum" : field.message ? "message" : `scalar ${field.scalar}`;
  if (field.fieldKind === "list") return `list of ${inner}`;
  return field.fieldKind === "map" ? `map of ${inner} by ${field.mapKey}` : inner;
}

function elementOf(v1: DescField, current: DescField, names: FieldNames, renamed: Map<string, string>): Conversion {
  if (v1.enum && current.enum) return enumConversion(v1.enum, current.enum, renamed);
  if (!v1.message || !current.message || v1.message.typeName === current.message.typeName) return same;
  const inner = mapMessages(v1.message, current.message, names);
  for (const [name, v1Name] of inner.renamed) renamed.set(name, v1Name);
  return { toCurrent: inner.toCurrent as Convert, toV1: inner.toV1 as Convert };
}

function both(element: Conversion, lift: (convert: Convert) => Convert): Conversion {
  return { toCurrent: lift(element.toCurrent), toV1: lift(element.toV1) };
}

/** Values of the same name have different numbers in some enums. An unknown number stays what it is. */
function enumConversion(v1: DescEnum, current: DescEnum, renamed: Map<string, string>): Conversion {
  const toCurrent = new Map<unknown, number>();
  const toV1 = new Map<unknown, number>();
  for (const value of v1.values) {
    const counterpart = current.values.find((candidate) => plain(candidate) === plain(value));
    if (!counterpart) throw new Error(`${value.toString()} has no counterpart in ${current.typeName}`);
    toCurrent.set(value.number, counterpart.number);
    toV1.set(counterpart.number, value.number);
    if (counterpart.name !== value.name) renamed.set(counterpart.name, value.name);
  }
  if ([...toCurrent].every(([from, to]) => from === to)) return same;
  return { toCurrent: (number) => toCurrent.get(number) ?? number, toV1: (number) => toV1.get(number) ?? 0 };
}

function plain({ number, localName }: DescEnum["values"][number]): string {
  return number === 0 ? "" : localName.replaceAll("_", "").toUpperCase();
}

/** Returns pairs of current name and name of version 1. */
export function reversed(names: FieldNames): [current: string, v1: string][] {
  const pairs = Object.entries(names).map(([v1, current]): [string, string] => {
    return [typeof current === "string" ? current : current.current, v1.slice(v1.lastIndexOf(".") + 1)];
  });
  return pairs.filter(([current]) => current !== "");
}
