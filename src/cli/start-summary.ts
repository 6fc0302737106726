// The lines that a server prints after its start.
import { version } from "../base/version.ts";
import type { Config } from "../config/config.ts";
import type { LogOptions } from "../observe/log.ts";
import type { Server } from "../server/server.ts";

/** Returns the summary: enforcement, listener, workers, storage, issuer, secrets. */
export function startSummary(config: Config, server: Server): string {
  return [
    `Gatehouse ${version} listens on ${server.url} (gRPC, gRPC-web, Connect, REST)`,
    `  mode     ${config.dev ? "development: sample data, never for production" : "production"}; authorization is enforced`,
    ...(config.workers > 1 ? [`  workers  ${config.workers} processes`] : []),
    `  storage  ${server.database.dialect}${server.database.session.isRemote ? "" : ` ${config.databaseUrl}`}`,
    `  issuer   ${config.baseUrl}`,
    `  secrets  ${secretsState(server)}`,
  ].join("\n");
}

/** Describes how secrets are stored. */
function secretsState({ encryption: { keyId } }: Server): string {
  if (keyId !== undefined) return `encrypted with the key ${keyId}`;
  return "unencrypted, and no client secret is stored: set --secrets-key or GATEHOUSE_SECRETS_KEY";
}

/** Returns how to log: text for terminals, JSON for log collectors. */
export function logOptions({ logLevel: level, logFormat }: Config): LogOptions {
  if (logFormat !== "auto") return { level, format: logFormat };
  return { level, format: process.stderr.isTTY ? "text" : "json" };
}
