// The composition root: opens the storage, composes the methods, opens the transports.
import type { Logger } from "pino";
import { type AccessLog, openAccessLog } from "../audit/access-log.ts";
import { denialObserver } from "../audit/denials.ts";
import { newDiscoverer } from "../authn/discoverer.ts";
import { newFailureLimiter } from "../authn/failure-limiter.ts";
import { openKeyRing } from "../authn/key-ring.ts";
import { fetchJson } from "../authn/outbound-http.ts";
import { newTokens, type Tokens } from "../authn/tokens.ts";
import { newPolicy, type Policy } from "../authz/policy.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { newNetworkList } from "../base/network-address.ts";
import { version } from "../base/version.ts";
import type { Config } from "../config/config.ts";
import { readKeyRing } from "../config/key-ring-file.ts";
import { newLiveSecrets } from "../config/live-secrets.ts";
import { ConfigError } from "../config/settings.ts";
import { deliverEvents, type EventDelivery } from "../events/dispatcher.ts";
import { type Metrics, newMetrics } from "../observe/metrics.ts";
import { newObserver, type Observer } from "../pipeline/observe.ts";
import { openRegistrySigner } from "../registry/signer.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { findActiveMappedRoles } from "../services/iam/delegations/active-delegations.ts";
import { subscriptionInactivity } from "../services/iam/delegations/inactive-delegations.ts";
import { syncBuiltInRoles } from "../services/iam/roles/built-in-role-rows.ts";
import { isKnownAt, newEntrance } from "../services/iam/users/membership.ts";
import type { Database } from "../storage/database.ts";
import { defaultDatabaseLimits } from "../storage/engine/dialect.ts";
import { findGrants } from "../storage/iam/grants.ts";
import { DecryptionError, type Encryption, newEncryption, replaceable } from "../storage/installation/encryption.ts";
import { keyStore } from "../storage/installation/signing-keys.ts";
import type { Listener } from "../transport/listener/listener.ts";
import { composeApi } from "./api.ts";
import { measureCaches } from "./cache-metrics.ts";
import { endpoints } from "./endpoints.ts";
import { reencryptSecrets, settleInstallation } from "./installation.ts";
import { limits } from "./limits.ts";
import { keepingOf, startMaintenance } from "./maintenance.ts";
import { openConfiguredDatabase, toRefusal } from "./open-database.ts";
import { openApiPages } from "./openapi-pages.ts";
import { operations } from "./operations.ts";
import { outboundOptions, sinkOptions } from "./outbound.ts";
import { metricsPage, pages } from "./pages.ts";
import { newReadiness } from "./readiness.ts";
import { reload } from "./reload.ts";
import type { StartHooks } from "./start-hooks.ts";
import { openTokenService } from "./token-service.ts";
import { openMetricsListener, openTransports } from "./transports.ts";

/** A running server. Disposing of it aborts all requests; `drain` does not. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  readonly tokens: Tokens;
  readonly policy: Policy;
  readonly seals: Encryption;
  /** Marks the server as about to stop for probes and the health service. It still serves. */
  announceStop(): void;
  /**
   * Applies certificate, secrets and log level of new settings. Rejects with a ConfigError, and changes nothing, if one
   * is invalid.
   */
  reload(config: Config): Promise<void>;
  /** Finishes the requests in progress, then closes everything. */
  drain(): Promise<void>;
}

/** Starts a server. Rejects before it listens if the configuration or the data does not allow it. */
export async function startServer(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  { admit, prepare }: StartHooks = {},
): Promise<Server> {
  const database = await openConfiguredDatabase(config, defaultDatabaseLimits, "create", (migrations, durationMs) =>
    log.info({ event: "database_migrated", migrations, durationMs }, "the database schema is up to date"),
  );
  try {
    await admit?.(database);
    return await serve(config, log, clock, database, prepare);
  } catch (error) {
    await database.close();
    throw error instanceof DecryptionError
      ? new ConfigError(`secrets-key: ${error.message}.`)
      : toRefusal(config, error);
  }
}

async function serve(
  config: Config,
  log: Logger,
  clock: Clock,
  database: Database,
  prepare: StartHooks["prepare"],
): Promise<Server> {
  const seals = replaceable(newEncryption(readKeyRing(config)));
  const secrets = newLiveSecrets(config);
  const pageTokenKey = await settleInstallation(config, database, seals, clock);
  await syncBuiltInRoles(database, clock());
  const keys = await openKeyRing(keyStore(database, seals, clock), {
    algorithm: config.signingAlgorithm,
    clock,
    refreshCooldownMs: limits.keyRefreshCooldownMs,
    patienceMs: limits.keyPatienceMs,
    maxAgeMs: limits.keyMaxAgeMs,
  });
  await reencryptSecrets(database, seals, clock, log);
  const tokens = newTokens({ issuer: config.baseUrl, audiences: [config.baseUrl], keys, clock });
  const policy = policyOver(database);
  const failures = newFailureLimiter({ perSecond: limits.badTokensPerSecond, sources: limits.badTokenSources }, clock);
  const accessLog = openAccessLog({ database, clock, log, limits });
  const tokenService = await openTokenService({
    config,
    database,
    clock,
    policy,
    tokens,
    failures,
    seals,
    secrets,
    log,
    accessLog,
  });
  const parts = serviceContext(config, { database, clock, pageTokenKey });
  const metrics = newMetrics(version);
  measureCaches(metrics, tokens, policy, database);
  const denials = {
    accessLog,
    log,
    isKnownAt: (uid: string, groupUid: string) => isKnownAt(database.session, uid, groupUid),
  };
  const observer = observerOf(newObserver(log, metrics), denialObserver(denials));
  const enter = newEntrance(database, clock);
  const pipeline = { tokens, policy, failures, clock, observer, domain: config.domain, enter };
  const api = composeApi(
    { ...parts, ...tokenService, encryption: seals, discover: discovererFor(config) },
    tokenService,
    pipeline,
  );
  const signerOptions = { issuer: config.baseUrl, service: config.registry.service, clock };
  const signer = await openRegistrySigner(database, seals, signerOptions);
  await prepare?.({ database, tokens, policy });
  const readiness = newReadiness(database);
  const stopping = new AbortController();
  const draining = stopping.signal;
  const listener = await openTransports({
    config,
    log,
    api,
    operations: operations(api.methods, { check: readiness.check, draining }),
    endpoints: endpoints({
      ...{ config, secrets, database, keys, signer, policy, failures, clock, log },
      ...{ ...tokenService, methods: api.methods },
    }),
    pages: {
      ...pages(config, readiness, keys, signer, metrics, log),
      ...openApiPages(api, config.baseUrl),
      ...tokenService.pages,
    },
    mounts: tokenService.mounts,
    observe: observer,
    draining,
  });
  metrics.counters(
    "gatehouse_limits_met_total",
    "Connections and requests that were refused or ended for a limit of the listener.",
    "limit",
    () => listener.limitCounts,
  );
  const metricsListener = await openOwnMetrics(config, metrics, log, listener);
  startMaintenance(database, keys, keepingOf(config), { clock, log, draining });
  const sender = { issuer: config.baseUrl, keys, clock, outbound: sinkOptions(config) };
  const delivery = config.deliversEvents
    ? deliverEvents({
        database,
        find: api.eventOf,
        inactivityOf: (uid) => subscriptionInactivity(database.session, uid),
        sender,
        log,
      })
    : undefined;
  metrics.counters(
    "gatehouse_event_deliveries_total",
    "Attempts to deliver an event to a subscription, and events that were given up.",
    "outcome",
    () => delivery?.counts ?? {},
  );
  const listeners = { listener, metricsListener };
  const renewableParts = { database, seals, secrets, listener, clock, log };
  return {
    ...running(config, { database, tokens, policy, seals, accessLog }, listeners, delivery, () => {
      readiness.announceStop();
      stopping.abort();
    }),
    announceStop: readiness.announceStop,
    reload: (next) => reload(renewableParts, next),
  };
}

/** Combines two observers. */
function observerOf(first: Observer, second: Observer): Observer {
  return (...call) => {
    first(...call);
    second(...call);
  };
}

/** Opens the separate listener of metrics, if it is configured. */
async function openOwnMetrics(
  { metricsListen }: Config,
  metrics: Metrics,
  log: Logger,
  main: Listener,
): Promise<Listener | undefined> {
  if (!metricsListen) return undefined;
  try {
    return await openMetricsListener(metricsListen, metricsPage(metrics, "anyone"), log);
  } catch (error) {
    await main[Symbol.asyncDispose]();
    throw error;
  }
}

function policyOver({ session, accessEpoch }: Database): Policy {
  return newPolicy({
    findGrants: (uid) => findGrants(session, uid),
    findMappedRoles: (uids) => findActiveMappedRoles(session, uids),
    epoch: () => accessEpoch.current(),
    latestEpoch: () => accessEpoch.latest(),
  });
}

function discovererFor(config: Config) {
  const outside = outboundOptions(config);
  return newDiscoverer({
    fetchJson: (url) => fetchJson(url, outside),
    allowInsecureIssuers: config.dev,
    maxFetches: limits.discoveries,
  });
}

function running(
  config: Config,
  { accessLog, ...parts }: Pick<Server, "database" | "tokens" | "policy" | "seals"> & { accessLog: AccessLog },
  { listener, metricsListener }: { listener: Listener; metricsListener: Listener | undefined },
  delivery: EventDelivery | undefined,
  stop: () => void,
): Omit<Server, "announceStop" | "reload"> {
  let closed: Promise<void> | undefined;
  const close = (finish: () => readonly (PromiseLike<void> | undefined)[]) => {
    stop();
    // Metrics stay readable until everything else has stopped.
    closed ??= Promise.all(finish())
      .then(() => metricsListener?.[Symbol.asyncDispose]())
      .then(() => accessLog[Symbol.asyncDispose]())
      .then(() => parts.database.close());
    return closed;
  };
  return {
    url: listener.address.url,
    ...parts,
    drain: () => close(() => [listener.drain(config.drainTimeoutMs), delivery?.drain(config.drainTimeoutMs)]),
    [Symbol.asyncDispose]: () => close(() => [listener[Symbol.asyncDispose](), delivery?.[Symbol.asyncDispose]()]),
  };
}

function serviceContext(config: Config, parts: Omit<ServiceContext, "settings">): ServiceContext {
  return {
    ...parts,
    settings: {
      baseUrl: config.baseUrl,
      rootGroups: config.rootGroups,
      maxDepth: limits.groupDepth,
      allowInsecureIssuers: config.dev,
      trustedEmailIssuers: config.trustedEmailIssuers,
      sharedEmailDomains: config.sharedEmailDomains,
      allowInsecureSinks: config.dev,
      privateSinks: newNetworkList(config.privateSinkNetworks),
      registryService: config.registry.service,
      termsDocuments: config.termsDocuments,
    },
  };
}
