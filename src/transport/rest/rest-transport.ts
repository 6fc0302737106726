// The REST transport: an HTTP request becomes a call of a method, and what it answers becomes JSON.
import type { DescService, Registry } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { ApiError, toApiError } from "../../aip/errors.ts";
import { isPromise, type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { Call } from "../../pipeline/call.ts";
import { errorDomain } from "../../pipeline/complete-error.ts";
import type { LaterMethods } from "../../pipeline/lazy-methods.ts";
import type { Method } from "../../pipeline/method.ts";
import { httpCall } from "../http/call.ts";
import { type HttpRequest, type HttpResponse, requestTarget } from "../http/message.ts";
import { type BodyLimits, checkFormType, checkJsonType, decodeUtf8, readBody } from "../http/request-body.ts";
import { RequestLifetime } from "../http/request-lifetime.ts";
import { callHeaders, type Reply, sendReply } from "../http/response.ts";
import { bindRequest, type RequestParts } from "./bind-request.ts";
import { type Binding, bindingsOf } from "./http-rule.ts";
import { type JsonConverters, newJsonConverters } from "./json/encoder.ts";
import { bodyField, parseJsonText } from "./json/parse-json.ts";
import { parseParameters } from "./query-parameters.ts";
import { finalNewline, newErrorReplies, successReply } from "./rest-response.ts";
import { type LaterBindings, newRoutes, type RouteMatch } from "./routes.ts";

/** The limits of the transport and what it cannot know by itself. */
export interface GatewayOptions extends BodyLimits {
  /** How many arrays and objects may lie in one another. */
  readonly maxJsonDepth: number;
  /** How long a method may take, the time for its body not counted. */
  readonly requestTimeoutMs: number;
  /** The domain of the installation, for the ErrorInfo of errors that the transport makes itself. */
  readonly domain: string;
  /** The messages that an Any in a request or a reply may hold. */
  readonly anyTypes: Registry;
  /** Methods beside those that are given. None when absent. */
  readonly later?: readonly LaterMethods[];
  /** Paths of a protocol of others; none when absent. */
  readonly foreign?: ForeignPaths;
  requestIdOf(request: HttpRequest): string;
  /** Told of requests that came to no method, which would have told of them itself. */
  readonly refused?: (call: Call, httpMethod: string, path: string, failure: ApiError) => void;
  /** Told of failures that the contract of `Method` rules out; the caller sees INTERNAL. */
  readonly report?: (error: unknown, requestId: string) => void;
}

/** Paths whose clients send a name and a password, and JSON under any content type or none. */
export interface ForeignPaths {
  /** How the paths begin. */
  readonly prefix: string;
  /** Reads their Authorization header as one with a bearer token. */
  readonly withBearer: (header?: string) => string | undefined;
}

/** Serves REST. */
export interface Gateway {
  /** Whether the path, raw and without query, leads to a method under this HTTP method. */
  matches(httpMethod: string, rawPath: string): boolean;
  /** Answers a request, one for an unknown path included. Never throws, and always ends the response. */
  handle(req: HttpRequest, res: HttpResponse): void;
}

interface Serving extends GatewayOptions {
  readonly report: (error: unknown, requestId: string) => void;
  readonly routes: ReturnType<typeof newRoutes>;
  readonly registry: Registry;
  readonly writer: JsonConverters["writer"];
  readonly errorReply: (error: ApiError, service: DescService | undefined) => Reply;
}

/** Makes the transport; throws an Error if a rule is malformed or two routes cannot be told apart. */
export function newGateway(methods: Iterable<Method>, options: GatewayOptions): Gateway {
  const registry = options.anyTypes;
  const { writer } = newJsonConverters({ registry, zeroValues: true, end: finalNewline });
  const serving: Serving = {
    ...options,
    requestIdOf: (request) => options.requestIdOf(request),
    report: (error, requestId) => report(options, error, requestId),
    routes: newRoutes([...methods].flatMap(bindingsOf), (options.later ?? []).map(toLaterBindings)),
    registry,
    writer,
    errorReply: newErrorReplies((service) => errorDomain(service, options.domain), registry),
  };
  return {
    matches: (httpMethod, rawPath) => serving.routes.has(httpMethod, rawPath),
    handle: (req, res) => void handle(serving, req, res),
  };
}

function toLaterBindings({ routes, methods }: LaterMethods): LaterBindings {
  return { prefixes: routes, bindings: () => [...methods().values()].flatMap(bindingsOf) };
}

/** A log that fails must not fail the request. */
function report(options: GatewayOptions, error: unknown, requestId: string): void {
  try {
    options.report?.(error, requestId);
  } catch {}
}

/** Never rejects. */
async function handle(serving: Serving, req: HttpRequest, res: HttpResponse): Promise<void> {
  try {
    const lifetime = new RequestLifetime(res);
    const call = httpCall(req, serving.requestIdOf(req), lifetime, foreignOf(serving, req)?.withBearer);
    let service: DescService | undefined;
    let reply: Reply;
    let path = "";
    try {
      const target = requestTarget(req);
      const { query } = target;
      path = target.path;
      const match = serving.routes.find(req.method ?? "", path);
      service = match.binding.method.descriptor.parent;
      const soon = answer(serving, req, match, query, call, lifetime);
      reply = isPromise(soon) ? await soon : soon;
    } catch (error) {
      const reported = toReported(serving, error, call);
      // What the pipeline has taken on it logs itself.
      if (call.method === undefined) serving.refused?.(call, req.method ?? "", path, reported);
      reply = serving.errorReply(reported, service);
    }
    if (!lifetime.isDisconnected) send(serving, req, res, reply, call);
  } catch (error) {
    serving.report(error, "");
    res.destroy();
  }
}

function answer(
  serving: Serving,
  req: HttpRequest,
  match: RouteMatch,
  query: string,
  call: Call,
  lifetime: RequestLifetime,
): MaybePromise<Reply> {
  const { method } = match.binding;
  const { output } = method.descriptor;
  const result = method.call(call, () => {
    const parts = receive(serving, req, match.binding, query);
    return mapMaybe(parts, (received) => {
      // The deadline starts here because the body has a time limit of its own.
      lifetime.setDeadline(serving.requestTimeoutMs);
      return bindRequest(match, received);
    });
  });
  const message = isPromise(result) ? lifetime.wait(result) : result;
  return mapMaybe(message, (found) =>
    successReply(output.typeName === EmptySchema.typeName ? "" : serving.writer(output)(found)),
  );
}

function foreignOf({ foreign }: Serving, req: HttpRequest): ForeignPaths | undefined {
  return foreign && req.url?.startsWith(foreign.prefix) ? foreign : undefined;
}

function receive(serving: Serving, req: HttpRequest, binding: Binding, query: string): MaybePromise<RequestParts> {
  const parts = { parameters: parseParameters(query, "query"), body: undefined, registry: serving.registry };
  // RFC 9110 §9.3.1: the body of a GET has no meaning, and without a rule for it no other one has.
  const isRead = binding.body !== "none" || binding.httpMethod === "POST";
  return isRead ? receiveBody(serving, req, binding, parts) : parts;
}

async function receiveBody(
  serving: Serving,
  req: HttpRequest,
  binding: Binding,
  parts: RequestParts,
): Promise<RequestParts> {
  const bytes = await readBody(req, serving);
  if (bytes.length === 0) return parts;
  if (binding.body !== "none") {
    if (!foreignOf(serving, req)) checkJsonType(req);
    return { ...parts, body: parseJsonText(bytes, serving.maxJsonDepth) };
  }
  checkFormType(req);
  const form = parseParameters(decodeUtf8(bytes, bodyField), bodyField);
  return { ...parts, parameters: [...parts.parameters, ...form] };
}

function toReported(serving: Serving, thrown: unknown, call: Call): ApiError {
  if (!(thrown instanceof ApiError)) serving.report(thrown, call.requestId);
  return toApiError(thrown);
}

function send(serving: Serving, req: HttpRequest, res: HttpResponse, reply: Reply, call: Call): void {
  try {
    sendReply(req, res, reply, callHeaders(call));
  } catch (error) {
    // A reply header that cannot be sent.
    const reply = serving.errorReply(toReported(serving, error, call), undefined);
    sendReply(req, res, reply, [["x-request-id", call.requestId]]);
  }
}
