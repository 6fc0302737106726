// Decodes JSON into messages field by field. Every violation names the path of its field.
import {
  type DescField,
  type DescMessage,
  type DescOneof,
  type JsonObject,
  type JsonValue,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { Violations } from "../../aip/violations.ts";
import { clip } from "../../base/clip.ts";
import { isJsonObject } from "../../base/json.ts";
import { enumFromJson, scalarFromJson, scalarFromText, toFieldScalar } from "./decode-scalars.ts";
import { wellKnownFromJson } from "./decode-well-known.ts";
import { findField, isWellKnown } from "./field-path.ts";
import { guard, ValueError } from "./value-error.ts";

/** The options for decoding JSON, and the collector of violations. */
export interface JsonReading {
  readonly violations: Violations;
  /** Whether unknown members are ignored. */
  readonly ignoreUnknown: boolean;
  /** The messages that an Any may contain. */
  readonly registry: Registry;
}

/**
 * Decodes the members of a JSON object into a message. Names are proto or JSON names; null means unset.
 *
 * `at` is the path of the message in the request, empty for the request itself.
 */
export function readJsonObject(target: ReflectMessage, json: JsonObject, at: string, reading: JsonReading): void {
  const seen = new Map<DescField | DescOneof, DescField>();
  for (const [name, value] of Object.entries(json)) {
    const field = findField(target.desc, name);
    if (field) readMember(target, field, value, pathTo(at, field.name), reading, seen);
    else if (!reading.ignoreUnknown) {
      reading.violations.add(pathTo(at, name), `could not find field "${clip(name)}" in "${target.desc.typeName}"`);
    }
  }
}

/** Decodes a JSON value into a field. */
export function readJsonField(
  target: ReflectMessage,
  field: DescField,
  json: JsonValue,
  at: string,
  reading: JsonReading,
): void {
  if (json === null && !takesNull(field)) return;
  guard(reading.violations, at, () => {
    if (field.fieldKind === "list") readList(target, field, json, at, reading);
    else if (field.fieldKind === "map") readMap(target, field, json, at, reading);
    else target.set(field, readItem(field, json, at, reading));
  });
}

type Seen = Map<DescField | DescOneof, DescField>;

function readMember(
  target: ReflectMessage,
  field: DescField,
  json: JsonValue,
  at: string,
  reading: JsonReading,
  seen: Seen,
): void {
  const isSet = json !== null || takesNull(field);
  const oneof = isSet ? field.oneof : undefined;
  const rival = oneof && seen.get(oneof);
  if (seen.has(field)) reading.violations.add(at, "must not be given twice");
  else if (rival) reading.violations.add(at, `must not be set together with ${rival.name}`);
  else readJsonField(target, field, json, at, reading);
  seen.set(field, field);
  if (oneof) seen.set(oneof, field);
}

function readList(
  target: ReflectMessage,
  field: DescField & { fieldKind: "list" },
  json: JsonValue,
  at: string,
  reading: JsonReading,
): void {
  if (!Array.isArray(json)) throw new ValueError("must be an array");
  const list = target.get(field);
  for (const [i, item] of json.entries()) {
    const place = `${at}[${i}]`;
    guard(reading.violations, place, () => list.add(readItem(field, item, place, reading)));
  }
}

function readMap(
  target: ReflectMessage,
  field: DescField & { fieldKind: "map" },
  json: JsonValue,
  at: string,
  reading: JsonReading,
): void {
  if (!isJsonObject(json)) throw new ValueError("must be an object");
  const map = target.get(field);
  for (const [key, item] of Object.entries(json)) {
    const place = `${at}["${clip(key)}"]`;
    guard(reading.violations, place, () => {
      const read = readMapKey(field.mapKey, key);
      // One number can have several spellings, which are different members in JSON.
      if (map.has(read)) throw new ValueError("must not be given twice");
      map.set(read, readItem(field, item, place, reading));
    });
  }
}

function readMapKey(type: ScalarType, key: string): unknown {
  // Maps are plain objects, on which this key sets the prototype.
  if (key === "__proto__") throw new ValueError("is not allowed as a key");
  if (type === ScalarType.BOOL && key !== "true" && key !== "false")
    throw new ValueError("must have the key true or false");
  return scalarFromText(type, key);
}

function readItem(field: DescField, json: JsonValue, at: string, reading: JsonReading): unknown {
  if (field.message) return readMessage(field.message, json, at, reading);
  if (field.enum) return json === null && takesNull(field) ? 0 : enumFromJson(field.enum, json);
  return toFieldScalar(field, scalarFromJson(field.scalar, json));
}

function readMessage(schema: DescMessage, json: JsonValue, at: string, reading: JsonReading): ReflectMessage {
  if (isWellKnown(schema)) return reflect(schema, wellKnownFromJson(schema, json, reading.registry));
  if (!isJsonObject(json)) throw new ValueError("must be an object");
  const message = reflect(schema);
  readJsonObject(message, json, at, reading);
  return message;
}

/** Whether null is a value of the field rather than its absence. */
function takesNull(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Value" || field.enum?.typeName === "google.protobuf.NullValue";
}

function pathTo(at: string, name: string): string {
  return at === "" ? name : `${at}.${name}`;
}
