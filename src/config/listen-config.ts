// Settings of ports, worker processes, connections, trusted proxies and origins.
import { availableParallelism } from "node:os";
import { type Network, parseNetwork } from "../base/network-address.ts";
import { toCount, toList } from "./parse-setting.ts";
import { ConfigError, type RawSettings, type SettingName } from "./settings.ts";

/** The maximum number and age of connections. */
export interface ConnectionConfig {
  readonly maxConnections: number;
  readonly maxConnectionsPerClient: number;
  readonly maxConnectionsPerNetwork: number;
  readonly maxConnectionAgeMs: number | undefined;
}

/** An address to listen on. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Parses an address to listen on; in development mode only loopback is allowed. */
export function toAddress(raw: RawSettings, name: SettingName, dev: boolean): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(raw[name]);
  const port = Number(match?.[3]);
  if (!match || port < 1 || port > 65535)
    throw new ConfigError(`${name}: ${JSON.stringify(raw[name])} is not host:port with a port from 1 to 65535.`);
  const host = match[1] ?? match[2] ?? "";
  if (dev && !isLoopback(host))
    throw new ConfigError(`${name}: development mode serves loopback addresses only, not ${host}.`);
  return { host, port };
}

/** Parses the separate address of metrics; undefined if they have none. */
export function toMetricsListen(raw: RawSettings, dev: boolean): Address | undefined {
  if (raw["metrics-listen"] === "") return undefined;
  if (raw.metrics === "nobody")
    throw new ConfigError("metrics-listen: serves metrics, which metrics=nobody denies to everybody; set one of them.");
  if (raw["metrics-listen"] === raw.listen)
    throw new ConfigError(`metrics-listen: ${raw.listen} is where the API listens; choose another port.`);
  return toAddress(raw, "metrics-listen", dev);
}

const maxWorkers = 64;

/** Parses the number of processes that serve the port. */
export function toWorkers(raw: RawSettings, dev: boolean): number {
  const isAuto = raw.workers === "auto";
  const workers = isAuto
    ? Math.min(availableParallelism(), maxWorkers)
    : toCount(raw, "workers", 1, maxWorkers, "auto, or ");
  // The requests of one sign-in may reach several workers, and the development provider keeps its state in memory.
  if (dev && (isAuto || workers > 1))
    throw new ConfigError("workers: development mode runs as one process, which remembers its sign-ins; set 1.");
  return workers;
}

/** The maximum is the limit of open files on common systems (`ulimit -Hn`). */
const connectionBounds = [16, 65_536] as const;
const maxAgeSeconds = 86_400;

/** Parses the connection limits. */
export function toConnections(raw: RawSettings): ConnectionConfig {
  const maxConnections = toCount(raw, "max-connections", ...connectionBounds);
  const shareOf = (name: SettingName, usual: number) =>
    raw[name] === "" ? usual : toCount(raw, name, 1, maxConnections);
  const age = raw["max-connection-age"];
  return {
    maxConnections,
    maxConnectionsPerClient: shareOf("max-connections-per-client", Math.floor(maxConnections / 4)),
    maxConnectionsPerNetwork: shareOf("max-connections-per-network", Math.floor(maxConnections / 2)),
    maxConnectionAgeMs:
      age === "off" ? undefined : 1000 * toCount(raw, "max-connection-age", 1, maxAgeSeconds, "off, or "),
  };
}

/** More networks than the largest content delivery networks list. */
const maxTrustedProxies = 1000;

/** Parses the networks of trusted proxies. */
export function toTrustedProxies(raw: RawSettings): Network[] {
  const networks = toNetworks(raw, "trusted-proxies");
  if (networks.length > maxTrustedProxies)
    throw new ConfigError(`trusted-proxies: ${networks.length} networks are more than ${maxTrustedProxies}.`);
  // Every client could then claim any address.
  const everybody = networks.find(({ prefix }) => prefix === 0);
  if (everybody)
    throw new ConfigError(`trusted-proxies: ${everybody.address}/0 trusts every client; name the proxies.`);
  return networks;
}

/** Parses a list of networks. */
export function toNetworks(raw: RawSettings, name: SettingName): Network[] {
  return toList(raw[name]).map((text) => toNetwork(text, name));
}

function toNetwork(text: string, name: SettingName): Network {
  const network = parseNetwork(text);
  if (!network) throw new ConfigError(`${name}: ${JSON.stringify(text)} is not a network such as 10.0.0.0/8.`);
  return network;
}

/** More would be a mistake: each request with an origin searches the list. */
const maxOrigins = 100;

/** Parses the origins of pages that may call the API. */
export function toOrigins(raw: RawSettings): string[] {
  const origins = toList(raw["cors-origins"]);
  if (origins.length > maxOrigins)
    throw new ConfigError(`cors-origins: ${origins.length} origins are more than ${maxOrigins}.`);
  // `*` and `null` cannot be trusted: any page, and any sandboxed page, would match.
  const wrong = origins.find(
    (text) => !/^https?:[^*]+$/.test(text) || !URL.canParse(text) || new URL(text).origin !== text,
  );
  if (wrong === undefined) return origins;
  throw new ConfigError(
    `cors-origins: ${JSON.stringify(wrong)} is not an origin such as https://console.example.com: scheme, host, and port unless it is the usual one.`,
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
