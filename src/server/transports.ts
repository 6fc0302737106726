// The transports of a server, one after the other: the fast path, connect-node, pages, endpoints and REST.

import type { Logger } from "pino";
import { type ApiError, codeName } from "../aip/errors.ts";
import { withBearer } from "../authn/basic.ts";
import { show } from "../base/clip.ts";
import { newNetworkList } from "../base/network-address.ts";
import { hasCode } from "../base/system-error.ts";
import type { Config } from "../config/config.ts";
import type { Address } from "../config/listen-config.ts";
import { ConfigError, type SettingName } from "../config/settings.ts";
import type { Call } from "../pipeline/call.ts";
import { originOf } from "../pipeline/observe.ts";
import { newRouter, type RouterOptions } from "../transport/connect/router.ts";
import { detailTypes } from "../transport/error-detail-types.ts";
import { type Cors, newCors } from "../transport/http/cors.ts";
import { type ExchangeHandler, onExchange } from "../transport/http/exchange.ts";
import { defaultLimits, metricsLimits } from "../transport/listener/limits.ts";
import { type Listener, openListener } from "../transport/listener/listener.ts";
import { type EndpointOptions, type Endpoints, newEndpoints } from "../transport/pages/endpoints.ts";
import { type Mounts, newSite, type Pages, sendPage, text } from "../transport/pages/pages.ts";
import { newRestTransport } from "../transport/rest/rest-transport.ts";
import { newUnaryTransport, type UnaryTransport } from "../transport/unary/unary-transport.ts";
import type { Api } from "./api.ts";
import { limits } from "./limits.ts";

/** What the transports serve. */
export interface TransportsOptions extends Pick<RouterOptions, "operations" | "draining"> {
  readonly config: Config;
  readonly log: Logger;
  readonly api: Api;
  readonly endpoints: Endpoints;
  readonly pages: Pages;
  readonly mounts: Mounts;
  readonly observe: EndpointOptions["observe"];
}

/** Listens. Rejects with a readable error if another program uses the port. */
export async function openTransports(options: TransportsOptions): Promise<Listener> {
  const { config, log } = options;
  const onError = (error: unknown) => log.warn({ err: error }, "a connection failed");
  const cors = newCors(config.corsOrigins);
  const fast = config.fastPath ? fastPathOf(options.api, cors, onError) : undefined;
  const router = routerOf(options);
  return await openListener({
    host: config.host,
    port: config.port,
    ...(config.tls ? { tls: config.tls } : {}),
    limits: { ...defaultLimits, ...config.connections },
    ...(config.trustedProxies.length > 0 && { trustedProxies: newNetworkList(config.trustedProxies) }),
    handler: cors.surround(
      onExchange((exchange) => {
        if (!fast?.request(exchange)) return router(exchange);
      }),
    ),
    fast: fast?.stream,
    onError,
    onBacklog: (connections, bytes) =>
      log.warn({ connections, bytes }, "closed connections whose clients did not read their responses"),
  }).catch((error) => {
    throw unopened("listen", config, error);
  });
}

/** Serves only metrics, on a port of their own. Rejects with a readable error if another program uses the port. */
export async function openMetricsListener(address: Address, pages: Pages, log: Logger): Promise<Listener> {
  const site = newSite(
    pages,
    {},
    (exchange) => {
      exchange.request.resume();
      sendPage(exchange, text(404, "Not Found"));
    },
    (error) => log.error({ err: error }, "a page failed"),
  );
  return await openListener({
    ...address,
    limits: metricsLimits,
    handler: onExchange(site),
    onError: (error) => log.warn({ err: error }, "a connection failed"),
  }).catch((error) => {
    throw unopened("metrics-listen", address, error);
  });
}

/** Returns why a port cannot be opened, with the name of the setting. */
function unopened(name: SettingName, { host, port }: Address, error: unknown): unknown {
  if (hasCode(error, "EADDRINUSE"))
    return new Error(`${name}: ${host}:${port} is taken by another program; --${name} names another.`);
  const isForeign = hasCode(error, "EADDRNOTAVAIL") || hasCode(error, "ENOTFOUND");
  if (isForeign) return new ConfigError(`${name}: ${host} is no address of this machine.`);
  if (hasCode(error, "EACCES")) return new ConfigError(`${name}: port ${port} is not for this user.`);
  return error;
}

function fastPathOf({ methods }: Api, { headersFor }: Cors, onError: (error: unknown) => void): UnaryTransport {
  return newUnaryTransport({
    methods,
    maxBodyBytes: limits.bodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    freeChunks: defaultLimits.freeChunks,
    meanChunkBytes: defaultLimits.meanChunkBytes,
    requestTimeoutMs: limits.requestTimeoutMs,
    maxTimeoutMs: limits.deadlineMs,
    maxJsonDepth: limits.jsonDepth,
    detailTypes,
    headersFor,
    onError,
  });
}

function routerOf(options: TransportsOptions): ExchangeHandler {
  const { api, config, operations, draining } = options;
  return newRouter({
    methods: api.methods,
    operations,
    fallback: siteOf(options),
    maxBodyBytes: limits.bodyBytes,
    maxJsonDepth: limits.jsonDepth,
    maxTimeoutMs: limits.deadlineMs,
    detailTypes,
    errorDomain: `iam.${config.domain}`,
    draining,
  });
}

/** Everything that is not an RPC: pages, then endpoints, then REST. */
function siteOf({ config, log, api, endpoints, pages, mounts, observe }: TransportsOptions): ExchangeHandler {
  const { domain } = config;
  const gateway = newRestTransport(api.now.values(), {
    later: api.later,
    maxBodyBytes: limits.bodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    requestTimeoutMs: limits.requestTimeoutMs,
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
    errorDomain: `iam.${domain}`,
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
