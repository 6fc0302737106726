// The JSON text of google.protobuf's own messages.
import { type DescMessage, type Message, type Registry, toJson } from "@bufbuild/protobuf";
import {
  type Any,
  anyUnpack,
  type Duration,
  DurationSchema,
  type FieldMask,
  hasCustomJsonRepresentation,
  isWrapperDesc,
  type Timestamp,
} from "@bufbuild/protobuf/wkt";
import { scalarWriter, writeString } from "./json-scalars.ts";
import { formatTimestamp } from "./timestamp-text.ts";

type Writer = (message: Message) => string;

/** The writer of a message with a JSON form of its own; undefined for all others. */
export function wellKnownWriter(
  schema: DescMessage,
  registry: Registry,
  writerOf: (schema: DescMessage) => Writer,
): Writer | undefined {
  if (!hasCustomJsonRepresentation(schema)) return undefined;
  switch (schema.typeName) {
    case "google.protobuf.Timestamp":
      return (message) => writeTimestamp(message as Timestamp);
    case "google.protobuf.Duration":
      return (message) => JSON.stringify(toJson(DurationSchema, message as Duration));
    case "google.protobuf.FieldMask":
      return (message) => writeString((message as FieldMask).paths.map(toCamelCase).join(","));
    case "google.protobuf.Any":
      return (message) => writeAny(message as Any, registry, writerOf);
  }
  if (!isWrapperDesc(schema)) return (message) => JSON.stringify(toJson(schema, message));
  const write = scalarWriter(schema.fields[0].scalar);
  return (message) => write((message as Message & { value: unknown }).value);
}

/** Adds the type of a message to its JSON, the way an Any shows what it holds. */
export function withType(schema: DescMessage, json: string): string {
  const type = `{"@type":"type.googleapis.com/${schema.typeName}"`;
  if (hasCustomJsonRepresentation(schema)) return `${type},"value":${json}}`;
  return json === "{}" ? `${type}}` : `${type},${json.slice(1)}`;
}

function writeTimestamp({ seconds, nanos }: Timestamp): string {
  return `"${formatTimestamp(Number(seconds) * 1000 + Math.floor(nanos / 1e6))}"`;
}

function writeAny(any: Any, registry: Registry, writerOf: (schema: DescMessage) => Writer): string {
  if (any.typeUrl === "") return "{}";
  const message = anyUnpack(any, registry);
  const schema = message && registry.getMessage(message.$typeName);
  if (!schema) throw new Error(`no schema for ${any.typeUrl}`);
  return withType(schema, writerOf(schema)(message));
}

function toCamelCase(path: string): string {
  return path.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
