// The transports of a server, one after the other: unary calls, streams, pages, endpoints and REST.

import type { Logger } from "pino";
import { type ApiError, codeName } from "../aip/errors.ts";
import { withBearer } from "../authn/basic.ts";
import { show } from "../base/clip.ts";
import type { Config } from "../config/config.ts";
import type { Call } from "../pipeline/call.ts";
import { originOf } from "../pipeline/observe.ts";
import { newRouter, type RouterOptions } from "../transport/connect/router.ts";
import { detailTypes } from "../transport/error-detail-types.ts";
import { type Cors, newCors } from "../transport/http/cors.ts";
import { type ExchangeHandler, onExchange } from "../transport/http/exchange.ts";
import { defaultLimits } from "../transport/listener/limits.ts";
import type { ListenerOptions } from "../transport/listener/listener.ts";
import { type EndpointOptions, type Endpoints, newEndpoints } from "../transport/pages/endpoints.ts";
import { type Mounts, newSite, type Pages } from "../transport/pages/pages.ts";
import { newRestTransport } from "../transport/rest/rest-transport.ts";
import { newStreamingTransport, type StreamingTransport } from "../transport/streaming/stream-transport.ts";
import { newUnaryTransport, type UnaryTransport } from "../transport/unary/unary-transport.ts";
import type { Api } from "./api.ts";
import { limits } from "./limits.ts";

/** The parts that the transports serve. */
export interface TransportChainOptions extends Pick<RouterOptions, "operations" | "draining"> {
  readonly config: Config;
  readonly log: Logger;
  readonly api: Api;
  readonly endpoints: Endpoints;
  readonly pages: Pages;
  readonly mounts: Mounts;
  readonly observe: EndpointOptions["observe"];
}

/** The handlers of a listener. */
export type TransportChain = Pick<ListenerOptions, "handler" | "fast">;

/** Composes the transports. `onError` gets the errors of unary calls that got no response. */
export function newTransportChain(options: TransportChainOptions, onError: (error: unknown) => void): TransportChain {
  const { config, api } = options;
  const cors = newCors(config.corsOrigins);
  const unary = unaryOf(api, cors, onError);
  const streaming = streamingOf(options);
  const router = routerOf(options);
  const handler = onExchange((exchange) => {
    if (!unary.request(exchange) && !streaming(exchange)) return router(exchange);
  });
  return { handler: cors.surround(handler), fast: unary.stream };
}

/** The limits that calls and streams share. */
const callLimits = {
  maxBodyBytes: limits.bodyBytes,
  bodyTimeoutMs: limits.bodyTimeoutMs,
  freeChunks: defaultLimits.freeChunks,
  meanChunkBytes: defaultLimits.meanChunkBytes,
  maxTimeoutMs: limits.deadlineMs,
  maxJsonDepth: limits.jsonDepth,
};

function unaryOf({ methods }: Api, { headersFor }: Cors, onError: (error: unknown) => void): UnaryTransport {
  const { requestTimeoutMs } = limits;
  return newUnaryTransport({ ...callLimits, methods, requestTimeoutMs, detailTypes, headersFor, onError });
}

function streamingOf({ api, draining }: TransportChainOptions): StreamingTransport {
  const { streamStallMs } = limits;
  return newStreamingTransport({
    ...callLimits,
    methods: api.streams,
    streamStallMs,
    detailTypes,
    draining,
  });
}

/** The domain of errors that no service returns. */
function errorDomain({ domain }: Config): string {
  return `iam.${domain}`;
}

function routerOf(options: TransportChainOptions): ExchangeHandler {
  const { config, operations, draining } = options;
  return newRouter({
    operations,
    fallback: siteOf(options),
    maxTimeoutMs: limits.deadlineMs,
    detailTypes,
    errorDomain: errorDomain(config),
    draining,
  });
}

/** Everything that is not an RPC: pages, then endpoints, then REST. */
function siteOf({ config, log, api, endpoints, pages, mounts, observe }: TransportChainOptions): ExchangeHandler {
  const { domain } = config;
  const gateway = newRestTransport([...api.current.values(), ...api.streams], {
    lazy: api.lazy,
    maxBodyBytes: limits.bodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    requestTimeoutMs: limits.requestTimeoutMs,
    streamStallMs: limits.streamStallMs,
    maxJsonDepth: limits.jsonDepth,
    domain,
    anyTypes: detailTypes,
    // OSV scanners do not send bearer tokens, but a user name and password from .netrc or the address.
    foreign: { prefix: "/gatehouse/osv/", withBearer },
    refused: (call, httpMethod, path, failure) => logRefused(log, call, httpMethod, path, failure),
    report: (error, requestId) => log.error({ err: error, requestId }, "the REST transport failed"),
  });
  const endpointOptions = {
    ...limits,
    maxJsonDepth: limits.jsonDepth,
    errorDomain: errorDomain(config),
    observe,
  };
  const plain = newEndpoints(endpoints, endpointOptions, (exchange) => gateway.handle(exchange));
  return newSite(pages, mounts, plain, (error) => log.error({ err: error }, "a page failed"));
}

/** Logs a rejected request like a call, without the error text, which may contain parts of the body. */
function logRefused(log: Logger, call: Call, httpMethod: string, path: string, { code }: ApiError): void {
  if (!log.isLevelEnabled("info")) return;
  const { requestId, transport } = call;
  const line = { requestId, transport, httpMethod, path: show(path), code: codeName(code), ...originOf(call) };
  log.info(line, "refused");
}
