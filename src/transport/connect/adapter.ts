// Serves one service through connect-node, which implements streams in both directions. Loaded with the first request that
// needs it.

import type { ConnectRouter } from "@connectrpc/connect";
import type { Compression as ConnectCompression } from "@connectrpc/connect/protocol";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { ApiError } from "../../aip/errors.ts";
import { type ExchangeHandler, MessageExchange } from "../http/exchange.ts";
import { markLongLived } from "../http/long-lived-stream.ts";
import { type HttpRequest, type HttpResponse, pathOf } from "../http/message.ts";
import { maxOperationBytes } from "../http/message-size.ts";
import { compressions } from "../unary/compression.ts";
import { toConnectError } from "../unary/connect-error.ts";
import type { HeaderOf } from "../unary/protocol.ts";
import { connectTimeout, grpcTimeout } from "../unary/timeout.ts";
import type { RejectionOptions } from "./error-response.ts";

/** The options of connect-node's adapter. */
export interface AdapterOptions extends RejectionOptions {
  /** Takes requests that connect-node does not recognize. */
  readonly fallback: ExchangeHandler;
  /** The longest deadline of a call; a later one is shortened to it. */
  readonly maxTimeoutMs: number;
  /** The longest message; 64 KiB when absent. */
  readonly maxOperationBytes?: number;
  /** Aborted when the program starts to drain. */
  readonly draining: AbortSignal;
}

/** Serves a service. Its messages are limited to `maxOperationBytes`, and its streams, which may be endless, end when the program drains. */
export function adapt(routes: (router: ConnectRouter) => void, options: AdapterOptions): ExchangeHandler {
  const streamPaths = new Set<string>();
  const handler = connectNodeAdapter({
    routes(router) {
      routes(router);
      for (const { method, requestPath } of router.handlers)
        if (method.methodKind !== "unary") streamPaths.add(requestPath);
    },
    fallback: (request, response) =>
      void options.fallback(new MessageExchange(request as HttpRequest, response as HttpResponse)),
    readMaxBytes: options.maxOperationBytes ?? maxOperationBytes,
    shutdownSignal: options.draining,
    acceptCompression,
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
  if (exceeds(grpcTimeout(header), maxTimeoutMs)) headers["grpc-timeout"] = `${Math.floor(maxTimeoutMs / 1000)}S`;
  if (exceeds(connectTimeout(header), maxTimeoutMs)) headers["connect-timeout-ms"] = String(maxTimeoutMs);
}

/** connect-node responds to a deadline that is malformed or has passed. */
function exceeds(timeout: number | ApiError, maxTimeoutMs: number): boolean {
  return typeof timeout === "number" && timeout > maxTimeoutMs;
}

const acceptCompression = [...compressions.values()].map(
  ({ name, compress, decompress }): ConnectCompression => ({
    name,
    compress,
    decompress: (bytes, maxBytes) =>
      decompress(bytes, maxBytes).catch((error: ApiError) => {
        throw toConnectError(error);
      }),
  }),
);
