// Serves one service through connect-node, which implements gRPC, gRPC-web and Connect. Loaded with the first request that needs it.

import type { Message } from "@bufbuild/protobuf";
import {
  ConnectError,
  type ConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import {
  type ConnectNodeAdapterOptions,
  compressionBrotli,
  compressionGzip,
  connectNodeAdapter,
} from "@connectrpc/connect-node";
import { ApiError, Code, retryAfterOf } from "../../aip/errors.ts";
import type { Method } from "../../pipeline/method.ts";
import { challengeOf } from "../http/challenge.ts";
import { type ExchangeHandler, MessageExchange } from "../http/exchange.ts";
import { markLongLived } from "../http/long-lived-stream.ts";
import { type HttpRequest, type HttpResponse, pathOf } from "../http/message.ts";
import { maxOperationBytes, messageTooLarge } from "../http/message-size.ts";
import { toConnectError } from "../unary/connect-error.ts";
import { connectTimeout } from "../unary/connect-protocol.ts";
import { grpcTimeout } from "../unary/grpc.ts";
import type { HeaderOf } from "../unary/protocol.ts";
import { fitTrailers } from "../unary/trailer-limit.ts";
import type { ConnectCall } from "./connect-call.ts";
import type { RejectionOptions } from "./error-response.ts";
import { withMessageCheck } from "./message-check.ts";

/** What connect-node needs, for methods of the table and for other services. */
export interface AdapterOptions extends RejectionOptions {
  readonly maxBodyBytes: number;
  /** Takes requests that connect-node does not recognize. */
  readonly fallback: ExchangeHandler;
  /** The longest deadline of a call; a later one is shortened to it. */
  readonly maxTimeoutMs: number;
  /** The longest message to a service that is not in the method table; 64 KiB when absent. */
  readonly maxOperationBytes?: number;
  /** Aborted when the program starts to drain. */
  readonly draining: AbortSignal;
}

const callKey = createContextKey<ConnectCall | undefined>(undefined, { description: "call" });

/** Options of connect-node that differ between services. */
type ServiceOptions = Pick<ConnectNodeAdapterOptions, "readMaxBytes" | "shutdownSignal" | "contextValues">;

/** Responds to the call of a method; without `call`, to a request that is not a call (405 or 415). */
export type MethodHandler = (exchange: MessageExchange, call?: ConnectCall) => void;

/** Serves methods of the table. Calls in progress complete, also while the program drains. */
export function adaptMethods(methods: Iterable<Method>, options: AdapterOptions): MethodHandler {
  const limits = { ...options, compressions };
  const calls = new WeakMap<object, ConnectCall>();
  const contextValues = (request: object) => createContextValues().set(callKey, calls.get(request));
  const handler = connectHandler({ readMaxBytes: options.maxBodyBytes, contextValues }, options, (router) => {
    for (const method of methods) {
      router.rpc(method.descriptor, respondToUnary);
      router.handlers.push(withMessageCheck(router.handlers.pop()!, method, limits));
    }
  });
  return (exchange, call) => {
    if (call) calls.set(exchange.request, call);
    handler(exchange);
  };
}

/**
 * Serves a service outside the method table. Its messages are limited to `maxOperationBytes`, and its streams, which may be endless,
 * end when the program drains.
 */
export function adapt(routes: (router: ConnectRouter) => void, options: AdapterOptions): ExchangeHandler {
  const readMaxBytes = options.maxOperationBytes ?? maxOperationBytes;
  return connectHandler({ readMaxBytes, shutdownSignal: options.draining }, options, routes);
}

function connectHandler(
  serviceOptions: ServiceOptions,
  options: AdapterOptions,
  routes: (router: ConnectRouter) => void,
): (exchange: MessageExchange) => void {
  const streamPaths = new Set<string>();
  const handler = connectNodeAdapter({
    routes(router) {
      routes(router);
      for (const { method, requestPath } of router.handlers)
        if (method.methodKind !== "unary") streamPaths.add(requestPath);
    },
    fallback: (request, response) =>
      void options.fallback(new MessageExchange(request as HttpRequest, response as HttpResponse)),
    ...serviceOptions,
    acceptCompression: compressions,
    maxTimeoutMs: options.maxTimeoutMs,
    jsonOptions: { registry: options.detailTypes },
  });
  return ({ request, response }) => {
    capDeadlines(request, options.maxTimeoutMs);
    if (streamPaths.has(pathOf(request))) markLongLived(request);
    handler(request, response);
  };
}

/** Shortens deadlines to `maxTimeoutMs`: connect-node would reject the call. */
function capDeadlines({ headers }: HttpRequest, maxTimeoutMs: number): void {
  const header: HeaderOf = (name) => headers[name]?.toString();
  if ((grpcTimeout(header) ?? 0) > maxTimeoutMs) headers["grpc-timeout"] = `${Math.floor(maxTimeoutMs / 1000)}S`;
  if ((connectTimeout(header) ?? 0) > maxTimeoutMs) headers["connect-timeout-ms"] = String(maxTimeoutMs);
}

const compressions = [compressionGzip, compressionBrotli].map(withApiErrors);

function withApiErrors({ name, compress, decompress }: Compression): Compression {
  return {
    name,
    compress,
    async decompress(bytes, maxBytes) {
      try {
        return await decompress(bytes, maxBytes);
      } catch (error) {
        throw error instanceof ConnectError ? toConnectError(toDecompressError(error, maxBytes)) : error;
      }
    },
  };
}

function toDecompressError(error: ConnectError, maxBytes: number): ApiError {
  const code = error.code as number as Code;
  if (code === Code.RESOURCE_EXHAUSTED) return messageTooLarge(maxBytes);
  // Truncated data is the fault of the client; connect-node reports it as INTERNAL.
  const reported = code === Code.INTERNAL ? Code.INVALID_ARGUMENT : code;
  return new ApiError(reported, error.rawMessage, { cause: error });
}

async function respondToUnary(request: Message, context: HandlerContext): Promise<Message> {
  const connectCall = context.values.get(callKey);
  if (!connectCall) throw new Error("the call did not come through the router");
  const { call } = connectCall;
  // After its deadline, or without its client, a call is neither started nor waited for.
  context.signal.throwIfAborted();
  try {
    return await Promise.race([connectCall.resume(request, context.signal), endOf(connectCall, context.signal)]);
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    const apiError = error as ApiError;
    if (context.protocolName !== "connect") throw toConnectError(fitTrailers(apiError));
    const challenge = challengeOf(apiError, call);
    if (challenge !== undefined) context.responseHeader.set("www-authenticate", challenge);
    const retryAfter = retryAfterOf(apiError);
    if (retryAfter !== undefined) context.responseHeader.set("retry-after", retryAfter);
    throw toConnectError(apiError);
  } finally {
    for (const [name, value] of call.responseHeaders) context.responseHeader.set(name, value);
    context.responseHeader.set("x-request-id", call.requestId);
  }
}

/** Rejects when the signal is aborted, unless the response awaits the result of the method. */
function endOf({ lifetime }: ConnectCall, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => {
      if (!lifetime.awaitsResult) reject(signal.reason);
    };
    signal.addEventListener("abort", end, { once: true });
  });
}
