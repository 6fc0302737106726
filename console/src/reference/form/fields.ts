// The fields of a body: their structure by gRPC, their rules by the schema of the document.
import {
  camel,
  type Field,
  type Grpc,
  type Method,
  type OpenApi,
  type Operation,
  type Parameter,
  resolve,
  type Schema,
} from "../documents.ts";
import { pathOf, type Violation } from "./check.ts";

/** The descriptions that a form is made of. */
export interface Descriptions {
  readonly grpc: Grpc;
  readonly document: OpenApi;
}

/** A field of the form, or an item of one. */
export interface FormField {
  /** The name in JSON. */
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** The field of the message; undefined for the body as a whole. */
  readonly field: Field | undefined;
  /** The full name of the message, for a field that has one. */
  readonly type: string | undefined;
}

/** How a field is edited. Values of `json` have no form. */
export type Kind = "text" | "number" | "boolean" | "choice" | "list" | "map" | "message" | "json";

/** Returns the body of an operation as a field: the message, or the field of it that the route names. */
export function bodyField(grpc: Grpc, method: Method, operation: Operation): FormField | undefined {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (!schema) return undefined;
  const name = method.routes[0]?.body ?? "*";
  const field = grpc.types[method.input]?.fields?.find((one) => one.name === name);
  return { name: "", schema, isRequired: false, field, type: field ? field.message : method.input };
}

/** Returns a parameter in path or query as a field. A list is typed as one text, which `commas` says. */
export function parameterField(
  { name, schema, description = "", required = false, example }: Parameter,
  commas: string,
): FormField {
  const isList = schema.type === "array";
  const own = isList ? { type: "string", description: `${commas}: ${description}` } : { ...schema, description };
  return { name, schema: { ...own, example }, isRequired: required, field: undefined, type: undefined };
}

/** Returns the fields of a message that a caller may fill. Those that the path fills are `given`. */
export function fieldsOf({ grpc, document }: Descriptions, message: FormField, given: readonly string[]) {
  const { schema } = resolve(document, message.schema);
  const fields = grpc.types[message.type ?? ""]?.fields ?? [];
  return Object.entries(schema.properties ?? {})
    .filter(([name, property]) => !property.readOnly && !given.includes(name))
    .map(([name, property]): FormField => {
      const field = fields.find((one) => camel(one.name) === name);
      return {
        name,
        schema: property,
        isRequired: (schema.required ?? []).includes(name),
        field,
        type: field?.message,
      };
    });
}

/** Returns an item of a list or a value of a map. */
export function itemOf({ name, schema, field, type }: FormField, label: string | number): FormField {
  const own = schema.items ?? (schema.additionalProperties as Schema);
  return {
    name: typeof label === "number" ? `${name} ${label}`.trim() : label,
    schema: own,
    isRequired: false,
    field,
    type,
  };
}

/** Returns how a field is edited. */
export function kindOf(document: OpenApi, given: Schema): Kind {
  const { schema } = resolve(document, given);
  if (schema.items) return "list";
  if (typeof schema.additionalProperties === "object") return "map";
  if (schema.enum) return "choice";
  if (schema.anyOf) return "number";
  if (schema.properties) return "message";
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "string":
      return "text";
    default:
      return "json";
  }
}

/** Whether a value has the form of its kind. A text may stand for a number, and an integer for a text: JSON of Protobuf takes both. */
export function fits(kind: Kind, value: unknown): boolean {
  if (value === undefined) return true;
  if (kind === "list") return Array.isArray(value);
  if (kind === "map" || kind === "message") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (kind === "boolean") return typeof value === "boolean";
  return kind !== "json" && (typeof value === "string" || typeof value === "number");
}

type Members = Readonly<Record<string, unknown>>;

/** Returns a message or a map with another value of a member, at its place. Without a value the member is left out. */
export function withMember(message: unknown, name: string, value: unknown): Members {
  const { [name]: _, ...others } = (message ?? {}) as Members;
  return value === undefined ? others : { ...(message as Members), [name]: value };
}

/** Returns the messages that have more than one field of a oneof. */
export function oneofViolations(grpc: Grpc, type: string | undefined, value: unknown, path = ""): readonly Violation[] {
  if (type === undefined || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => oneofViolations(grpc, type, item, pathOf(path, index)));
  const set = (grpc.types[type]?.fields ?? []).filter(({ name }) => Object.hasOwn(value, camel(name)));
  const taken = set.filter(
    ({ oneof }, index) => oneof !== undefined && set.findIndex((one) => one.oneof === oneof) < index,
  );
  return [
    ...taken.map(
      ({ name, oneof = "" }): Violation => ({ path: pathOf(path, camel(name)), rule: "oneof", wanted: oneof }),
    ),
    ...set
      .filter((one) => !one.type.startsWith("map<"))
      .flatMap(({ name, message }) =>
        oneofViolations(grpc, message, (value as Members)[camel(name)], pathOf(path, camel(name))),
      ),
  ];
}
