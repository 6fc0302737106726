import {
  create,
  type DescField,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../aip/errors.ts";
import { newViolations, type Violations } from "../../aip/violations.ts";
import { isJsonObject } from "../../base/json.ts";
import { scalarFromText } from "../json/decode-scalars.ts";
import { type JsonReading, readJsonField, readJsonObject } from "../json/decoder.ts";
import { writeAt } from "../json/field-path.ts";
import { bodyField } from "../json/parse-json.ts";
import { guard } from "../json/value-error.ts";
import type { Binding } from "./http-rule.ts";
import { impliedMask } from "./implied-mask.ts";
import { bindParameters, type Parameter, setsField, valueFromText } from "./query-parameters.ts";
import type { RouteMatch } from "./routes.ts";

/** The parts of a request besides its path. */
export interface RequestParts {
  readonly parameters: readonly Parameter[];
  /** The JSON body; undefined if it is empty or the HTTP rule has none. */
  readonly body: JsonValue | undefined;
  /** The messages that an Any in the body may contain. */
  readonly registry: Registry;
}

/**
 * Builds the request message from path, query and body.
 *
 * Binds the path last, because a body must not name another resource. Throws INVALID_ARGUMENT with all violations.
 */
export function bindRequest(match: RouteMatch, parts: RequestParts): Message {
  const { binding } = match;
  const { input } = binding.method.descriptor;
  const message = create(input);
  const violations = newViolations();
  const { parameters, body, registry } = parts;
  const hasMask = hasUpdateMask(binding, parts);
  if (binding.body !== "none" || parameters.length > 0) {
    const target = reflect(input, message);
    bindBody(target, binding, body, { violations, ignoreUnknown: hasMask, registry });
    bindParameters(target, parameters, binding, violations);
  }
  bindPath(message, match, violations);
  violations.throwIfAny();
  if (!hasMask) fillMask(message, binding, body);
  return message;
}

function bindBody(
  target: ReflectMessage,
  { body: rule }: Binding,
  json: JsonValue | undefined,
  reading: JsonReading,
): void {
  if (rule === "none") return;
  if (rule === "whole") readJsonObject(target, objectOf(json), "", reading);
  else if (rule.fieldKind === "list") readJsonField(target, rule, json ?? [], rule.name, reading);
  // Violations name fields as the caller wrote them: `name`, not `group.name`.
  else readJsonField(target, rule, objectOf(json), "", reading);
}

/** An absent body is an empty message: the pipeline reports missing fields. */
function objectOf(json: JsonValue | undefined): JsonObject {
  if (json === undefined) return {};
  if (!isJsonObject(json)) throw invalidField(bodyField, "must be a JSON object");
  return json;
}

function bindPath(message: Message, match: RouteMatch, violations: Violations): void {
  const { binding, values, endsWithSlash } = match;
  // A slash and nothing behind it. Only a method that creates a resource may have no parent.
  if (endsWithSlash && binding.httpMethod !== "POST")
    violations.add(binding.variableNames.at(-1) ?? "path", "is empty: the path must not end with a slash");
  for (let i = 0; i < binding.variables.length; i++) {
    guard(violations, binding.variableNames[i]!, () => bindVariable(message, binding, i, values[i] ?? ""));
  }
}

function bindVariable(message: Message, binding: Binding, index: number, text: string): void {
  const path = binding.variables[index]!;
  const [field] = path;
  if (path.length === 1 && field && isPlainText(field)) {
    // Nearly every variable is a string field of the request. Reflection would take longer than the rest of the binding.
    (message as Message & Record<string, unknown>)[field.localName] = scalarFromText(ScalarType.STRING, text);
  } else {
    const target = reflect(binding.method.descriptor.input, message);
    writeAt(target, path, (owner, last) => owner.set(last, valueFromText(last, text, binding)));
  }
}

function isPlainText(field: DescField): boolean {
  return field.fieldKind === "scalar" && field.scalar === ScalarType.STRING && !field.oneof;
}

/** Whether a request has an update mask, in the query or in the body. */
function hasUpdateMask({ update, body: rule }: Binding, { parameters, body }: RequestParts): boolean {
  if (!update) return false;
  if (rule !== "whole") return setsField(parameters, update.mask);
  const mask = memberOf(body, update.mask);
  return typeof mask === "string" && mask.trim() !== "";
}

/** AIP-134: without a mask, the fields in the body change. Fields bound to the path name the resource and never change. */
function fillMask(
  message: Message,
  { method, update, body: rule, variableNames }: Binding,
  body: JsonValue | undefined,
): void {
  if (!update) return;
  const { mask, resource } = update;
  const json = rule === "whole" ? memberOf(body, resource) : body;
  const bound = new Set(variableNames);
  const paths = isJsonObject(json)
    ? impliedMask(resource.message, json).filter((path) => !bound.has(`${resource.name}.${path}`))
    : [];
  reflect(method.descriptor.input, message).set(mask, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths })));
}

/** Returns the member of a JSON object for a field, under either of its names. */
function memberOf(json: JsonValue | undefined, { jsonName, name }: DescField): JsonValue | undefined {
  return isJsonObject(json) ? (json[jsonName] ?? json[name]) : undefined;
}
