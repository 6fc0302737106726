// The secrets of the configuration, which a reload can replace.
import type { Config } from "./config.ts";

/** The current secrets. Callers ask each time and keep none. */
export interface LiveSecrets {
  /** Of this server at the operator's login provider; empty for a public client. */
  loginClientSecret(): string;
  /** `user:password` for reading manifests; empty to use tokens of our own. */
  registryCredentials(): string;
  /** What a registry shows when it notifies. */
  registryNotificationSecret(): string;
  /** Takes those of another configuration from now on. */
  renew(config: SecretConfig): void;
}

/** The part of the configuration that holds them. */
export type SecretConfig = Pick<Config, "login" | "registry">;

/** Begins with those of a configuration. */
export function newLiveSecrets(config: SecretConfig): LiveSecrets {
  let { login, registry } = config;
  return {
    loginClientSecret: () => login?.clientSecret ?? "",
    registryCredentials: () => registry.credentials,
    registryNotificationSecret: () => registry.notificationSecret,
    renew(next) {
      // Everybody has the empty secret: whether notifications are taken is decided at the start.
      const { notificationSecret } = next.registry.notificationSecret === "" ? registry : next.registry;
      ({ login } = next);
      registry = { ...next.registry, notificationSecret };
    },
  };
}
