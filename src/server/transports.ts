// Opens the ports of a server: the one of the API, and that of the metrics if they have their own.
import type { DescService } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { once } from "../base/lazy.ts";
import { newNetworkList } from "../base/network-address.ts";
import type { Certificate } from "../config/certificate.ts";
import type { Address } from "../config/listen-config.ts";
import { apiPages, consoleFolder, consolePages } from "../console/console-pages.ts";
import type { MethodTable } from "../pipeline/method.ts";
import type { Operation } from "../transport/connect/router.ts";
import type { HealthOptions } from "../transport/connect/streams/health.ts";
import { onExchange } from "../transport/http/exchange.ts";
import { defaultLimits, metricsLimits } from "../transport/listener/limits.ts";
import { type Listener, openListener } from "../transport/listener/listener.ts";
import type { Endpoints } from "../transport/pages/endpoints.ts";
import { newSite, type Pages, sendPage, text } from "../transport/pages/pages.ts";
import type { ServerApi } from "./api.ts";
import { openPortCertificate } from "./certificate.ts";
import { endpoints } from "./endpoints.ts";
import { unopenedPort } from "./free-ports.ts";
import type { LoginCheck } from "./login-check.ts";
import { measureCertificate } from "./metrics/token-metrics.ts";
import { openApiPages } from "./openapi-pages.ts";
import { limitsMetric } from "./operate-options.ts";
import { metricsPage, pages } from "./pages.ts";
import { newReadiness, type Readiness } from "./readiness.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";
import type { ServerTokens } from "./tokens.ts";
import { newTransportChain, type TransportChainOptions } from "./transport-chain.ts";

/** The open ports. Disposing them aborts the requests in progress. Metrics stay readable until the API is closed. */
export interface ServerTransports extends AsyncDisposable, Pick<Listener, "drain"> {
  readonly url: string;
  /** Uses another certificate for TLS handshakes from now on. Throws a ConfigError if it is worse than the one in use. */
  renewCertificate(next: Certificate): void;
  /** Marks the server as about to stop for probes and the health service. It still serves. */
  announceStop(): void;
}

/** Opens the ports. Rejects with a readable error if another program uses one. */
export async function openTransports(
  context: ServerContext,
  storage: ServerStorage,
  tokens: ServerTokens,
  api: ServerApi,
  login: LoginCheck,
  added: Endpoints,
): Promise<ServerTransports> {
  const { config, log } = context;
  const readiness = newReadiness(storage.database);
  await using opened = new AsyncDisposableStack();
  // Opened first, so it closes last.
  if (config.metricsListen)
    opened.use(await openMetricsListener(config.metricsListen, metricsPage(api.metrics, "anyone"), log));
  const listener = opened.use(await openApiListener(servedBy(context, storage, tokens, api, readiness, login, added)));
  api.metrics.counters(
    limitsMetric,
    "Connections and requests that were refused or ended for a limit of the listener.",
    "limit",
    () => listener.limitCounts,
  );
  const certificate = openPortCertificate(context);
  measureCertificate(api.metrics, () => certificate.current()?.cert);
  const closing = opened.move();
  return {
    url: listener.address.url,
    drain: (deadlineMs) => listener.drain(deadlineMs),
    renewCertificate: (next) => certificate.replace(next, listener.renewCertificate),
    announceStop: readiness.announceStop,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function servedBy(
  context: ServerContext,
  storage: ServerStorage,
  tokens: ServerTokens,
  api: ServerApi,
  readiness: Readiness,
  login: LoginCheck,
  added: Endpoints,
): TransportChainOptions {
  const { config, log, draining } = context;
  const { tokenService, registrySigner: signer } = tokens;
  return {
    config,
    log,
    api,
    draining,
    operations: operations(api.methods, { check: readiness.check, draining }),
    endpoints: {
      ...endpoints({ ...context, ...storage, ...tokens, ...tokenService, signer, methods: api.methods }),
      ...tokenService.signInEndpoints,
      ...(config.hasConsole && tokenService.sessionEndpoints),
      ...added,
    },
    pages: {
      ...pages(config, { ...readiness, detail: login.problem }, storage.keys, signer, api.metrics, log),
      ...openApiPages(api, config.baseUrl),
      ...tokenService.pages,
      ...(config.hasConsole ? consolePages({ ...config, folder: consoleFolder() }) : apiPages()),
    },
    mounts: tokenService.mounts,
    observe: api.observe,
  };
}

async function openApiListener(options: TransportChainOptions): Promise<Listener> {
  const { config, log } = options;
  const onError = (error: unknown) => log.warn({ err: error }, "a connection failed");
  return await openListener({
    host: config.host,
    port: config.port,
    ...(config.tls ? { tls: config.tls } : {}),
    hsts: config.hsts,
    limits: { ...defaultLimits, ...config.connections },
    ...(config.trustedProxies.length > 0 && { trustedProxies: newNetworkList(config.trustedProxies) }),
    ...newTransportChain(options, onError),
    onError,
    onBacklog: (connections, bytes) =>
      log.warn({ connections, bytes }, "closed connections whose clients did not read their responses"),
  }).catch((error) => {
    throw unopenedPort("listen", config, error);
  });
}

async function openMetricsListener(address: Address, metrics: Pages, log: Logger): Promise<Listener> {
  const site = newSite(
    metrics,
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
    throw unopenedPort("metrics-listen", address, error);
  });
}

/** Returns the health and reflection services by name. Each is loaded by the first request for it. */
function operations(methods: MethodTable, state: Omit<HealthOptions, "services">): Readonly<Record<string, Operation>> {
  const served = once((): DescService[] => [...new Set([...methods.values()].map((m) => m.descriptor.parent))]);
  const services = once(() => new Set(served().map((service) => service.typeName)));
  const health: Operation = async () => {
    const { addHealth } = await loadOperations();
    return (router) => addHealth(router, { ...state, services });
  };
  const reflection: Operation = async () => {
    const { addReflection } = await loadOperations();
    return (router) => addReflection(router, served());
  };
  return {
    "grpc.health.v1.Health": health,
    "grpc.reflection.v1.ServerReflection": reflection,
    "grpc.reflection.v1alpha.ServerReflection": reflection,
  };
}

function loadOperations() {
  return import("../transport/connect/streams/streams.ts");
}
