// REST as a generated client would speak it: the route of a method is found in its descriptor.
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { create, type DescMethodUnary, fromJson, getOption, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/google/api/http_pb.ts";
import { detailFromJson, failure, type Outcome, success } from "./outcome.ts";

/** An HTTP request of a call. */
export interface RestRequest {
  readonly method: string;
  /** The path with its query, exactly as it is sent. */
  readonly target: string;
  /** The JSON body; absent when the route has none. */
  readonly body?: JsonValue;
}

/** The encoding of a variable in a path: its slashes unchanged, or escaped as generated clients do. */
export type PathStyle = "slashes" | "escaped";

/** Returns the request that calls a method; a variable that the message lacks is empty. */
function restRequest(descriptor: DescMethodUnary, message: JsonObject, style: PathStyle): RestRequest {
  const rule = ruleFor(getOption(descriptor, http), message);
  const { case: method, value: template } = rule.pattern;
  if (method === undefined || method === "custom") throw new Error(`${descriptor.toString()} has no route`);
  const rest = structuredClone(message);
  const path = template.replace(/\/\{([\w.]+)(?:=\*\*?)?\}/g, (_whole, field: string) => {
    const value = take(rest, field.split("."));
    return value === "" ? "" : `/${escapePath(value, style)}`;
  });
  if (rule.body === "*") return { method: method.toUpperCase(), target: path, body: rest };
  const bodyName = rule.body === "" ? undefined : jsonName(rule.body);
  const body = bodyName === undefined ? undefined : (rest[bodyName] ?? {});
  if (bodyName !== undefined) delete rest[bodyName];
  const query = new URLSearchParams(parameters(rest, "")).toString();
  const target = query === "" ? path : `${path}?${query}`;
  return { method: method.toUpperCase(), target, ...(body === undefined ? {} : { body }) };
}

/** Returns a further path of the method, if the message has what it names; else the first one. */
function ruleFor(rule: HttpRule, message: JsonObject): HttpRule {
  const fits = ({ pattern: { value } }: HttpRule) => {
    const names = [...String(value).matchAll(/\{(\w+)/g)].map(([, name = ""]) => name);
    return names.length > 0 && names.every((name) => (message[jsonName(name)] ?? "") !== "");
  };
  return rule.additionalBindings.find(fits) ?? rule;
}

/** Is told of every request with the status and the text of its reply. */
export type Witness = (sent: RestRequest, status: number, received: string) => void;

/** Calls methods over REST; dispose of it to close its connections. */
export function restCaller(url: string, style: PathStyle, witness?: Witness) {
  const agent = new Agent({ keepAlive: true });
  return {
    async call(
      token: string | undefined,
      descriptor: DescMethodUnary,
      message: JsonObject,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Outcome> {
      const request = restRequest(descriptor, message, style);
      const reply = await send(url, agent, token, request, headers);
      const received = await text(reply);
      witness?.(request, reply.statusCode ?? 0, received);
      return reply.statusCode === 200 ? answered(descriptor, received) : refused(received);
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

// Not fetch: it would resolve `..` in a path before the server sees it.
function send(
  url: string,
  agent: Agent,
  token: string | undefined,
  sent: RestRequest,
  further: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  const { hostname, port } = new URL(url);
  const body = sent.body === undefined ? undefined : JSON.stringify(sent.body);
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...further,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: sent.target, method: sent.method, headers, agent }, resolve);
    request.on("error", reject);
    request.end(body);
  });
}

function answered({ output }: DescMethodUnary, received: string): Outcome {
  if (output.typeName !== EmptySchema.typeName) return success(output, fromJson(output, JSON.parse(received)));
  if (received !== "") throw new Error(`an empty reply has the body ${received}`);
  return success(output, create(output));
}

function refused(received: string): Outcome {
  const { code, message, details } = JSON.parse(received);
  return failure(code, message, details.map(detailFromJson));
}

/** Takes the text at a path out of the message. */
function take(message: JsonObject, [name, ...rest]: readonly string[]): string {
  const key = jsonName(name ?? "");
  const value = message[key];
  if (rest.length > 0) return value === undefined ? "" : take(value as JsonObject, rest);
  delete message[key];
  return value === undefined ? "" : String(value);
}

function escapePath(value: string, style: PathStyle): string {
  return style === "escaped" ? encodeURIComponent(value) : value.split("/").map(encodeURIComponent).join("/");
}

/** Every leaf as a parameter, named by its path. */
function parameters(message: JsonObject, prefix: string): [string, string][] {
  return Object.entries(message).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return value.map((item) => [prefix + name, String(item)]);
    if (typeof value === "object" && value !== null) return parameters(value, `${prefix}${name}.`);
    return [[prefix + name, String(value)]];
  });
}

function jsonName(protoName: string): string {
  return protoName.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
