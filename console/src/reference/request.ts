// A request as it is typed into the form, and the calls that send it.
import { camel, type Method, type Operation, type Parameter } from "./documents.ts";

/** The typed values: texts by the names of parameters, and the body. */
export interface Draft {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A method with the values of the form. */
interface Request {
  readonly service: string;
  readonly method: Method;
  readonly operation: Operation | undefined;
  readonly draft: Draft;
}

/** A call by HTTP. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

/** Returns the target of a call: path and query. */
export function targetOf({ path, query }: HttpCall): string {
  const text = new URLSearchParams(query.map(([name, value]) => [name, value])).toString();
  return path + (text === "" ? "" : `?${text}`);
}

/** Returns what the form of an operation shows first: the body of the example. */
export function firstDraft(operation: Operation | undefined): Draft {
  const example = operation?.requestBody?.content["application/json"]?.example;
  return { parameters: {}, body: example === undefined ? "" : JSON.stringify(example, null, 2) };
}

/**
 * Returns the call of a draft; methods without a route are called by Connect. Path variables without a value stay in braces. Throws a
 * SyntaxError for a body that is not JSON.
 */
export function httpCall(protocol: "rest" | "connect", request: Request): HttpCall {
  const { service, method, operation } = request;
  if (protocol === "rest" && operation && method.routes.length > 0) return restCall(request, operation);
  const body = JSON.stringify(messageOf(request), null, 2);
  return { method: "POST", path: `/${service}/${method.name}`, query: [], body };
}

function restCall({ method: { routes }, draft }: Request, { parameters = [], requestBody }: Operation): HttpCall {
  const [route] = routes;
  const inPath = parameters.filter((one) => one.in === "path");
  let index = 0;
  const path = route!.path.replace(/\{[^}]*\}/g, () => {
    const { name = "" } = inPath[index++] ?? {};
    const value = draft.parameters[name] ?? "";
    return value === "" ? `{${name}}` : value.split("/").map(encodeURIComponent).join("/");
  });
  const query = parameters
    .filter((one) => one.in === "query")
    .flatMap((one) => textsOf(one, draft).map((text): [string, string] => [one.name, text]));
  const hasBody = requestBody !== undefined && draft.body.trim() !== "";
  if (hasBody) parseBody(draft.body);
  return { method: route!.method, path, query, ...(hasBody && { body: draft.body }) };
}

/** A message in JSON. */
export type Json = Record<string, unknown>;

/** Returns the message that the route would fill from path, query and body, in JSON. Throws a SyntaxError for a body that is not JSON. */
export function messageOf({ method, operation, draft }: Request): Json {
  const [route] = method.routes;
  const body = draft.body.trim() === "" ? undefined : (parseBody(draft.body) as Json);
  const filled: Json = {};
  if (body !== undefined && route && route.body !== "" && route.body !== "*") filled[camel(route.body)] = body;
  else Object.assign(filled, body);
  for (const parameter of operation?.parameters ?? []) {
    const texts = textsOf(parameter, draft);
    if (texts.length === 0) continue;
    const values = texts.map((text) => typed(parameter.schema.items?.type ?? parameter.schema.type, text));
    put(filled, parameter.name.split("."), parameter.schema.type === "array" ? values : values[0]);
  }
  return filled;
}

/** Reads the body. Integers that a number cannot hold become texts, which JSON of Protobuf accepts as well. */
export function parseBody(text: string): unknown {
  return JSON.parse(text, function (this: unknown, _name, value, context?: { readonly source?: string }) {
    const isExact = typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value);
    return isExact ? value : (context?.source ?? value);
  } as (name: string, value: unknown) => unknown);
}

function put(into: Json, [first = "", ...others]: readonly string[], value: unknown): void {
  if (others.length === 0) into[first] = value;
  else {
    into[first] ??= {};
    put(into[first] as Json, others, value);
  }
}

/** Returns the values of a parameter. Those of a list are separated by commas or lines. */
export function textsOf({ name, schema }: Parameter, { parameters }: Draft): string[] {
  const text = parameters[name] ?? "";
  if (text === "") return [];
  return schema.type === "array"
    ? text
        .split(/[\n,]/)
        .map((one) => one.trim())
        .filter(Boolean)
    : [text];
}

function typed(type: string | undefined, text: string): unknown {
  if (type === "boolean") return text === "true";
  return type === "integer" || type === "number" ? Number(text) : text;
}
