// Data that an OpenAPI document has no place for: services, messages and enums by their gRPC names, and how routes fill a request.
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  ScalarType,
} from "@bufbuild/protobuf";
import { isInputOnly, isOutputOnly, isRequired } from "../aip/field-behavior.ts";
import { accessRuleOf } from "../authz/rules.ts";
import { capabilityNames, capabilitySet } from "../model/capabilities.ts";
import type { ServedMethod } from "../pipeline/method.ts";
import { formatFieldPath } from "../transport/json/field-path.ts";
import { type Binding, bindingsOf } from "../transport/rest/http-rule.ts";
import type { Describe } from "./document.ts";

/** A document of OpenAPI: its name and its methods. */
export interface NamedMethods {
  readonly name: string;
  readonly methods: readonly ServedMethod[];
}

/** Describes the services of all documents, with the messages and enums that they use, by full name. */
export function grpcDocument(documents: readonly NamedMethods[], describe: Describe) {
  const types = new Map<string, DescMessage | DescEnum>();
  const services = new Map<string, ReturnType<typeof serviceOf>>();
  for (const { name, methods } of documents)
    for (const method of methods) {
      const { parent } = method.descriptor;
      const service = services.get(parent.typeName) ?? serviceOf(name, parent, describe);
      services.set(parent.typeName, service);
      service.methods.push(methodOf(method, describe));
      collect(method.descriptor.input, types);
      collect(method.descriptor.output, types);
    }
  const byName = [...types].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    services: Object.fromEntries(services),
    types: Object.fromEntries(
      byName.map(([name, type]) => [name, type.kind === "enum" ? enumOf(type, describe) : messageOf(type, describe)]),
    ),
  };
}

function serviceOf(document: string, service: DescService, describe: Describe) {
  return {
    document,
    file: service.file.proto.name,
    description: describe(service),
    methods: [] as ReturnType<typeof methodOf>[],
  };
}

function methodOf(method: ServedMethod, describe: Describe) {
  const { descriptor } = method;
  return {
    name: descriptor.name,
    description: describe(descriptor),
    input: descriptor.input.typeName,
    output: descriptor.output.typeName,
    ...(descriptor.methodKind === "server_streaming" && { isStream: true }),
    access: accessOf(descriptor),
    routes: bindingsOf(method).map(routeOf),
  };
}

/** Returns the callers that may call a method. `scope` is the field with the uid at which the capabilities are checked. */
function accessOf(method: DescMethod) {
  const rule = accessRuleOf(method);
  if (!rule) return { type: "credential" };
  if (rule.type === "open") return { type: "open" };
  const capabilities = capabilityNames(capabilitySet(rule.capabilities));
  return { type: "token", capabilities, ...(rule.type === "scoped" && { scope: rule.field }) };
}

/** Returns a route, with the fields of the request that its path and body fill. */
function routeOf({ httpMethod, template, variables, body }: Binding) {
  return {
    method: httpMethod,
    path: template.text,
    variables: variables.map(formatFieldPath),
    body: body === "whole" ? "*" : body === "none" ? "" : body.name,
  };
}

function collect(type: DescMessage | DescEnum, types: Map<string, DescMessage | DescEnum>): void {
  if (types.has(type.typeName)) return;
  types.set(type.typeName, type);
  if (type.kind === "enum") return;
  for (const { message, enum: values } of type.fields) {
    if (message) collect(message, types);
    if (values) collect(values, types);
  }
}

function messageOf(message: DescMessage, describe: Describe) {
  const fields = message.fields.map((field) => ({
    name: field.name,
    number: field.number,
    type: typeOf(field),
    ...(field.message && { message: field.message.typeName }),
    ...(field.enum && { enum: field.enum.typeName }),
    ...(field.fieldKind === "list" && { isRepeated: true }),
    ...(field.oneof && { oneof: field.oneof.name }),
    ...(field.proto.proto3Optional && { isOptional: true }),
    ...(isRequired(field) && { isRequired: true }),
    ...(isOutputOnly(field) && { isOutputOnly: true }),
    ...(isInputOnly(field) && { isInputOnly: true }),
    description: describe(field),
  }));
  return { file: message.file.proto.name, description: describe(message), fields };
}

function enumOf(type: DescEnum, describe: Describe) {
  const values = type.values.map((value) => ({
    name: value.name,
    number: value.number,
    description: describe(value),
  }));
  return { file: type.file.proto.name, description: describe(type), values };
}

/** Returns the type of a field as a proto file writes it. */
function typeOf(field: DescField): string {
  const value = field.message?.typeName ?? field.enum?.typeName ?? scalarName(field.scalar);
  return field.fieldKind === "map" ? `map<${scalarName(field.mapKey)}, ${value}>` : value;
}

function scalarName(type: ScalarType | undefined): string {
  return type === undefined ? "" : ScalarType[type]!.toLowerCase();
}
