// Validates the settings and converts them for the program.
import path from "node:path";
import { isLoopbackUrl } from "../base/address-ranges.ts";
import { dayMs, hourMs } from "../base/clock.ts";
import type { Network } from "../base/network-address.ts";
import type { NamePolicy } from "../model/trust.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { toDatabaseUrl, toReplicaUrl } from "./database-url.ts";
import {
  type Address,
  type ConnectionConfig,
  toAddress,
  toConnections,
  toMetricsListen,
  toOrigins,
  toTrustedProxies,
  toWorkers,
} from "./listen-config.ts";
import { type OutboundConfig, toOutboundConfig } from "./outbound-config.ts";
import { oneOf, toCount, toList, toPattern, toPlainUrl, toSecretsKeys, toSwitch } from "./parse-setting.ts";
import { type RegistryConfig, toRegistry } from "./registry-config.ts";
import { ConfigError, type RawSettings, type SettingName } from "./settings.ts";
import { type SignInConfig, toSignInConfig } from "./sign-in-config.ts";

/** All settings, validated. */
export interface Config extends SignInConfig, OutboundConfig {
  readonly dev: boolean;
  readonly host: string;
  readonly port: number;
  /** How many processes serve the port. */
  readonly workers: number;
  readonly connections: ConnectionConfig;
  /** Proxies whose forwarding headers are trusted. */
  readonly trustedProxies: readonly Network[];
  /** As browsers write them: scheme, host, and port unless it is the default. */
  readonly corsOrigins: readonly string[];
  /** Whether the console and its sessions are served. They need a base URL without a path. */
  readonly hasConsole: boolean;
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** The replicas that answer lists; undefined for none. */
  readonly replicaUrl: string | undefined;
  /** Whether opening the database applies pending migrations. */
  readonly migrates: boolean;
  readonly database: DatabaseConfig;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly audiences: readonly string[];
  readonly domain: string;
  readonly tls: Certificate | undefined;
  /** Whether responses over TLS have Strict-Transport-Security. */
  readonly hsts: boolean;
  readonly signingAlgorithm: "RS256" | "ES256";
  /** 32 bytes each: the first encrypts secrets, all decrypt them. Empty if none is set. */
  readonly secretsKeys: readonly Buffer[];
  readonly rootGroups: "anyone" | "operators";
  /** When names of workloads are pinned to their ids. */
  readonly pinNames: NamePolicy;
  readonly deliversEvents: boolean;
  readonly registry: RegistryConfig;
  /** The clients that may read the metrics on the port of the API, unless the metrics have a listener of their own. */
  readonly metrics: "loopback" | "anyone" | "nobody";
  /** The listener of metrics, if they have one of their own. */
  readonly metricsListen: Address | undefined;
  /** The retention of changes in the change log; undefined means forever. */
  readonly changesKeptMs: number | undefined;
  readonly shutdownDelayMs: number;
  /** The retention of entries about access in the audit log; undefined means forever. */
  readonly accessLogKeptMs: number | undefined;
  /** Whether the last use of each capability is stored. */
  readonly recordsUsage: boolean;
  /** How long access requests and access reviews are kept after they are over. */
  readonly accessRecordsKeptMs: number;
  /** How long the shapes of tokens are stored; 0 to store none. */
  readonly seenTokensKeptMs: number;
  /** How long the responses of calls with an idempotency key are stored. */
  readonly idempotencyKeptMs: number;
  /** The open streams of changes of one process; 0 allows none. */
  readonly maxWatches: number;
  /** How long uses of images are stored; 0 to record none. */
  readonly usesKeptMs: number;
  readonly drainTimeoutMs: number;
  readonly logLevel: string;
  readonly logFormat: "auto" | "json" | "text";
  readonly acceptIssuerChange: boolean;
}

/** Validates the settings. Throws a ConfigError that names the invalid one. */
export function toConfig(raw: RawSettings): Config {
  const dev = toSwitch(raw, "dev");
  const { host, port } = toAddress(raw, "listen", dev);
  const tls = readCertificate(raw);
  const dataDir = toDataDir(raw["data-dir"]);
  const listening = `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const baseUrl = toBaseUrl(raw["base-url"], dev, listening);
  const audiences = toList(raw.audiences);
  return {
    dev,
    host,
    port,
    workers: toWorkers(raw, dev),
    connections: toConnections(raw),
    trustedProxies: toTrustedProxies(raw),
    corsOrigins: toOrigins(raw),
    hasConsole: oneOf(raw, "console", ["on", "off"]) === "on" && new URL(baseUrl).pathname === "/",
    dataDir,
    ...toStorageConfig(raw, dataDir),
    baseUrl,
    audiences,
    domain: toPattern(raw, "domain", /^[a-z0-9-]+(\.[a-z0-9-]+)*$/, "a domain name"),
    tls,
    hsts: oneOf(raw, "hsts", ["on", "off"]) === "on",
    signingAlgorithm: oneOf(raw, "signing-algorithm", ["RS256", "ES256"]),
    secretsKeys: toSecretsKeys(raw["secrets-key"], "secrets-key"),
    rootGroups: oneOf(raw, "root-groups", ["anyone", "operators"]),
    pinNames: oneOf(raw, "pin-names", ["first-use", "explicit", "off"]),
    ...toSignInConfig(raw, dev),
    ...toOutboundConfig(raw),
    deliversEvents: oneOf(raw, "event-delivery", ["on", "off"]) === "on",
    registry: toRegistry(raw, [baseUrl, ...audiences], dev),
    recordsUsage: oneOf(raw, "access-usage", ["on", "off"]) === "on",
    maxWatches: toCount(raw, "max-watches", 0, 10_000),
    ...toMetrics(raw, dev),
    ...toRetentions(raw),
    shutdownDelayMs: 1000 * toCount(raw, "shutdown-delay", 0, 3600),
    drainTimeoutMs: 1000 * Number(toPattern(raw, "drain-timeout", /^\d{1,4}$/, "a number of seconds from 0 to 9999")),
    logLevel: oneOf(raw, "log-level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    logFormat: oneOf(raw, "log-format", ["auto", "json", "text"]),
    acceptIssuerChange: toSwitch(raw, "accept-issuer-change"),
  };
}

function toMetrics(raw: RawSettings, dev: boolean): Pick<Config, "metrics" | "metricsListen"> {
  return {
    metrics: oneOf(raw, "metrics", ["loopback", "anyone", "nobody"]),
    metricsListen: toMetricsListen(raw, dev),
  };
}

function toRetentions(raw: RawSettings) {
  return {
    changesKeptMs: toRetention(raw, "changes-kept"),
    accessLogKeptMs: toRetention(raw, "access-log-kept"),
    accessRecordsKeptMs: dayMs * toCount(raw, "access-records-kept", 1, 3650),
    seenTokensKeptMs: dayMs * toCount(raw, "seen-tokens-kept", 0, 400),
    idempotencyKeptMs: hourMs * toCount(raw, "idempotency-kept", 1, 168),
    usesKeptMs: dayMs * toCount(raw, "uses-kept", 0, 1100),
  };
}

function toStorageConfig(raw: RawSettings, dataDir: string) {
  return {
    ...toDatabaseUrls(raw, dataDir),
    migrates: oneOf(raw, "migrate", ["auto", "off"]) === "auto",
    database: toDatabaseConfig(raw),
  };
}

function toDataDir(text: string): string {
  if (text === "") throw new ConfigError("data-dir: must not be empty.");
  return path.resolve(text);
}

function toDatabaseUrls(raw: RawSettings, dataDir: string): Pick<Config, "databaseUrl" | "replicaUrl"> {
  const databaseUrl = toDatabaseUrl(raw["database-url"]) || defaultDatabase(dataDir);
  return { databaseUrl, replicaUrl: toReplicaUrl(raw["database-replica-url"], databaseUrl) };
}

/** Returns the path of the SQLite file if no database is named. */
export function defaultDatabase(dataDir: string): string {
  return path.join(dataDir, "gatehouse.db");
}

function toBaseUrl(text: string, dev: boolean, listening: string): string {
  if (text === "") {
    if (dev) return listening;
    throw new ConfigError(
      "base-url: is required in production, since tokens state it; set --base-url or GATEHOUSE_BASE_URL.",
    );
  }
  const url = toPlainUrl("base-url", text);
  // In development mode anyone may sign in as the owner.
  if (dev && !isOwnMachine(new URL(url)))
    throw new ConfigError(
      `base-url: development mode signs in anyone, so ${JSON.stringify(text)} is rejected; use an address of this machine.`,
    );
  return url;
}

/** RFC 6761 §6.3: names below `localhost` are loopback as well. */
function isOwnMachine(url: URL): boolean {
  return isLoopbackUrl(url) || url.hostname.endsWith(".localhost");
}

function toRetention(raw: RawSettings, name: SettingName): number | undefined {
  const days = toPattern(raw, name, /^(forever|[1-9]\d{0,4})$/, "forever, or a number of days from 1 to 99999");
  return days === "forever" ? undefined : Number(days) * dayMs;
}

/** Limits of the connections to the database, and how a pooler shares them. */
interface DatabaseConfig {
  readonly poolSize: number;
  readonly sharesSessions: boolean;
  readonly connectTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

/** Validates the settings of connections to the database. */
function toDatabaseConfig(raw: RawSettings): DatabaseConfig {
  const connectTimeoutMs = 1000 * toCount(raw, "database-connect-timeout", 1, 300);
  const lockTimeoutMs = 1000 * toCount(raw, "database-lock-timeout", 1, 300);
  if (connectTimeoutMs > lockTimeoutMs)
    throw new ConfigError("database-connect-timeout: must not be longer than database-lock-timeout.");
  return {
    poolSize: toCount(raw, "database-pool-size", 2, 1000),
    sharesSessions: oneOf(raw, "database-pooling", ["session", "transaction"]) === "transaction",
    connectTimeoutMs,
    lockTimeoutMs,
    statementTimeoutMs: 1000 * toCount(raw, "database-statement-timeout", 1, 3600),
  };
}
