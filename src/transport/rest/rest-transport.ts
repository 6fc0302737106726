// The REST transport: turns HTTP requests into calls of methods, and their results into JSON or server-sent events.
import type { DescService, Message, Registry } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { ApiError, toApiError } from "../../aip/errors.ts";
import { isPromise, type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import type { Call } from "../../pipeline/call.ts";
import { errorDomain } from "../../pipeline/complete-error.ts";
import type { LazyMethods } from "../../pipeline/lazy-methods.ts";
import type { Method, ServedMethod, StreamMethod } from "../../pipeline/method.ts";
import { callOf } from "../http/call.ts";
import { encodeFor, isCompressible } from "../http/content-coding.ts";
import type { MessageExchange } from "../http/exchange.ts";
import type { RequestHead } from "../http/head.ts";
import { type BodyLimits, checkBodyCoding, checkFormType, checkJsonType, decodeUtf8 } from "../http/request-body.ts";
import { RequestLifetime } from "../http/request-lifetime.ts";
import type { OutgoingResponse } from "../http/response.ts";
import { type JsonConverters, newJsonConverters } from "../json/encoder.ts";
import { bodyField, parseJsonText } from "../json/parse-json.ts";
import { bindRequest, type RequestParts } from "./bind-request.ts";
import { continueFrom, sendEvents } from "./event-stream.ts";
import { type Binding, bindingsOf } from "./http-rule.ts";
import { parseParameters } from "./query-parameters.ts";
import { finalNewline, newErrorResponses, successResponse } from "./rest-response.ts";
import { type LazyBindings, newRoutes, type RouteMatch } from "./routes.ts";

/** The limits and dependencies of the REST transport. */
export interface RestOptions extends BodyLimits {
  /** The deepest nesting of arrays and objects. */
  readonly maxJsonDepth: number;
  /** How long a method may take, without the time of its body. */
  readonly requestTimeoutMs: number;
  /** How long a client may take nothing of a stream of events. */
  readonly streamStallMs: number;
  /** The domain of the installation, for the ErrorInfo of errors of the transport. */
  readonly domain: string;
  /** The messages that an Any in a request or response may contain. */
  readonly anyTypes: Registry;
  /** Methods that are made on first use. None when absent. */
  readonly lazy?: readonly LazyMethods[];
  /** Paths of a foreign protocol; none when absent. */
  readonly foreign?: ForeignPaths;
  /** Names a request; `head.requestId` when absent. */
  readonly requestIdOf?: (head: RequestHead) => string;
  /** Called for requests that reach no method: those that do are observed by the pipeline. */
  readonly refused?: (call: Call, httpMethod: string, path: string, failure: ApiError) => void;
  /** Called for errors that violate the contract of `Method`. The caller gets INTERNAL. */
  readonly report?: (error: unknown, requestId: string) => void;
}

/** Paths whose clients send a name and a password, and JSON with any content type or none. */
export interface ForeignPaths {
  /** The prefix of the paths. */
  readonly prefix: string;
  /** Converts their Authorization header to one with a bearer token. */
  readonly withBearer: (header?: string) => string | undefined;
}

/** Serves REST. */
export interface RestTransport {
  /** Whether an HTTP method and a raw path without query match a method. */
  matches(httpMethod: string, rawPath: string): boolean;
  /** Responds to a request, also for an unknown path. Never throws, and always ends the response. */
  handle(exchange: MessageExchange): void;
}

interface ServingState extends RestOptions {
  readonly report: (error: unknown, requestId: string) => void;
  readonly routes: ReturnType<typeof newRoutes>;
  readonly registry: Registry;
  readonly writer: JsonConverters["writer"];
  readonly errorResponse: ReturnType<typeof newErrorResponses>;
}

/** Makes the REST transport. Throws an Error if a rule is malformed, or two routes are ambiguous. */
export function newRestTransport(methods: Iterable<Method | StreamMethod>, options: RestOptions): RestTransport {
  const registry = options.anyTypes;
  const { writer } = newJsonConverters({ registry, zeroValues: true, end: finalNewline });
  const serving: ServingState = {
    ...options,
    report: (error, requestId) => report(options, error, requestId),
    routes: newRoutes([...methods].flatMap(bindingsOf), (options.lazy ?? []).map(toLazyBindings)),
    registry,
    writer,
    errorResponse: newErrorResponses((service) => errorDomain(service, options.domain), registry),
  };
  return {
    matches: (httpMethod, rawPath) => serving.routes.has(httpMethod, rawPath),
    handle: (exchange) => void handle(serving, exchange),
  };
}

function toLazyBindings({ routes, methods }: LazyMethods): LazyBindings {
  return { prefixes: routes, bindings: () => [...methods().values()].flatMap(bindingsOf) };
}

/** A failing log must not fail the request. */
function report(options: RestOptions, error: unknown, requestId: string): void {
  try {
    options.report?.(error, requestId);
  } catch {}
}

/** Never rejects. */
async function handle(serving: ServingState, exchange: MessageExchange): Promise<void> {
  try {
    const { head } = exchange;
    const lifetime = new RequestLifetime(exchange.response);
    const call = newRestCall(serving, head, lifetime);
    let service: DescService | undefined;
    let response: OutgoingResponse;
    let work: MaybePromise<Message> | undefined;
    try {
      const match = serving.routes.find(head.method, head.path);
      service = match.binding.method.descriptor.parent;
      if (isStreamMethod(match.binding.method))
        return await sendStreamOf(serving, exchange, match, match.binding.method, call);
      work = startCall(serving, exchange, match, call, lifetime);
      const message = isPromise(work) ? await lifetime.wait(work) : work;
      response = responseOf(serving, match, message);
      if (isCompressible(response)) response = await encodeFor(head, response);
    } catch (error) {
      const reported = toReported(serving, error, call);
      // The work continues after a disconnect. Once it reaches the method, the pipeline logs the call.
      if (lifetime.isDisconnected) await Promise.allSettled([work]);
      if (call.method === undefined) serving.refused?.(call, head.method, head.path, reported);
      response = serving.errorResponse(reported, service, call);
    }
    if (!lifetime.isDisconnected) send(serving, exchange, response, call);
  } catch (error) {
    serving.report(error, "");
    exchange.abort();
  }
}

function newRestCall(serving: ServingState, head: RequestHead, lifetime: RequestLifetime): Call {
  const foreign = foreignOf(serving, head);
  return callOf(head, "rest", {
    ...(serving.requestIdOf && { requestId: serving.requestIdOf(head) }),
    ...(foreign && {
      header: (name) => (name === "authorization" ? foreign.withBearer(head.header(name)) : head.header(name)),
    }),
    lifetime,
    signal: () => lifetime.signal,
  });
}

function startCall(
  serving: ServingState,
  exchange: MessageExchange,
  match: RouteMatch,
  call: Call,
  lifetime: RequestLifetime,
): MaybePromise<Message> {
  const method = match.binding.method as Method;
  return method.call(call, () => {
    return mapMaybe(receive(serving, exchange, match.binding), (received) => {
      // The deadline starts here because the body has a time limit of its own.
      lifetime.setDeadline(serving.requestTimeoutMs);
      return bindRequest(match, received);
    });
  });
}

function isStreamMethod(method: ServedMethod): method is StreamMethod {
  return method.descriptor.methodKind === "server_streaming";
}

async function sendStreamOf(
  serving: ServingState,
  exchange: MessageExchange,
  match: RouteMatch,
  method: StreamMethod,
  call: Call,
): Promise<void> {
  const messages = method.open(call, async () => {
    const request = bindRequest(match, await receive(serving, exchange, match.binding));
    continueFrom(request, method, call);
    return request;
  });
  await sendEvents(exchange, call, messages, {
    streamStallMs: serving.streamStallMs,
    write: serving.writer(method.descriptor.output),
    writeError: (error) => String(serving.errorResponse(error, method.descriptor.parent, call).body),
  });
}

function responseOf(serving: ServingState, { binding }: RouteMatch, message: Message): OutgoingResponse {
  const { output } = binding.method.descriptor;
  return successResponse(output.typeName === EmptySchema.typeName ? "" : serving.writer(output)(message));
}

function foreignOf({ foreign }: ServingState, head: RequestHead): ForeignPaths | undefined {
  return foreign && head.target.startsWith(foreign.prefix) ? foreign : undefined;
}

function receive(serving: ServingState, exchange: MessageExchange, binding: Binding): MaybePromise<RequestParts> {
  const parameters = parseParameters(exchange.head.query, "query");
  const parts = { parameters, body: undefined, registry: serving.registry };
  // RFC 9110 §9.3.1: the body of a GET has no meaning; nor has any other body without a rule for it.
  const isRead = binding.body !== "none" || binding.httpMethod === "POST";
  return isRead ? receiveBody(serving, exchange, binding, parts) : parts;
}

async function receiveBody(
  serving: ServingState,
  exchange: MessageExchange,
  binding: Binding,
  parts: RequestParts,
): Promise<RequestParts> {
  const { head } = exchange;
  const bytes = await exchange.readBody(serving);
  if (bytes.length === 0) return parts;
  checkBodyCoding(head);
  if (binding.body !== "none") {
    if (!foreignOf(serving, head)) checkJsonType(head);
    return { ...parts, body: parseJsonText(bytes, serving.maxJsonDepth) };
  }
  checkFormType(head);
  const form = parseParameters(decodeUtf8(bytes, bodyField), bodyField);
  return { ...parts, parameters: [...parts.parameters, ...form] };
}

function toReported(serving: ServingState, thrown: unknown, call: Call): ApiError {
  if (!(thrown instanceof ApiError)) serving.report(thrown, call.requestId);
  return toApiError(thrown);
}

function send(serving: ServingState, exchange: MessageExchange, response: OutgoingResponse, call: Call): void {
  try {
    exchange.respond(response, call);
  } catch (error) {
    // A header of the response cannot be sent.
    const failure = serving.errorResponse(toReported(serving, error, call), undefined, call);
    exchange.respond(failure, { requestId: call.requestId, responseHeaders: new Map() });
  }
}
