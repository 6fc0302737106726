// The doors of a server, one behind the other: the fast path, connect-node, pages, endpoints and REST.

import type { Logger } from "pino";
import { show } from "./aip/clip.ts";
import { type ApiError, codeName } from "./aip/errors.ts";
import type { Api } from "./api.ts";
import { withBearer } from "./authn/basic.ts";
import type { Config } from "./config.ts";
import { type Cors, newCors } from "./doors/cors.ts";
import { detailTypes } from "./doors/detail-types.ts";
import { type EndpointOptions, type Endpoints, newEndpoints } from "./doors/endpoints.ts";
import { type FastPath, newFastPath } from "./doors/fast/fast-path.ts";
import type { HttpHandler } from "./doors/guard.ts";
import { defaultLimits, metricsLimits } from "./doors/limits.ts";
import { type Listener, openListener } from "./doors/listen.ts";
import { requestIdOf } from "./doors/request-id.ts";
import { newGateway } from "./doors/rest/gateway.ts";
import { newRouter, type RouterOptions } from "./doors/router.ts";
import { type Mounts, newSite, type Pages, sendPage, text } from "./doors/site.ts";
import { limits } from "./limits.ts";
import type { Address } from "./listen-config.ts";
import { newNetworkList } from "./network-address.ts";
import type { Call } from "./pipeline/call.ts";
import { originOf } from "./pipeline/observe.ts";
import { ConfigError, type SettingName } from "./settings.ts";
import { hasCode } from "./system-error.ts";

/** What the doors lead to. */
export interface DoorsOptions extends Pick<RouterOptions, "operations" | "draining"> {
  readonly config: Config;
  readonly log: Logger;
  readonly api: Api;
  readonly endpoints: Endpoints;
  readonly pages: Pages;
  readonly mounts: Mounts;
  readonly observe: EndpointOptions["observe"];
}

/** Listens. Rejects with a sentence when another program has the port. */
export async function openDoors(options: DoorsOptions): Promise<Listener> {
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
    handler: cors.surround((request, response) => {
      if (!fast?.request(request, response)) return router(request, response);
    }),
    fast: fast?.stream,
    onError,
    onUnread: (connections, bytes) =>
      log.warn({ connections, bytes }, "connections were closed whose clients did not take their replies"),
  }).catch((error) => {
    throw unopened("listen", config, error);
  });
}

/** Serves metrics, and nothing else, on a port of their own. Rejects with a sentence when another program has the port. */
export async function openMetricsListener(address: Address, pages: Pages, log: Logger): Promise<Listener> {
  const site = newSite(
    pages,
    {},
    (request, response) => {
      request.resume();
      sendPage(request, response, text(404, "Not Found"));
    },
    (error) => log.error({ err: error }, "a page failed"),
  );
  return await openListener({
    ...address,
    limits: metricsLimits,
    handler: site,
    onError: (error) => log.warn({ err: error }, "a connection failed"),
  }).catch((error) => {
    throw unopened("metrics-listen", address, error);
  });
}

/** Why a port cannot be opened, under the name of the setting. */
function unopened(name: SettingName, { host, port }: Address, error: unknown): unknown {
  if (hasCode(error, "EADDRINUSE"))
    return new Error(`${name}: ${host}:${port} is taken by another program; --${name} names another.`);
  const isForeign = hasCode(error, "EADDRNOTAVAIL") || hasCode(error, "ENOTFOUND");
  if (isForeign) return new ConfigError(`${name}: ${host} is no address of this machine.`);
  if (hasCode(error, "EACCES")) return new ConfigError(`${name}: port ${port} is not for this user.`);
  return error;
}

function fastPathOf({ methods }: Api, { headersFor }: Cors, onError: (error: unknown) => void): FastPath {
  return newFastPath({
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

function routerOf(options: DoorsOptions): HttpHandler {
  const { api, config, operations, draining } = options;
  return newRouter({
    methods: api.methods,
    operations,
    fallback: siteOf(options),
    maxBodyBytes: limits.bodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    maxJsonDepth: limits.jsonDepth,
    maxTimeoutMs: limits.deadlineMs,
    detailTypes,
    errorDomain: `iam.${config.domain}`,
    draining,
  });
}

/** Whatever is no RPC: pages, else endpoints, else REST. */
function siteOf({ config, log, api, endpoints, pages, mounts, observe }: DoorsOptions): HttpHandler {
  const { domain } = config;
  const gateway = newGateway(api.now.values(), {
    later: api.later,
    maxBodyBytes: limits.bodyBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    requestTimeoutMs: limits.requestTimeoutMs,
    maxJsonDepth: limits.jsonDepth,
    domain,
    anyTypes: detailTypes,
    // Scanners that speak OSV know no bearer tokens, but take a name and a password from .netrc or from the address.
    foreign: { prefix: "/gatehouse/osv/", withBearer },
    requestIdOf,
    refused: (call, httpMethod, path, failure) => logRefused(log, call, httpMethod, path, failure),
    report: (error, requestId) => log.error({ err: error, requestId }, "the REST door failed"),
  });
  const endpointOptions = {
    ...limits,
    maxJsonDepth: limits.jsonDepth,
    errorDomain: `iam.${domain}`,
    requestIdOf,
    observe,
  };
  const plain = newEndpoints(endpoints, endpointOptions, (request, response) => gateway.handle(request, response));
  return newSite(pages, mounts, plain, (error) => log.error({ err: error }, "a page failed"));
}

/** As a call is logged, though without what is wrong: that may have something of the body in it. */
function logRefused(log: Logger, call: Call, httpMethod: string, path: string, { code }: ApiError): void {
  if (!log.isLevelEnabled("info")) return;
  const { requestId, door } = call;
  const line = { requestId, door, httpMethod, path: show(path), code: codeName(code), ...originOf(call) };
  log.info(line, "refused");
}
