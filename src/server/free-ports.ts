// Looks whether the ports of a server are free, before it opens its database: a start that fails must leave no data.
import { once } from "node:events";
import { createServer } from "node:net";
import { hasCode } from "../base/system-error.ts";
import type { Config } from "../config/config.ts";
import type { Address } from "../config/listen-config.ts";
import { ConfigError, type SettingName } from "../config/settings.ts";

/** Rejects with a readable error if a port cannot be opened, such as one of another program. */
export async function requireFreePorts(config: Pick<Config, "host" | "port" | "metricsListen">): Promise<void> {
  await requireFree("listen", config);
  if (config.metricsListen) await requireFree("metrics-listen", config.metricsListen);
}

async function requireFree(name: SettingName, { host, port }: Address): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ host, port, exclusive: true }), "listening");
  } catch (error) {
    throw unopenedPort(name, { host, port }, error);
  }
  server.close();
  await once(server, "close");
}

/** Returns why a port cannot be opened, with the name of the setting. */
export function unopenedPort(name: SettingName, { host, port }: Address, error: unknown): unknown {
  if (hasCode(error, "EADDRINUSE"))
    return new Error(`${name}: ${host}:${port} is taken by another program; --${name} names another.`);
  const isForeign = hasCode(error, "EADDRNOTAVAIL") || hasCode(error, "ENOTFOUND");
  if (isForeign) return new ConfigError(`${name}: ${host} is not an address of this machine.`);
  if (hasCode(error, "EACCES")) return new ConfigError(`${name}: port ${port} is not for this user.`);
  return error;
}
