// Plain HTTP beside the API: paths of other people's protocols, with bodies and replies of their own.

import { type ApiError, retryAfterOf } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import { finishError } from "../../pipeline/complete-error.ts";
import { httpCall } from "../http/call.ts";
import { isUnchanged, type Validators, validatorHeaders } from "../http/conditional-request.ts";
import type { HttpHandler } from "../http/handlers.ts";
import { HttpError } from "../http/http-error.ts";
import { type HttpRequest, type HttpResponse, pathOf, requestTarget } from "../http/message.ts";
import { checkFormType, decodeUtf8, readBody } from "../http/request-body.ts";
import { RequestLifetime } from "../http/request-lifetime.ts";
import { callHeaders, type Reply, sendReply } from "../http/response.ts";
import { type BodyStream, beginStream, sendStream } from "../http/send-stream.ts";
import { bodyField, parseJsonText } from "../rest/json/parse-json.ts";
import { type Parameter, parseParameters } from "../rest/query-parameters.ts";
import { statusOf } from "../rest/rest-response.ts";
import { methodNotAllowed } from "../rest/routes.ts";
import { newPathFinder } from "./path-finder.ts";

/** What an endpoint is asked. */
export interface EndpointRequest {
  readonly call: Call;
  readonly method: string;
  /** The path as it was sent. */
  readonly path: string;
  /** The parameters of the query. */
  readonly query: readonly Parameter[];
  /** The parameters of the body, which must be a form. Throws INVALID_ARGUMENT. */
  form(): readonly Parameter[];
  /** The body, which must be JSON of any type. Throws INVALID_ARGUMENT. */
  json(): unknown;
}

/** What it answers; replies are not to be kept unless a header says so. */
export interface EndpointReply {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent where the reply has no content, or has a stream of it. */
  readonly body?: Reply["body"] | undefined;
  /** Opens a long content. It may throw an ApiError, and is called only if the content is to be sent. */
  readonly open?: () => BodyStream;
  /** What tells the content from any other (RFC 9110 §8.8), for conditional requests. */
  readonly validators?: Validators;
}

/** One path. */
export interface Endpoint {
  readonly methods: readonly string[];
  /** How long a body may be, in bytes. */
  readonly maxBodyBytes: number;
  /** Throws an ApiError to refuse a request before its body is read. */
  readonly admit?: (call: Call) => void;
  handle(request: EndpointRequest): Promise<EndpointReply>;
  /** Words a failure as clients of the protocol read it; `status` is the usual one for its code. */
  refuse(error: ApiError, status: number): EndpointReply;
}

/** Endpoints by path; one whose path ends with a slash serves all paths below it. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** What all endpoints have in common. */
export interface EndpointOptions {
  readonly bodyTimeoutMs: number;
  readonly maxJsonDepth: number;
  /** How long an endpoint may take for its answer; the time of a stream is not counted. */
  readonly requestTimeoutMs: number;
  /** How long a client may take nothing of a stream. */
  readonly streamStallMs: number;
  /** The domain in the ErrorInfo of errors. */
  readonly errorDomain: string;
  requestIdOf(request: HttpRequest): string;
  /** Told of every request that was answered. */
  readonly observe: (call: Call, path: string, durationMs: number, failure: ApiError | undefined) => void;
}

/** Serves the endpoints; whatever else is asked for goes on to `next`. */
export function newEndpoints(endpoints: Endpoints, options: EndpointOptions, next: HttpHandler): HttpHandler {
  const find = newPathFinder(endpoints);
  return (request, response) => {
    const found = find(pathOf(request));
    return found ? serve(found.path, found.value, options, request, response) : next(request, response);
  };
}

/** Never rejects, unless the reply cannot be sent. `name` is the path of the endpoint, by which it is counted. */
async function serve(name: string, endpoint: Endpoint, options: EndpointOptions, req: HttpRequest, res: HttpResponse) {
  const startedAt = performance.now();
  const client = new RequestLifetime(res);
  const call = httpCall(req, options.requestIdOf(req), client);
  const toFailure = (error: unknown) => (error instanceof HttpError ? error : finishError(error, options.errorDomain));
  let failure: ApiError | undefined;
  const refuse = (error: unknown): OpenReply => {
    failure = toFailure(error);
    return endpoint.refuse(failure, statusOf(failure));
  };
  client.setDeadline(options.requestTimeoutMs);
  const opened: OpenReply = await client
    .wait(answer(endpoint, options, req, call))
    .then((found) => openReply(req, found))
    .catch(refuse);
  const stream = opened.stream && (await beginStream(opened.stream).catch(refuse));
  const observe = () => options.observe(call, name, performance.now() - startedAt, failure);
  if (stream && "first" in stream) {
    const head = { status: opened.status, headers: headersOf(opened, failure) };
    await sendStream(res, { ...head, stream }, callHeaders(call), options).catch((error) => {
      failure = toFailure(error);
    });
    return observe();
  }
  observe();
  if (client.isDisconnected) return;
  const reply = stream ?? opened;
  const extra = failure instanceof HttpError ? Object.entries(failure.headers) : [];
  const { status, body } = reply;
  sendReply(req, res, { status, body, headers: headersOf(reply, failure) }, [...extra, ...callHeaders(call)]);
}

/** A reply whose stream is open, if it has one. */
type OpenReply = Omit<EndpointReply, "open"> & { readonly stream?: BodyStream };

/** Opens the stream of a reply, unless the client has its content or asks for its head alone. */
function openReply(req: HttpRequest, { open, validators, ...reply }: EndpointReply): OpenReply {
  const headers = { ...reply.headers, ...(validators && validatorHeaders(validators)) };
  if (validators && reply.status === 200 && isUnchanged(req, validators))
    return { status: 304, headers, body: undefined };
  if (!open) return { ...reply, headers };
  return { ...reply, headers, ...(req.method === "HEAD" ? { body: undefined } : { stream: open() }) };
}

function headersOf({ headers }: OpenReply, failure: ApiError | undefined): Readonly<Record<string, string>> {
  const retryAfter = failure && retryAfterOf(failure);
  return {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    ...headers,
  };
}

async function answer(endpoint: Endpoint, options: EndpointOptions, req: HttpRequest, call: Call) {
  const method = req.method ?? "";
  if (!endpoint.methods.includes(method)) throw methodNotAllowed(endpoint.methods);
  endpoint.admit?.(call);
  const target = requestTarget(req);
  const { path } = target;
  const query = parseParameters(target.query, "query");
  // RFC 9110 §9.3.1: the body of a GET has no meaning.
  const body = method === "POST" ? await readBody(req, { ...options, ...endpoint }) : new Uint8Array();
  return await endpoint.handle({
    call,
    method,
    path,
    query,
    form() {
      checkFormType(req);
      return parseParameters(decodeUtf8(body, bodyField), bodyField);
    },
    json: () => parseJsonText(body, options.maxJsonDepth),
  });
}
