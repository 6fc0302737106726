// The unary transport: serves every path of the method table over gRPC, gRPC-web and Connect. streaming/ serves those whose response is a stream.

import type { Registry } from "@bufbuild/protobuf";
import { toApiError } from "../../aip/errors.ts";
import { isPromise } from "../../base/maybe-promise.ts";
import type { Call } from "../../pipeline/call.ts";
import { deadlineExceeded } from "../../pipeline/call-lifetime.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import type { Method, MethodTable } from "../../pipeline/method.ts";
import { callOf } from "../http/call.ts";
import type { Cors } from "../http/cors.ts";
import { Deadline } from "../http/deadline.ts";
import type { Exchange, MessageExchange } from "../http/exchange.ts";
import type { StreamHandler } from "../http/handlers.ts";
import { pathOfTarget } from "../http/message.ts";
import { reject } from "../http/rejection.ts";
import { StreamExchange } from "../http/stream-exchange.ts";
import { json, proto } from "./codec.ts";
import { connect } from "./connect-protocol.ts";
import { decodeBody, receiveBody } from "./decode-request.ts";
import { ExchangeLifetime } from "./exchange-lifetime.ts";
import { grpc } from "./grpc.ts";
import { grpcWeb } from "./grpc-web.ts";
import type { Protocol } from "./protocol.ts";
import { type FormLimits, type RequestForm, type RequestForms, requestForms } from "./request-form.ts";

/** The dependencies and limits of the unary transport. */
export interface UnaryOptions extends FormLimits {
  readonly methods: MethodTable;
  /** The deadline of a call that has none. */
  readonly requestTimeoutMs: number;
  /** The longest deadline; a later one is shortened to it. */
  readonly maxTimeoutMs: number;
  /** The deepest nesting of arrays and objects in JSON. */
  readonly maxJsonDepth: number;
  /** Returns the response headers for an origin: see cors.ts. None when absent. */
  readonly headersFor?: Cors["headersFor"];
  /** The message types of error details. */
  readonly detailTypes: Registry;
  /** Called with the reason if a call got no response at all. */
  readonly onError?: (error: unknown) => void;
}

/** The unary transport, for either HTTP version. */
export interface UnaryTransport {
  readonly stream: StreamHandler;
  /** Takes a request and returns true, or leaves it untouched and returns false. */
  request(exchange: MessageExchange): boolean;
}

/** Makes the unary transport. */
export function newUnaryTransport(options: UnaryOptions): UnaryTransport {
  const { methods } = options;
  const forms = requestForms(protocolsOf(options), options);
  return {
    stream(stream, headers, rawHeaders) {
      // node responds to other expectations, and cors.ts to preflight requests.
      const { ":method": verb, ":path": target = "", expect = "100-continue" } = headers;
      const method = verb === "POST" && expect === "100-continue" ? methods.get(pathOfTarget(target)) : undefined;
      const form = method && forms.of(headers);
      if (!form) return false;
      serveStream(method, form, new StreamExchange(stream, headers, rawHeaders), options);
      return true;
    },
    request(exchange) {
      const method = methods.get(exchange.head.path);
      if (method) serveRequest(method, exchange, forms, options);
      return method !== undefined;
    },
  };
}

function protocolsOf({ detailTypes: registry, maxJsonDepth: maxDepth }: UnaryOptions): Protocol[] {
  const codecs = [proto, json({ registry, maxDepth })];
  return codecs.flatMap((codec) => [grpc(codec), grpcWeb(codec), connect(codec, { registry })]);
}

/** Serves a call over HTTP/1, or rejects a request whose verb, content type or version of HTTP cannot be those of a call. */
function serveRequest(
  method: Method,
  exchange: MessageExchange,
  forms: RequestForms<Protocol>,
  options: UnaryOptions,
): void {
  const { head, response } = exchange;
  const form = forms.of(head.headers);
  // RFC 9110 §15.5.6, §15.5.16: a rejection names what is allowed or accepted.
  if (head.method !== "POST") exchange.respond({ status: 405, headers: { allow: "POST" } });
  else if (!form) exchange.respond({ status: 415, headers: { "accept-post": forms.contentTypes } });
  // The status of gRPC is in trailers, which clients of HTTP/1 do not read: an error would look like an empty response.
  else if (form.protocol.transport === "grpc")
    reject(response, 505, "gRPC needs HTTP/2; gRPC-web and Connect do not\n");
  else {
    const lifetime = new ExchangeLifetime(exchange);
    run(method, form, { call: callOf(head, form.protocol.transport, { lifetime }), exchange, lifetime }, options);
  }
}

function serveStream(
  method: Method,
  form: RequestForm<Protocol>,
  exchange: StreamExchange,
  options: UnaryOptions,
): void {
  const lifetime = new ExchangeLifetime(exchange);
  const call = callOf(exchange.head, form.protocol.transport, { lifetime });
  // Streams do not pass through cors.ts, which sets these headers for requests.
  const allowed = options.headersFor?.(exchange.head.headers.origin, method.path) ?? [];
  for (const [name, value] of allowed) call.setResponseHeader(name, value);
  run(method, form, { call, exchange, lifetime }, options);
}

/** A call of a client, with its exchange. */
interface Served {
  readonly call: Call;
  readonly exchange: Exchange;
  readonly lifetime: ExchangeLifetime;
}

/**
 * Serves one call. The deadline and the method race: the exchange sends the first response and ignores the other. Once the method
 * writes, its result is the response.
 */
async function run(
  method: Method,
  form: RequestForm<Protocol>,
  { call, exchange, lifetime }: Served,
  options: UnaryOptions,
): Promise<void> {
  const { protocol, limits } = form;
  const fail = (thrown: unknown) => {
    try {
      exchange.respond(protocol.failure(completeError(toApiError(thrown), method.errorDomain), call), call);
    } catch (error) {
      // With too many open files the module for errors cannot be loaded. Nothing else catches what is thrown here.
      options.onError?.(error);
      exchange.abort();
    }
  };
  const deadline = new Deadline(deadlineOf(form, options), () => {
    lifetime.end(deadlineExceeded());
    if (!lifetime.awaitsResult) fail(deadlineExceeded());
  });
  try {
    const body = form.isReadFirst ? await exchange.readBody(limits) : undefined;
    const result = method.call(call, () => {
      // The deadline has passed while the body arrived or the caller was authenticated: do not start the method.
      if (exchange.hasResponded) throw deadlineExceeded();
      return body ? decodeBody(method, form, body) : receiveBody(method, form, call, exchange);
    });
    const message = isPromise(result) ? await result : result;
    const response = protocol.success(method, message, form.responseCompression);
    exchange.respond(isPromise(response) ? await response : response, call);
  } catch (error) {
    fail(error);
  } finally {
    deadline.meet();
  }
}

function deadlineOf({ timeout }: RequestForm, { requestTimeoutMs, maxTimeoutMs }: UnaryOptions): number {
  return Math.min((typeof timeout === "number" && timeout) || requestTimeoutMs, maxTimeoutMs);
}
