// One operation of a document: the request and the responses of a route.
import type { DescField, DescMessage, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { isOutputOnly, isRequired } from "../aip/field-behavior.ts";
import { accessRuleOf } from "../authz/rules.ts";
import { capabilityNames, capabilitySet } from "../model/capabilities.ts";
import type { FieldPath } from "../transport/json/field-path.ts";
import type { Binding } from "../transport/rest/http-rule.ts";
import { parameterPaths } from "../transport/rest/query-parameters.ts";
import type { Components } from "./components.ts";
import { errorResponses } from "./error-responses.ts";
import { type Example, findExample } from "./examples.ts";
import { fieldSchema, isNeededInside, type JsonUse, messageSchema } from "./json-schema.ts";
import type { Place } from "./paths.ts";

/** The name of the security scheme in a document. */
export const bearerScheme = "bearer";

/** The context of an operation. */
export interface OperationContext {
  readonly components: Components;
  describe(method: DescMethod): string;
}

/** Makes the operation of a route. */
export function operation(place: Place, operationId: string, context: OperationContext): JsonObject {
  const { binding } = place;
  const { descriptor } = binding.method;
  const example = findExample(binding.httpMethod, place.path) ?? {};
  const parameters = parametersOf(place, context, example);
  const body = bodyOf(binding, context, example);
  const text = context.describe(descriptor);
  return {
    operationId,
    tags: [descriptor.parent.typeName],
    summary: text.split(/\.(?:\s|$)/)[0]!,
    description: `${text}\n\n${accessText(descriptor)}`.trim(),
    ...(descriptor.deprecated && { deprecated: true }),
    ...(needsToken(descriptor) ? {} : { security: [{}, { [bearerScheme]: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      "200":
        descriptor.methodKind === "server_streaming"
          ? streamOf(descriptor.output, context)
          : successOf(descriptor.output, context, example),
      ...errorResponses(binding),
    },
  };
}

function needsToken(method: DescMethod): boolean {
  const rule = accessRuleOf(method);
  return rule !== undefined && rule.type !== "open";
}

function accessText(method: DescMethod): string {
  const rule = accessRuleOf(method);
  if (!rule) return "Takes a credential of its own.";
  if (rule.type === "open") return "Open to everybody.";
  const names = capabilityNames(capabilitySet(rule.capabilities)).map((name) => `\`${name}\``);
  return `Needs ${names.length === 0 ? "a token" : names.join(" and ")}.`;
}

function parametersOf({ binding, names }: Place, context: OperationContext, example: Example): JsonValue[] {
  const inPath = names.map((name, i) => ({
    name,
    in: "path",
    required: true,
    ...parameter(binding.variables[i]!.at(-1)!, context, example.parameters?.[name]),
  }));
  const inQuery = parameterPaths(binding).map((path) => {
    const name = path.map(({ jsonName }) => jsonName).join(".");
    return {
      name,
      in: "query",
      ...(isRequiredPath(path) && { required: true }),
      ...parameter(path.at(-1)!, context, example.parameters?.[name]),
    };
  });
  return [...inPath, ...inQuery];
}

function parameter(field: DescField, { components }: OperationContext, example: JsonValue | undefined): JsonObject {
  const description = components.describe(field);
  return {
    ...(description !== "" && { description }),
    ...(field.deprecated && { deprecated: true }),
    schema: fieldSchema(field, "request", components),
    ...(example !== undefined && { example }),
  };
}

function isRequiredPath(path: FieldPath): boolean {
  return path.every(isRequired) && isNeededInside(path.at(-1)!);
}

function bodyOf(
  { body, method, update, variables }: Binding,
  { components }: OperationContext,
  { body: example }: Example,
): JsonObject | undefined {
  if (body === "none") return undefined;
  const use: JsonUse = update ? "update" : "request";
  if (body !== "whole")
    return jsonBody(fieldSchema(body, use, components), use === "request" && isNeeded(body), example);
  // AIP-127: the body need not repeat the fields of the path.
  const given = new Set(variables.filter((path) => path.length === 1).map(([first]) => first!));
  const schema = messageSchema(method.descriptor.input, use, components, given);
  return jsonBody(schema, schema.required !== undefined, example);
}

/** Whether a request without the message is rejected because of its required fields. */
function isNeeded({ message }: DescField): boolean {
  return message?.fields.some((field) => isNeededInside(field) && !isOutputOnly(field)) ?? false;
}

function jsonBody(schema: JsonObject, required: boolean, example: JsonValue | undefined): JsonObject {
  return { ...(required && { required }), content: { "application/json": withExample(schema, example) } };
}

function withExample(schema: JsonObject, example: JsonValue | undefined): JsonObject {
  return { schema, ...(example !== undefined && { example }) };
}

function successOf(output: DescMessage, { components }: OperationContext, { reply }: Example): JsonObject {
  if (output.typeName === EmptySchema.typeName) return { description: "Done; the reply is empty." };
  const schema = components.refer(output, "reply");
  return { description: "Done.", content: { "application/json": withExample(schema, reply) } };
}

/** OpenAPI 3.1 has no place for the events of a stream, so the schema is that of their data. */
function streamOf(output: DescMessage, { components }: OperationContext): JsonObject {
  const description =
    "A stream of server-sent events without an end. The data of each is a message of this schema in JSON, and its id is what continues behind it. An event of the type `error` has an error as its data, and is the last.";
  return { description, content: { "text/event-stream": { schema: components.refer(output, "reply") } } };
}
