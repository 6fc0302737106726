// Checks what is typed into the form of a method.
import { camel, type Method, type Operation } from "../documents.ts";
import { type Draft, parseBody, textsOf } from "../request.ts";
import { check, type Violation } from "./check.ts";
import { type Descriptions, type FormField, oneofViolations } from "./fields.ts";

/** The rules that a draft breaks: those of parameters have their names as paths. */
export interface DraftViolations {
  readonly parameters: readonly Violation[];
  readonly body: readonly Violation[];
}

/** Returns the rules that a draft breaks. A body that is not JSON breaks none: the call cannot be made of it. */
export function checkDraft(
  descriptions: Descriptions,
  operation: Operation | undefined,
  body: FormField | undefined,
  draft: Draft,
): DraftViolations {
  const parameters = (operation?.parameters ?? []).flatMap((parameter) => {
    const { name, schema, required = false } = parameter;
    const texts = textsOf(parameter, draft);
    if (texts.length === 0) return required ? [{ path: name, rule: "required", wanted: "" } as const] : [];
    const found = check(
      descriptions.document,
      schema,
      schema.type === "array" ? texts : scalarOf(schema.type, texts[0]!),
    );
    return found.slice(0, 1).map((one) => ({ ...one, path: name }));
  });
  return { parameters, body: body ? checkBody(descriptions, body, draft.body, operation!) : [] };
}

function scalarOf(type: string | undefined, text: string): unknown {
  return type === "boolean" ? text === "true" : text;
}

function checkBody(
  { grpc, document }: Descriptions,
  { schema, type }: FormField,
  text: string,
  { requestBody }: Operation,
): readonly Violation[] {
  if (text.trim() === "" && !requestBody?.required) return [];
  const value = parsedBody(text);
  if (value instanceof Error) return [];
  return [...check(document, schema, value ?? {}), ...oneofViolations(grpc, type, value)];
}

/** Returns the value of a body: undefined for an empty one, an Error for one that is not JSON. */
export function parsedBody(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseBody(text);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Returns the names of the fields in the body that the path fills. */
export function givenNames({ routes }: Method): readonly string[] {
  const [route] = routes;
  if (!route) return [];
  const prefix = route.body === "*" ? "" : `${route.body}.`;
  return route.variables.filter((name) => name.startsWith(prefix)).map((name) => camel(name.slice(prefix.length)));
}
