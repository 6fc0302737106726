// google.api.http: the annotations of methods as bindings.
import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../gen/google/api/http_pb.ts";
import { memoizeByObject } from "../../base/lazy.ts";
import type { ServedMethod } from "../../pipeline/method.ts";
import { type FieldPath, findField, findFieldPath, formatFieldPath, isWellKnown } from "../json/field-path.ts";
import { type PathTemplate, parsePathTemplate } from "./path-template.ts";

/** One HTTP route of a method. */
export interface Binding<M extends ServedMethod = ServedMethod> extends Pattern {
  readonly method: M;
}

/** One HTTP route, by the descriptor of its method. */
interface Pattern {
  /** GET, POST and so on. */
  readonly httpMethod: string;
  readonly template: PathTemplate;
  /** The fields of the variables, in the order of the template. */
  readonly variables: readonly FieldPath[];
  /** The names of the variables in violations. */
  readonly variableNames: readonly string[];
  /** The target of the body: nothing, the whole request, or one field. */
  readonly body: "none" | "whole" | DescField;
  /** Set for PATCH if the request has a mask. */
  readonly update: UpdateFields | undefined;
}

/** The fields of an update request. */
export interface UpdateFields {
  /** The mask. If the request has none, it is set to the fields in the JSON of the resource. */
  readonly mask: DescField;
  /** The resource that the mask applies to. */
  readonly resource: DescField & { readonly message: DescMessage };
}

/**
 * Returns the bindings of a method: its rule and the additional ones; empty without a rule.
 *
 * Throws an Error naming the method if a rule is malformed or names fields that the request lacks.
 */
export function bindingsOf<M extends ServedMethod>(method: M): Binding<M>[] {
  try {
    return patternsOf(method.descriptor).map((pattern) => ({ ...pattern, method }));
  } catch (error) {
    throw new Error(`${method.path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

const patternsOf = memoizeByObject((descriptor: DescMethod): readonly Pattern[] => {
  if (!hasOption(descriptor, http)) return [];
  const rule = getOption(descriptor, http);
  return [rule, ...rule.additionalBindings].map((each) => toPattern(descriptor, each));
});

/** Formats a binding for error messages: `GET /iam/v2beta1/groups of /package.Service/ListGroups`. */
export function formatBinding(binding: Binding): string {
  return `${binding.httpMethod} ${binding.template.text} of ${binding.method.path}`;
}

function toPattern({ input }: DescMethod, rule: HttpRule): Pattern {
  const [httpMethod, path] = pathOf(rule);
  if (rule.responseBody !== "") throw new Error("response_body is not supported");
  const template = parsePathTemplate(path);
  const variables = template.variables.map((variable) => variableField(input, variable.path));
  const body = bodyOf(input, rule.body);
  const variableNames = variables.map(formatFieldPath);
  const update = httpMethod === "PATCH" ? updateFieldsOf(input, body) : undefined;
  return { httpMethod, template, variables, variableNames, body, update };
}

function pathOf({ pattern }: HttpRule): [httpMethod: string, path: string] {
  if (pattern.case === undefined) throw new Error("the HTTP rule has no pattern");
  if (pattern.case !== "custom") return [pattern.case.toUpperCase(), pattern.value];
  if (!/^[A-Z]+$/.test(pattern.value.kind))
    throw new Error(`the custom method "${pattern.value.kind}" is not supported`);
  return [pattern.value.kind, pattern.value.path];
}

function variableField(input: DescMessage, path: string): FieldPath {
  const fields = findFieldPath(input, path);
  const kind = fields?.at(-1)?.fieldKind;
  if (!fields || (kind !== "scalar" && kind !== "enum"))
    throw new Error(`${input.typeName} has no singular scalar ${path}`);
  return fields;
}

function bodyOf(input: DescMessage, name: string): Binding["body"] {
  if (name === "") return "none";
  if (name === "*") return "whole";
  const field = findField(input, name);
  const holdsFields = field?.fieldKind === "message" && !isWellKnown(field.message);
  if (!field || !(holdsFields || field.fieldKind === "list")) {
    throw new Error(`${input.typeName} has no message or repeated field ${name} for the body`);
  }
  return field;
}

function updateFieldsOf(input: DescMessage, body: Binding["body"]): UpdateFields | undefined {
  const mask = findField(input, "update_mask");
  if (mask?.message?.typeName !== FieldMaskSchema.typeName || body === "none") return undefined;
  const candidates = body === "whole" ? input.fields : [body];
  const [resource, ...others] = candidates.filter(
    (field): field is DescField & { fieldKind: "message" } =>
      field.fieldKind === "message" && !isWellKnown(field.message),
  );
  return resource && others.length === 0 ? { mask, resource } : undefined;
}
