// The settings of connections to the database.
import { oneOf, toCount } from "./parse-setting.ts";
import { ConfigError, type RawSettings } from "./settings.ts";

/** Limits of the connections to the database, and how a pooler shares them. */
export interface DatabaseConfig {
  readonly poolSize: number;
  readonly sharesSessions: boolean;
  readonly connectTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

/** Validates the settings of connections to the database. */
export function toDatabaseConfig(raw: RawSettings): DatabaseConfig {
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
