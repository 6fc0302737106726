// Encodes the messages of google.protobuf.
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
import { scalarConverter } from "./encode-scalars.ts";
import { formatTimestamp } from "./format-timestamp.ts";

type Converter = (message: Message) => unknown;

/** Returns the converter of a message with a special JSON form; undefined for other messages. */
export function wellKnownConverter(
  schema: DescMessage,
  registry: Registry,
  converterOf: (schema: DescMessage) => Converter,
): Converter | undefined {
  if (!hasCustomJsonRepresentation(schema)) return undefined;
  switch (schema.typeName) {
    case "google.protobuf.Timestamp":
      return (message) => timestampText(message as Timestamp);
    case "google.protobuf.Duration":
      return (message) => toJson(DurationSchema, message as Duration);
    case "google.protobuf.FieldMask":
      return (message) => (message as FieldMask).paths.map(toCamelCase).join(",");
    case "google.protobuf.Any":
      return (message) => convertAny(message as Any, registry, converterOf);
  }
  if (!isWrapperDesc(schema)) return (message) => toJson(schema, message);
  const convert = scalarConverter(schema.fields[0].scalar);
  return (message) => {
    const { value } = message as Message & { value: unknown };
    return convert ? convert(value) : value;
  };
}

/** Adds the type of a message to its JSON, as in the JSON of an Any. */
export function withType(schema: DescMessage, json: unknown): object {
  const type = { "@type": `type.googleapis.com/${schema.typeName}` };
  return hasCustomJsonRepresentation(schema) ? { ...type, value: json } : { ...type, ...(json as object) };
}

function timestampText({ seconds, nanos }: Timestamp): string {
  return formatTimestamp(Number(seconds) * 1000 + Math.floor(nanos / 1e6));
}

function convertAny(any: Any, registry: Registry, converterOf: (schema: DescMessage) => Converter): object {
  if (any.typeUrl === "") return {};
  const message = anyUnpack(any, registry);
  const schema = message && registry.getMessage(message.$typeName);
  if (!schema) throw new Error(`no schema for ${any.typeUrl}`);
  return withType(schema, converterOf(schema)(message));
}

function toCamelCase(path: string): string {
  return path.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
