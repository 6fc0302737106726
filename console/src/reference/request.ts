// A request as it is typed into the form, and the calls that send it.
import { camel, type Method, type Operation, type Parameter } from "./documents.ts";

/** The typed values: texts by the names of parameters, and the body. */
export interface Draft {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a call is sent. */
export type Protocol = "rest" | "grpc" | "connect";

/** A call by HTTP. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/** Returns what the form of an operation shows first: the body of the example. */
export function firstDraft(operation: Operation | undefined): Draft {
  const example = operation?.requestBody?.content["application/json"]?.example;
  return { parameters: {}, body: example === undefined ? "" : JSON.stringify(example, null, 2) };
}

/** Returns the call of a draft. Path variables without a value stay in braces. Throws a SyntaxError for a body that is not JSON. */
export function httpCall(
  protocol: Protocol,
  service: string,
  method: Method,
  operation: Operation | undefined,
  draft: Draft,
): HttpCall {
  if (protocol === "rest" && operation) return restCall(method, operation, draft);
  return {
    method: "POST",
    path: `/${service}/${method.name}`,
    body: JSON.stringify(message(method, operation, draft), null, 2),
  };
}

function restCall({ routes: [route] }: Method, { parameters = [], requestBody }: Operation, draft: Draft): HttpCall {
  const inPath = parameters.filter((one) => one.in === "path");
  let index = 0;
  const path = route!.path.replace(/\{[^}]*\}/g, () => {
    const { name = "" } = inPath[index++] ?? {};
    const value = draft.parameters[name] ?? "";
    return value === "" ? `{${name}}` : value.split("/").map(encodeURIComponent).join("/");
  });
  const query = new URLSearchParams(
    parameters
      .filter((one) => one.in === "query")
      .flatMap((one) => textsOf(one, draft).map((text): [string, string] => [one.name, text])),
  ).toString();
  return {
    method: route!.method,
    path: path + (query === "" ? "" : `?${query}`),
    ...(requestBody && draft.body.trim() !== "" && { body: draft.body }),
  };
}

/** Returns the names of the path variables that have no value. */
export function missingVariables(operation: Operation | undefined, draft: Draft): readonly string[] {
  return (operation?.parameters ?? [])
    .filter((one) => one.in === "path" && (draft.parameters[one.name] ?? "") === "")
    .map(({ name }) => name);
}

type Json = Record<string, unknown>;

/** Returns the message that the route would fill from path, query and body. */
function message({ routes: [route] }: Method, operation: Operation | undefined, draft: Draft): Json {
  const body = draft.body.trim() === "" ? undefined : (JSON.parse(draft.body) as Json);
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

function put(into: Json, [first = "", ...others]: readonly string[], value: unknown): void {
  if (others.length === 0) into[first] = value;
  else {
    into[first] ??= {};
    put(into[first] as Json, others, value);
  }
}

/** A list has one value a line. */
function textsOf({ name, schema }: Parameter, { parameters }: Draft): string[] {
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

/** Returns the call as a command. The token is a variable, never its value. */
export function commandOf(
  protocol: Protocol,
  service: string,
  method: Method,
  operation: Operation | undefined,
  draft: Draft,
): string {
  const hasToken = method.access.type === "token";
  if (protocol === "grpc") {
    const plaintext = location.protocol === "http:" ? " -plaintext" : "";
    return [
      `grpcurl${plaintext}${hasToken ? ' -H "Authorization: Bearer $TOKEN"' : ""}`,
      `  -d ${quote(JSON.stringify(message(method, operation, draft), null, 2))}`,
      `  ${location.host} ${service}/${method.name}`,
    ].join(" \\\n");
  }
  const call = httpCall(protocol, service, method, operation, draft);
  return [
    `curl${call.method === "GET" ? "" : ` -X ${call.method}`} ${quote(location.origin + call.path)}`,
    ...(hasToken ? [`  -H "Authorization: Bearer $TOKEN"`] : []),
    ...(call.body === undefined ? [] : [`  -H "Content-Type: application/json"`, `  -d ${quote(call.body)}`]),
  ].join(" \\\n");
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
