// Endpoints outside the API: paths of other protocols, with bodies and responses of their own.

import { type ApiError, retryAfterOf } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import { finishError } from "../../pipeline/complete-error.ts";
import { callOf } from "../http/call.ts";
import { challengeOf } from "../http/challenge.ts";
import { isUnchanged, type Validators, validatorHeaders } from "../http/conditional-request.ts";
import { encodeFor, isCompressible } from "../http/content-coding.ts";
import type { ExchangeHandler, MessageExchange } from "../http/exchange.ts";
import type { RequestHead } from "../http/head.ts";
import { HttpError } from "../http/http-error.ts";
import { checkBodyCoding, checkBodyType, checkFormType, decodeUtf8 } from "../http/request-body.ts";
import { RequestLifetime } from "../http/request-lifetime.ts";
import { callHeaders, type OutgoingResponse, type ResponseHeaders } from "../http/response.ts";
import { type BodyStream, beginStream, sendStream } from "../http/send-stream.ts";
import { bodyField, parseJsonText } from "../json/parse-json.ts";
import { type Parameter, parseParameters } from "../rest/query-parameters.ts";
import { statusOf } from "../rest/rest-response.ts";
import { methodNotAllowed } from "../rest/routes.ts";
import { newPathFinder } from "./path-finder.ts";

/** A request to an endpoint. */
export interface EndpointRequest {
  readonly call: Call;
  readonly method: string;
  /** The raw path. */
  readonly path: string;
  /** The parameters of the query. */
  readonly query: readonly Parameter[];
  readonly hasBody: boolean;
  /** Returns the parameters of the body, which must be a form. Throws INVALID_ARGUMENT. */
  form(): readonly Parameter[];
  /** Returns the body, which must be JSON, with any content type. Throws INVALID_ARGUMENT. */
  json(): unknown;
}

/** A response of an endpoint. It has `cache-control: no-store` unless `headers` say otherwise. */
export interface EndpointResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ResponseHeaders;
  /** Absent if the response has no content, or a stream of it. */
  readonly body?: OutgoingResponse["body"];
  /** Opens long content. May throw an ApiError. Called only if the content is sent. */
  readonly open?: () => BodyStream;
  /** For conditional requests (RFC 9110 §8.8). */
  readonly validators?: Validators;
}

/** The endpoint of one path. */
export interface Endpoint {
  /** Returns whether it serves a path below its own; if absent, all. The others are those of the next handler. */
  readonly serves?: (path: string) => boolean;
  readonly methods: readonly string[];
  /** The most bytes of a body. */
  readonly maxBodyBytes: number;
  /** The media types that a body may have, if its request names one; any when absent. */
  readonly bodyTypes?: readonly string[];
  /** Rewrites the Authorization header, for clients that send no bearer token. */
  readonly authorization?: (header: string | undefined) => string | undefined;
  /** Throws an ApiError to reject a request before its body is read. */
  readonly admit?: (call: Call) => void;
  handle(request: EndpointRequest): Promise<EndpointResponse>;
  /**
   * Makes the error response of the protocol. `status` is the usual one for the code of the error. Without a `www-authenticate` of its
   * own, it has that of bearer tokens.
   */
  refuse(error: ApiError, status: number): EndpointResponse;
}

/** Endpoints by path. A path that ends with a slash serves all paths below it. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** The options that all endpoints share. */
export interface EndpointOptions {
  readonly bodyTimeoutMs: number;
  readonly maxJsonDepth: number;
  /** How long an endpoint may take to respond, without the time of a stream. */
  readonly requestTimeoutMs: number;
  /** How long a client may read nothing of a stream. */
  readonly streamStallMs: number;
  /** The domain in the ErrorInfo of errors. */
  readonly errorDomain: string;
  /** Names a request; `head.requestId` when absent. */
  readonly requestIdOf?: (head: RequestHead) => string;
  /** Called after every request. */
  readonly observe: (call: Call, path: string, durationMs: number, failure: ApiError | undefined) => void;
}

/** Serves the endpoints. Requests of other paths go to `next`. */
export function newEndpoints(endpoints: Endpoints, options: EndpointOptions, next: ExchangeHandler): ExchangeHandler {
  const find = newPathFinder(endpoints);
  return (exchange) => {
    const { path } = exchange.head;
    const found = find(path);
    return found && (found.value.serves?.(path) ?? true)
      ? serve(found.path, found.value, options, exchange)
      : next(exchange);
  };
}

/** Never rejects, unless the response cannot be sent. `name` is the path of the endpoint, by which it is counted. */
async function serve(name: string, endpoint: Endpoint, options: EndpointOptions, exchange: MessageExchange) {
  const startedAt = performance.now();
  const { head, response } = exchange;
  const lifetime = new RequestLifetime(response);
  const requestId = options.requestIdOf?.(head) ?? head.requestId;
  const { authorization } = endpoint;
  const call = callOf(head, "rest", {
    requestId,
    ...(authorization && {
      header: (name) => (name === "authorization" ? authorization(head.header(name)) : head.header(name)),
    }),
    lifetime,
    signal: () => lifetime.signal,
  });
  const toFailure = (error: unknown) => (error instanceof HttpError ? error : finishError(error, options.errorDomain));
  let failure: ApiError | undefined;
  const refuse = (error: unknown): OpenResponse => {
    failure = toFailure(error);
    return endpoint.refuse(failure, statusOf(failure));
  };
  lifetime.setDeadline(options.requestTimeoutMs);
  const opened: OpenResponse = await lifetime
    .wait(respondTo(endpoint, options, exchange, call))
    .then((found) => openResponse(head, found))
    .catch(refuse);
  const stream = opened.stream && (await beginStream(opened.stream).catch(refuse));
  const observe = () => options.observe(call, name, performance.now() - startedAt, failure);
  if (stream && "first" in stream) {
    const { status } = opened;
    const started = { status, headers: headersOf(opened, call, failure), stream };
    await sendStream(response, started, callHeaders(call), options).catch((error) => {
      failure = toFailure(error);
    });
    return observe();
  }
  observe();
  if (lifetime.isDisconnected) return;
  const reply = stream ?? opened;
  const headers = { ...headersOf(reply, call, failure), ...(failure instanceof HttpError && failure.headers) };
  const sent: OutgoingResponse = { status: reply.status, headers, body: reply.body };
  exchange.respond(isCompressible(sent) ? await encodeFor(head, sent) : sent, call);
}

/** A response whose stream is open, if it has one. */
type OpenResponse = Omit<EndpointResponse, "open"> & { readonly stream?: BodyStream };

/** Opens the stream of a response, unless the client has the content already or sent HEAD. */
function openResponse(head: RequestHead, { open, validators, ...reply }: EndpointResponse): OpenResponse {
  const headers = { ...reply.headers, ...(validators && validatorHeaders(validators)) };
  if (validators && reply.status === 200 && isUnchanged(head, validators))
    return { status: 304, headers, body: undefined };
  if (!open) return { ...reply, headers };
  return { ...reply, headers, ...(head.method === "HEAD" ? { body: undefined } : { stream: open() }) };
}

function headersOf({ headers }: OpenResponse, call: Call, failure: ApiError | undefined): ResponseHeaders {
  const retryAfter = failure && retryAfterOf(failure);
  const challenge = failure && challengeOf(failure, call);
  return {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    ...(challenge !== undefined && { "www-authenticate": challenge }),
    ...headers,
  };
}

/** RFC 9110 §9.3: only these methods give a body a meaning. */
const withBody: readonly string[] = ["POST", "PUT", "PATCH"];

function checkBodyForm(head: RequestHead, { bodyTypes }: Endpoint): void {
  checkBodyCoding(head);
  if (bodyTypes && head.header("content-type") !== undefined) checkBodyType(head, bodyTypes);
}

async function respondTo(endpoint: Endpoint, options: EndpointOptions, exchange: MessageExchange, call: Call) {
  const { head } = exchange;
  const { method, path } = head;
  if (!endpoint.methods.includes(method)) throw methodNotAllowed(endpoint.methods);
  endpoint.admit?.(call);
  const query = parseParameters(head.query, "query");
  const body = withBody.includes(method) ? await exchange.readBody({ ...options, ...endpoint }) : new Uint8Array();
  if (body.length > 0) checkBodyForm(head, endpoint);
  return await endpoint.handle({
    call,
    method,
    path,
    query,
    hasBody: body.length > 0,
    form() {
      checkFormType(head);
      return parseParameters(decodeUtf8(body, bodyField), bodyField);
    },
    json: () => parseJsonText(body, options.maxJsonDepth),
  });
}
