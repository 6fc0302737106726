// Composes the API: v2beta1 at the start, the other versions when the first client calls them.
import type { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { denialObserver } from "../access-log/denials.ts";
import { newDiscoverer } from "../authn/discoverer.ts";
import { once } from "../base/lazy.ts";
import { newNetworkList } from "../base/network-address.ts";
import { version } from "../base/version.ts";
import type { Config } from "../config/config.ts";
import { sendTestEvent } from "../events/test-event.ts";
import { type Metrics, newMetrics } from "../observe/metrics.ts";
import { fetchJson, outboundProblem } from "../outbound/http.ts";
import { type ComposeOptions, composeMethods, composeStreams } from "../pipeline/compose.ts";
import type { Handlers, Implementation } from "../pipeline/handlers.ts";
import { isMethodPath, type LazyMethods, withLazyMethods } from "../pipeline/lazy-methods.ts";
import type { MethodTable, StreamMethod } from "../pipeline/method.ts";
import { newObserver, type Observer } from "../pipeline/observe.ts";
import { newTurns } from "../pipeline/turns.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import type { ServiceContext, ServiceSettings } from "../resource/service-context.ts";
import { newChangeReader } from "../services/audit-log/watch/change-reader.ts";
import { newWatchAdmission } from "../services/audit-log/watch/watch-admission.ts";
import type { WatchContext } from "../services/audit-log/watch/watch-changes.ts";
import { eventDefinitions, methodEvents } from "../services/event-definitions.ts";
import { bindingOwnership } from "../services/iam/roles/own-bindings.ts";
import { isKnownAt, newEntrance } from "../services/iam/users/membership.ts";
import { type KeyedOptions, newTransactionCalls, type RunOn } from "../services/transaction-calls.ts";
import type { Forwarder } from "../transport/forwarding/forwarder.ts";
import type { V1Implementation } from "../v1/adapter.ts";
import { v1EventDefinitions } from "../v1/event-definitions.ts";
import * as v1 from "../v1/routes.ts";
import { v1Services } from "../v1/services.ts";
import { aliasMethods } from "../v2/alias.ts";
import type { ImageReading } from "./image-reading.ts";
import { limits } from "./limits.ts";
import { measureCaches } from "./metrics/cache-metrics.ts";
import { measureDatabase } from "./metrics/database-metrics.ts";
import { measureTokens } from "./metrics/token-metrics.ts";
import { operateOptions } from "./operate-options.ts";
import { eventSender, outboundOptions, sinkOptions } from "./outbound.ts";
import type { ServerContext } from "./server-context.ts";
import { exemptMethods, newServiceFinder, type ServiceDeps, services } from "./services.ts";
import type { ServerStorage } from "./storage.ts";
import type { ServerTokens } from "./tokens.ts";

/** All methods and their events. */
export interface Api {
  /** The methods of v2beta1. */
  readonly current: MethodTable;
  /** Those of the other versions. */
  readonly lazy: readonly LazyMethods[];
  /** The methods of all versions. */
  readonly methods: MethodTable;
  /** The methods whose response is a stream. */
  readonly streams: readonly StreamMethod[];
  /** Returns the event of a method or endpoint path, in any version; undefined if it causes none. */
  eventOf(path: string): EventDefinition | undefined;
}

/** The API of a server, and how its calls are observed. Disposing it ends the streams. */
export interface ServerApi extends Api, AsyncDisposable {
  readonly metrics: Metrics;
  /** Logs, counts and audits a call. */
  readonly observe: Observer;
}

/** Composes the API of a server over its storage. This process executes all calls if there is no forwarder. */
export function newServerApi(
  context: ServerContext,
  storage: ServerStorage,
  serverTokens: ServerTokens,
  forwarder: Forwarder | undefined,
  { sboms, registry }: ImageReading,
): ServerApi {
  const { config, clock, sharedMetrics } = context;
  const { database, encryption, pageTokenKey } = storage;
  const { tokens, policy, failures, tokenService } = serverTokens;
  const metrics = newMetrics(version, sharedMetrics);
  measureCaches(metrics, tokens, policy, database);
  measureDatabase(metrics, database);
  measureForwarding(metrics, forwarder);
  const observe = newApiObserver(context, storage, serverTokens, metrics);
  const watches = newWatches(context, storage, metrics);
  const api = composeApi(
    {
      watches,
      database,
      clock,
      pageTokenKey,
      settings: serviceSettings(config),
      ...tokenService,
      encryption,
      sboms,
      registry,
      discover: newConfiguredDiscoverer(config),
      sinkProblem: (sink) => outboundProblem(sink, sinkOptions(config)),
      sendTest: (to, type, by) =>
        sendTestEvent({ encryption, sender: eventSender(context, storage.keys) }, to, type, by),
      ...operateOptions(context, storage, metrics),
    },
    tokenService,
    {
      tokens,
      policy,
      failures,
      clock,
      observer: observe,
      domain: config.domain,
      enter: newEntrance(database, clock),
      ownsBinding: bindingOwnership(database),
      turns: newTurns(limits, clock),
      forward: forwarder?.forward,
    },
    { keptMs: config.idempotencyKeptMs, onReplay: measureReplays(metrics) },
  );
  return { ...api, metrics, observe, [Symbol.asyncDispose]: () => watches.reader[Symbol.asyncDispose]() };
}

/** Makes the reader of streams of changes, and counts the open ones. */
function newWatches(
  { clock, config, draining, log }: ServerContext,
  { database, pageTokenKey, onCommit }: ServerStorage,
  metrics: Metrics,
): WatchContext["watches"] {
  const admission = newWatchAdmission(config.maxWatches);
  metrics.gauge({ name: "gatehouse_watches", help: "Open streams of changes.", combined: "sum" }, () => admission.open);
  const logFailure = (error: unknown) => log.warn({ err: error }, "the change log could not be read for streams");
  const reader = newChangeReader({ database, clock, pageTokenKey, draining, onCommit, logFailure });
  return { admission, reader };
}

/** Returns the observer that logs, counts and audits calls. */
function newApiObserver(
  { log }: ServerContext,
  { database, keys }: ServerStorage,
  { accessLog, tokenService }: ServerTokens,
  metrics: Metrics,
): Observer {
  const isKnown = (uid: string, groupUid: string) => isKnownAt(database.session, uid, groupUid);
  return all(
    newObserver(log, metrics),
    denialObserver({ accessLog, log, isKnownAt: isKnown }),
    measureTokens(metrics, tokenService, keys),
  );
}

/** Returns the function that counts a replay. */
function measureReplays(metrics: Metrics): () => void {
  let replays = 0;
  metrics.counter(
    "gatehouse_idempotent_replays_total",
    "Calls with an idempotency key whose stored response was returned.",
    () => replays,
  );
  return () => {
    replays++;
  };
}

function measureForwarding(metrics: Metrics, forwarder: Forwarder | undefined): void {
  metrics.counters(
    "gatehouse_forwarded_calls_total",
    "Calls that write, in workers that forward them to the one that executes them.",
    "result",
    () => forwarder?.counts ?? {},
  );
}

function all(...observers: readonly Observer[]): Observer {
  return (...call) => {
    for (const observe of observers) observe(...call);
  };
}

function newConfiguredDiscoverer(config: Config) {
  const outbound = outboundOptions(config);
  return newDiscoverer({
    fetchJson: (url) => fetchJson(url, outbound),
    allowInsecureIssuers: config.dev,
    maxFetches: limits.discoveries,
  });
}

function serviceSettings(config: Config): ServiceSettings {
  return {
    baseUrl: config.baseUrl,
    rootGroups: config.rootGroups,
    pinNames: config.pinNames,
    maxDepth: limits.groupDepth,
    allowInsecureIssuers: config.dev,
    trustedEmailIssuers: config.trustedEmailIssuers,
    sharedEmailDomains: config.sharedEmailDomains,
    allowInsecureSinks: config.dev,
    privateSinks: newNetworkList(config.privateSinkNetworks),
    registryService: config.registry.service,
    registryGroup: config.registry.group,
    usesKeptMs: config.usesKeptMs,
    readsContents: config.registry.readsContents,
    termsDocuments: config.termsDocuments,
  };
}

/** Composes the methods of v2beta1. Throws if one has no access rule or no handler. */
export function composeApi(
  context: ServiceDeps,
  tokenService: Handlers<typeof SecurityTokenService>,
  options: Omit<ComposeOptions, "exempt" | "runInTransaction">,
  keyed: KeyedOptions,
): Api {
  const runInTransaction = newTransactionCalls(context, newRunOn(context, tokenService), keyed);
  const pipeline = { ...options, exempt: exemptMethods, runInTransaction };
  const v2beta1 = services(context, tokenService);
  const current = composeMethods(v2beta1, pipeline);
  const former = once(() => v1Services(v2beta1, context));
  const v1Methods = once(() => composeMethods(former(), pipeline, v2beta1));
  const lazy = [{ ...v1, methods: v1Methods }, ...aliasMethods(current)];
  const eventOf = eventFinder(context, current, former);
  const streams = composeStreams(v2beta1, pipeline);
  return { current, lazy, methods: withLazyMethods(current, lazy), streams, eventOf };
}

/** Returns the function that runs the handler of a method with other dependencies. Services of version 1 call those of v2beta1. */
function newRunOn(deps: ServiceDeps, tokenService: Handlers<typeof SecurityTokenService>): RunOn<ServiceDeps> {
  const finder = once(() => newServiceFinder(deps));
  return ({ descriptor: { parent, localName } }, context, request, call) => {
    const isOf = ({ service }: Implementation) => service.typeName === parent.typeName;
    const found = finder()(parent.typeName, context) ?? v1Services(services(context, tokenService), context).find(isOf);
    return found!.handlers[localName]!(request as never, call);
  };
}

/** Loads the event definitions with the first event, and those of version 1 if no other matches. */
function eventFinder(
  context: ServiceContext,
  current: MethodTable,
  former: () => readonly V1Implementation[],
): Api["eventOf"] {
  const byPath = once(() => pathsOf(eventDefinitions(context)));
  const formerByPath = once(() => pathsOf(v1EventDefinitions(former(), methodEvents(context))));
  const isFormer = (path: string) => isMethodPath(path) && !current.get(path);
  return (path) => byPath().get(path) ?? (isFormer(path) ? formerByPath().get(path) : undefined);
}

function pathsOf(definitions: readonly EventDefinition[]): ReadonlyMap<string, EventDefinition> {
  return new Map(definitions.map((definition) => [definition.cause, definition]));
}
