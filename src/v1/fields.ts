// How the messages of version 1 and of today correspond: field by field under the same name, but for a few that are said
// once, for messages and violations alike. The descriptors are compared at start; a field without a counterpart must be
// named as such.
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

/** What fields of version 1 are called today, in proto spelling; empty where a field has no counterpart. */
export type Names = Readonly<Record<string, string | Converted>>;

/** A field whose values differ, too. A direction that is never gone need not be given. */
export interface Converted {
  readonly now: string;
  // biome-ignore lint/suspicious/noExplicitAny: which value it is stands in the descriptors.
  readonly toNow?: (value: any) => unknown;
  // biome-ignore lint/suspicious/noExplicitAny: which value it is stands in the descriptors.
  readonly toV1?: (value: any) => unknown;
}

/** What every resource calls otherwise today. */
const commonNames: Readonly<Record<string, string>> = {
  id: "uid",
  parent_id: "parent",
  created_at: "create_time",
  updated_at: "update_time",
};

/** Two types that stand for each other. What a type has no field for is left out on the way to it. */
export interface Correspondence<V1 extends DescMessage = DescMessage, Now extends DescMessage = DescMessage> {
  toNow(message: MessageShape<V1>): MessageShape<Now>;
  toV1(message: MessageShape<Now>): MessageShape<V1>;
  /** The names of version 1 by those of today, of fields and enum values, nested messages included, where they differ. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** The fields of today that carry the values of a field of version 1 as they are; two where methods differ. */
const carriers = new Map<DescField, Set<DescField>>();

/** The rules of fields of version 1: those of the fields of today that carry their values. */
export function rulesInV1(rules: FieldRules): FieldRules {
  const carrierOf = (field: DescField) => {
    const [only, ...others] = carriers.get(field) ?? [];
    // A request may say anything of what is output only.
    return others.length > 0 || (only && isOutputOnly(only)) ? undefined : only;
  };
  return {
    text(field) {
      const carrier = carrierOf(field);
      return carrier && rules.text(carrier);
    },
    bounds(field) {
      const carrier = carrierOf(field);
      return carrier ? rules.bounds(carrier) : {};
    },
  };
}

type Convert = (value: unknown) => unknown;
interface Conversion {
  readonly toNow: Convert;
  readonly toV1: Convert;
}
/** A field, the one that its value is carried to, and what is made of the value. */
interface Carried {
  readonly from: DescField;
  readonly to: DescField;
  readonly convert: Convert;
}

const same: Conversion = { toNow: (value) => value, toV1: (value) => value };

/** Compares two types. Throws an Error that names the first field that cannot be carried over. */
export function correspond<V1 extends DescMessage, Now extends DescMessage>(
  v1: V1,
  now: Now,
  names: Names = {},
): Correspondence<V1, Now> {
  const renamed = new Map<string, string>();
  const toNow: Carried[] = [];
  const toV1: Carried[] = [];
  for (const field of v1.fields) {
    const counterpart = counterpartOf(field, now, names);
    if (!counterpart) continue;
    if (counterpart.name !== field.name) renamed.set(counterpart.name, field.name);
    const said = nameOf(field, names);
    if (typeof said !== "object") carriers.set(field, (carriers.get(field) ?? new Set()).add(counterpart));
    const conversion = typeof said === "object" ? convertedBy(said) : conversionOf(field, counterpart, names, renamed);
    toNow.push({ from: field, to: counterpart, convert: conversion.toNow });
    toV1.push({ from: counterpart, to: field, convert: conversion.toV1 });
  }
  return {
    toNow: (message) => carry(message, now, toNow),
    toV1: (message) => carry(message, v1, toV1),
    renamed,
  };
}

/** The fields of a message, to be changed and made a message again: without its type, it would not be taken as it is. */
export function fieldsOf<T extends Message>({ $typeName: _, ...fields }: T): Omit<T, "$typeName"> {
  return fields;
}

function carry<T extends DescMessage>(message: Message, schema: T, fields: readonly Carried[]): MessageShape<T> {
  const init: Record<string, unknown> = {};
  for (const { from, to, convert } of fields) {
    const value = readField(message, from);
    if (value === undefined) continue;
    if (to.oneof) init[to.oneof.localName] = { case: to.localName, value: convert(value) };
    else init[to.localName] = convert(value);
  }
  return create(schema, init as never);
}

function counterpartOf(field: DescField, now: DescMessage, names: Names): DescField | undefined {
  const said = nameOf(field, names);
  const named = typeof said === "object" ? said.now : said;
  if (named === "") return undefined;
  const candidates = named === undefined ? [field.name, commonNames[field.name]] : [named];
  for (const name of candidates) {
    const found = now.fields.find((candidate) => candidate.name === name);
    if (found) return found;
  }
  throw new Error(`${field.toString()} has no counterpart in ${now.typeName}`);
}

function nameOf(field: DescField, names: Names): string | Converted | undefined {
  return names[`${field.parent.name}.${field.name}`] ?? names[field.name];
}

function convertedBy({ toNow = oneWay, toV1 = oneWay }: Converted): Conversion {
  return { toNow, toV1 };
}

function oneWay(): never {
  throw new Error("a field that goes one way was asked to go the other");
}

function conversionOf(v1: DescField, now: DescField, names: Names, renamed: Map<string, string>): Conversion {
  const kind = shapeOf(v1);
  if (kind !== shapeOf(now)) throw new Error(`${v1.toString()} is ${kind}, ${now.toString()} is ${shapeOf(now)}`);
  const element = elementOf(v1, now, names, renamed);
  if (element === same) return same;
  if (v1.fieldKind === "list") return both(element, (convert) => (list) => (list as unknown[]).map(convert));
  if (v1.fieldKind === "map") {
    return both(element, (convert) => (map) => {
      return Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, convert(value)]));
    });
  }
  return element;
}

/** The kind of a field, as far as it must be the same: `list of scalar 9`. */
function shapeOf(field: DescField): string {
  const inner = field.enum ? "enum" : field.message ? "message" : `scalar ${field.scalar}`;
  if (field.fieldKind === "list") return `list of ${inner}`;
  return field.fieldKind === "map" ? `map of ${inner} by ${field.mapKey}` : inner;
}

function elementOf(v1: DescField, now: DescField, names: Names, renamed: Map<string, string>): Conversion {
  if (v1.enum && now.enum) return enumConversion(v1.enum, now.enum, renamed);
  if (!v1.message || !now.message || v1.message.typeName === now.message.typeName) return same;
  const inner = correspond(v1.message, now.message, names);
  for (const [name, v1Name] of inner.renamed) renamed.set(name, v1Name);
  return { toNow: inner.toNow as Convert, toV1: inner.toV1 as Convert };
}

function both(element: Conversion, lift: (convert: Convert) => Convert): Conversion {
  return { toNow: lift(element.toNow), toV1: lift(element.toV1) };
}

/** Values of the same name have different numbers in some enums. An unknown number stays what it is. */
function enumConversion(v1: DescEnum, now: DescEnum, renamed: Map<string, string>): Conversion {
  const toNow = new Map<unknown, number>();
  const toV1 = new Map<unknown, number>();
  for (const value of v1.values) {
    const counterpart = now.values.find((candidate) => plain(candidate) === plain(value));
    if (!counterpart) throw new Error(`${value.toString()} has no counterpart in ${now.typeName}`);
    toNow.set(value.number, counterpart.number);
    toV1.set(counterpart.number, value.number);
    if (counterpart.name !== value.name) renamed.set(counterpart.name, value.name);
  }
  if ([...toNow].every(([from, to]) => from === to)) return same;
  return { toNow: (number) => toNow.get(number) ?? number, toV1: (number) => toV1.get(number) ?? 0 };
}

function plain({ number, localName }: DescEnum["values"][number]): string {
  return number === 0 ? "" : localName.replaceAll("_", "").toUpperCase();
}

/** The names of version 1 by those of today. */
export function reversed(names: Names): [now: string, v1: string][] {
  const pairs = Object.entries(names).map(([v1, now]): [string, string] => {
    return [typeof now === "string" ? now : now.now, v1.slice(v1.lastIndexOf(".") + 1)];
  });
  return pairs.filter(([now]) => now !== "");
}
