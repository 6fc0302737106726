// The unary transport: serves unary calls of gRPC, gRPC-web and Connect without connect-node, which serves the rest: streams, compression,
// other encodings. It decides by the head of the request.

import type { IncomingHttpHeaders } from "node:http";
import type { Registry } from "@bufbuild/protobuf";
import { toApiError } from "../../aip/errors.ts";
import { isPromise } from "../../base/maybe-promise.ts";
import type { Call } from "../../pipeline/call.ts";
import { deadlineExceeded } from "../../pipeline/call-lifetime.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import type { Method, MethodTable } from "../../pipeline/method.ts";
import { callOf } from "../http/call.ts";
import type { ChunkLimits } from "../http/chunk-limits.ts";
import type { Cors } from "../http/cors.ts";
import { Deadline } from "../http/deadline.ts";
import type { Exchange, MessageExchange } from "../http/exchange.ts";
import type { StreamHandler } from "../http/handlers.ts";
import type { BodyLimits } from "../http/request-body.ts";
import { StreamExchange } from "../http/stream-exchange.ts";
import { connect } from "./connect-protocol.ts";
import { ExchangeLifetime } from "./exchange-lifetime.ts";
import { grpc } from "./grpc.ts";
import { grpcWeb } from "./grpc-web.ts";
import type { HeaderOf, Protocol } from "./protocol.ts";

/** What the unary transport needs, and its limits. */
export interface UnaryOptions extends BodyLimits, ChunkLimits {
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
  const { proto, json } = connect({ registry: options.detailTypes, maxDepth: options.maxJsonDepth });
  const bounded = (protocol: Protocol) => ({ protocol, limits: { ...options, prefixBytes: protocol.prefixBytes } });
  const web = bounded(grpcWeb);
  const overHttp1: ReadonlyMap<string, BoundedProtocol> = new Map([
    ["application/grpc-web", web],
    ["application/grpc-web+proto", web],
    ["application/proto", bounded(proto)],
    ["application/json", bounded(json)],
  ]);
  const native = bounded(grpc);
  const overHttp2 = new Map([...overHttp1, ["application/grpc", native], ["application/grpc+proto", native]]);
  return {
    stream(stream, headers, rawHeaders) {
      const method = options.methods.get(headers[":path"] ?? "");
      if (!method || headers[":method"] !== "POST" || isRepeated(rawHeaders, "authorization")) return false;
      const plan = planOf(overHttp2, headers, options);
      if (!plan) return false;
      const exchange = new StreamExchange(stream, headers, rawHeaders);
      const lifetime = new ExchangeLifetime(exchange);
      const call = callOf(exchange.head, plan.protocol.transport, { lifetime });
      // Streams do not pass through cors.ts, which sets these headers for requests.
      const allowed = options.headersFor?.(headers.origin, method.path) ?? [];
      for (const [name, value] of allowed) call.setResponseHeader(name, value);
      run(method, plan, { call, exchange, lifetime }, options);
      return true;
    },
    request(exchange) {
      const { head, request } = exchange;
      if (head.method !== "POST" || request.httpVersionMajor !== 1) return false;
      const method = options.methods.get(head.target);
      const plan = method && planOf(overHttp1, head.headers, options);
      if (!plan) return false;
      const lifetime = new ExchangeLifetime(exchange);
      run(method, plan, { call: callOf(head, plan.protocol.transport, { lifetime }), exchange, lifetime }, options);
      return true;
    },
  };
}

/** A protocol, and the limits of a body in it. */
interface BoundedProtocol {
  readonly protocol: Protocol;
  readonly limits: BodyLimits & ChunkLimits;
}

/** How to serve a request, by its head. */
interface Plan extends BoundedProtocol {
  readonly timeoutMs: number;
}

/** Returns undefined if connect-node has to serve the request. */
function planOf(
  protocols: ReadonlyMap<string, BoundedProtocol>,
  headers: IncomingHttpHeaders,
  { requestTimeoutMs, maxTimeoutMs }: UnaryOptions,
): Plan | undefined {
  const header: HeaderOf = (name) => headers[name]?.toString();
  const bounded = protocols.get(headers["content-type"] ?? "");
  if (!bounded || header("expect") !== undefined) return undefined;
  const { protocol, limits } = bounded;
  const encoding = header(protocol.encodingHeader) ?? "identity";
  const timeoutMs = protocol.timeoutOf(header);
  if (encoding !== "identity" || timeoutMs === undefined) return undefined;
  return { protocol, limits, timeoutMs: Math.min(timeoutMs || requestTimeoutMs, maxTimeoutMs) };
}

/** node drops a second Authorization header, so a request with two would pass for one with the first. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i] === name) seen++;
  return seen > 1;
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
  { protocol, limits, timeoutMs }: Plan,
  { call, exchange, lifetime }: Served,
  { maxBodyBytes, onError }: UnaryOptions,
): Promise<void> {
  const fail = (thrown: unknown) => {
    try {
      exchange.respond(protocol.failure(completeError(toApiError(thrown), method.errorDomain), call), call);
    } catch (error) {
      // With too many open files the module for errors cannot be loaded. Nothing else catches what is thrown here.
      onError?.(error);
      exchange.abort();
    }
  };
  const deadline = new Deadline(timeoutMs, () => {
    lifetime.end(deadlineExceeded());
    if (!lifetime.awaitsResult) fail(deadlineExceeded());
  });
  try {
    const body = await exchange.readBody(limits);
    const response = method.call(call, () => {
      // The deadline has passed while the body arrived or the caller was authenticated: do not start the method.
      if (exchange.hasResponded) throw deadlineExceeded();
      return protocol.parse(method, body, maxBodyBytes);
    });
    exchange.respond(protocol.success(method, isPromise(response) ? await response : response), call);
  } catch (error) {
    fail(error);
  } finally {
    deadline.meet();
  }
}
