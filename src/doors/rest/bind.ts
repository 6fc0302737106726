import { create, type JsonObject, type JsonValue, type Message, type Registry } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../aip/errors.ts";
import { formatFieldPath, writeAt } from "./fields.ts";
import type { Binding } from "./http-rule.ts";
import { impliedMask } from "./implied-mask.ts";
import { isJsonObject, type JsonReading, readJsonField, readJsonObject } from "./json-reader.ts";
import { bodyField } from "./json-text.ts";
import { bindParameters, givesField, type Parameter, valueFromText } from "./query.ts";
import type { RouteMatch } from "./routes.ts";
import { gatherViolations, type Violations } from "./violations.ts";

/** What a request brings besides its path. */
export interface RequestParts {
  readonly parameters: readonly Parameter[];
  /** The JSON body; undefined when it is empty or the rule reads none. */
  readonly body: JsonValue | undefined;
  /** The messages that an Any in the body may hold. */
  readonly registry: Registry;
}

/**
 * Builds the request message from path, query and body.
 *
 * The path is written last, so that a body cannot aim at another resource. Throws INVALID_ARGUMENT with all violations.
 */
export function bindRequest({ binding, values }: RouteMatch, parts: RequestParts): Message {
  const target = reflect(binding.method.descriptor.input);
  const violations = gatherViolations();
  const hasMask = binding.updateMask !== undefined && givesField(parts.parameters, binding.updateMask);
  bindBody(target, binding, parts.body, { violations, ignoreUnknown: hasMask, registry: parts.registry });
  bindParameters(target, parts.parameters, binding, violations);
  bindPath(target, binding, values, violations);
  violations.check();
  if (!hasMask) fillMask(target, binding, parts.body);
  return target.message;
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
  // What is wrong inside the body is named as the caller wrote it: `name`, whatever the request calls the whole of it.
  else readJsonField(target, rule, objectOf(json), "", reading);
}

/** An absent body is an empty message: what it lacks is then the pipeline's to say. */
function objectOf(json: JsonValue | undefined): JsonObject {
  if (json === undefined) return {};
  if (!isJsonObject(json)) throw invalidField(bodyField, "must be a JSON object");
  return json;
}

function bindPath(target: ReflectMessage, binding: Binding, values: readonly string[], violations: Violations): void {
  for (const [i, path] of binding.variables.entries()) {
    violations.guard(formatFieldPath(path), () => {
      writeAt(target, path, (owner, field) => owner.set(field, valueFromText(field, values[i] ?? "", binding)));
    });
  }
}

/** AIP-134: without a mask, what the body mentions changes. The fields of the path name the resource and never change. */
function fillMask(
  target: ReflectMessage,
  { updateMask, body: rule, variables }: Binding,
  json: JsonValue | undefined,
): void {
  if (!updateMask || typeof rule === "string" || !rule.message) return;
  const bound = new Set(variables.map(formatFieldPath));
  const paths = isJsonObject(json)
    ? impliedMask(rule.message, json).filter((path) => !bound.has(`${rule.name}.${path}`))
    : [];
  target.set(updateMask, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths })));
}
