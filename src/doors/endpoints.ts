// Plain HTTP beside the API: paths of other people's protocols, with bodies and replies of their own.
import { type ApiError, retryAfterOf } from "../aip/errors.ts";
import type { Call } from "../pipeline/call.ts";
import { finishError } from "../pipeline/finish-error.ts";
import { checkFormType, decodeUtf8, readBody } from "./body.ts";
import { Client } from "./client.ts";
import type { HttpHandler } from "./guard.ts";
import { httpCall } from "./http-call.ts";
import { HttpError } from "./http-error.ts";
import { type HttpRequest, type HttpResponse, pathOf, requestTarget } from "./http-message.ts";
import { callHeaders, sendReply } from "./reply.ts";
import { bodyField, parseJsonText } from "./rest/json-text.ts";
import { type Parameter, parseParameters } from "./rest/query.ts";
import { statusOf } from "./rest/reply.ts";
import { methodNotAllowed } from "./rest/routes.ts";

/** What an endpoint is asked. */
export interface EndpointRequest {
  readonly call: Call;
  readonly method: string;
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
  readonly body: string;
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

/** Endpoints by path. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** What all endpoints have in common. */
export interface EndpointOptions {
  readonly bodyTimeoutMs: number;
  readonly maxJsonDepth: number;
  readonly requestTimeoutMs: number;
  /** The domain in the ErrorInfo of errors. */
  readonly errorDomain: string;
  requestIdOf(request: HttpRequest): string;
  /** Told of every request that was answered. */
  readonly observe: (call: Call, path: string, durationMs: number, failure: ApiError | undefined) => void;
}

/** Serves the endpoints; whatever else is asked for goes on to `next`. */
export function newEndpoints(endpoints: Endpoints, options: EndpointOptions, next: HttpHandler): HttpHandler {
  return (request, response) => {
    const path = pathOf(request);
    const endpoint = Object.hasOwn(endpoints, path) ? endpoints[path] : undefined;
    return endpoint ? serve(path, endpoint, options, request, response) : next(request, response);
  };
}

/** Never rejects, unless the reply cannot be sent. */
async function serve(path: string, endpoint: Endpoint, options: EndpointOptions, req: HttpRequest, res: HttpResponse) {
  const startedAt = performance.now();
  const client = new Client(res);
  const call = httpCall(req, options.requestIdOf(req), client);
  let failure: ApiError | undefined;
  const reply = await client.wait(answer(endpoint, options, req, call), options.requestTimeoutMs).catch((error) => {
    failure = error instanceof HttpError ? error : finishError(error, options.errorDomain);
    return endpoint.refuse(failure, statusOf(failure));
  });
  options.observe(call, path, performance.now() - startedAt, failure);
  if (client.isGone) return;
  const extra = failure instanceof HttpError ? Object.entries(failure.headers) : [];
  const retryAfter = failure && retryAfterOf(failure);
  const headers = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    ...reply.headers,
  };
  sendReply(req, res, { ...reply, headers }, [...extra, ...callHeaders(call)]);
}

async function answer(endpoint: Endpoint, options: EndpointOptions, req: HttpRequest, call: Call) {
  const method = req.method ?? "";
  if (!endpoint.methods.includes(method)) throw methodNotAllowed(endpoint.methods);
  endpoint.admit?.(call);
  const query = parseParameters(requestTarget(req).query, "query");
  // RFC 9110 §9.3.1: the body of a GET has no meaning.
  const body = method === "POST" ? await readBody(req, { ...options, ...endpoint }) : new Uint8Array();
  return await endpoint.handle({
    call,
    method,
    query,
    form() {
      checkFormType(req);
      return parseParameters(decodeUtf8(body, bodyField), bodyField);
    },
    json: () => parseJsonText(body, options.maxJsonDepth),
  });
}
