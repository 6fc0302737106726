// The secrets of the configuration, which a reload can replace.
import type { Config } from "./config.ts";

/** The current secrets. Callers read them each time and keep no copy. */
export interface LiveSecrets {
  /** Returns the client secret at the operator's login provider; empty for a public client. */
  loginClientSecret(): string;
  /** `user:password` for reading manifests; empty to use our own tokens. */
  registryCredentials(): string;
  /** Returns the secret that registries send with notifications. */
  registryNotificationSecret(): string;
  /** Replaces the secrets by those of another configuration. */
  renew(config: SecretConfig): void;
}

/** The part of the configuration with these secrets. */
export type SecretConfig = Pick<Config, "login" | "registry">;

/** Starts with the secrets of a configuration. */
export function newLiveSecrets(config: SecretConfig): LiveSecrets {
  let { login, registry } = config;
  return {
    loginClientSecret: () => login?.clientSecret ?? "",
    registryCredentials: () => registry.credentials,
    registryNotificationSecret: () => registry.notificationSecret,
    renew(next) {
      // An empty secret would match every client: whether notifications are accepted is decided at the start.
      const { notificationSecret } = next.registry.notificationSecret === "" ? registry : next.registry;
      ({ login } = next);
      registry = { ...next.registry, notificationSecret };
    },
  };
}
