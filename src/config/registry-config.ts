// Settings of the container registry that Gatehouse issues tokens for.
import { isUid } from "../model/uid.ts";
import { oneOf, toPattern, toPlainUrl } from "./parse-setting.ts";
import { ConfigError, defaultRegistryService, type RawSettings } from "./settings.ts";

/** The registry, and the group whose repositories it serves. */
export interface RegistryConfig {
  /** The audience of registry tokens, and of the tokens that registry clients sign in with. */
  readonly service: string;
  /** Whether other installations may have the same service name: a token for it may be meant for another one. */
  readonly isShared: boolean;
  /** The group that repository names are relative to; empty if names begin with an organization. */
  readonly group: string;
  /** The registry to read manifests from, without a trailing slash; empty to read none. */
  readonly url: string;
  /** `user:password` for reading manifests; empty to use our own tokens. */
  readonly credentials: string;
  /** Whether SBOMs are read from the registry. */
  readonly readsContents: boolean;
  /** The secret that registries send with notifications; empty to reject notifications. */
  readonly notificationSecret: string;
}

/**
 * Valid service names: each is an audience, an unquoted word in command lines, and the name of a folder in token
 * caches.
 */
export const serviceNamePattern = /^(?!\.{1,2}$)[A-Za-z0-9._:/-]{1,255}$/;

/** Shorter secrets can be guessed. */
const minSecretLength = 16;

const loopbackName = /^(?:localhost|127(?:\.\d{1,3}){3})(?:[:/]|$)/;

/** Parses the settings of the registry. The audiences of the API cannot be its service name. */
export function toRegistry(raw: RawSettings, audiences: readonly string[], isDevelopment: boolean): RegistryConfig {
  const service = toPattern(raw, "registry-service", serviceNamePattern, "the name of a registry");
  // A token for one of them must never be valid for the other.
  if (audiences.includes(service)) throw new ConfigError("registry-service: must not be an audience of the API.");
  // Clients request a token for the host in the names of images.
  if (service.includes("://")) throw new ConfigError("registry-service: must be a host, without a scheme.");
  const group = raw["registry-group"];
  if (group !== "" && !isUid(group)) throw new ConfigError(`registry-group: ${JSON.stringify(group)} is not a uid.`);
  const url = raw["registry-url"] === "" ? "" : toPlainUrl("registry-url", raw["registry-url"]);
  const credentials = raw["registry-credentials"];
  if (credentials !== "" && !/^[^:]+:./.test(credentials))
    throw new ConfigError("registry-credentials: must be user:password.");
  const notificationSecret = raw["registry-notification-secret"];
  if (notificationSecret !== "" && notificationSecret.length < minSecretLength)
    throw new ConfigError(`registry-notification-secret: must have at least ${minSecretLength} characters.`);
  const isShared = service === defaultRegistryService || (!isDevelopment && loopbackName.test(service));
  const readsContents = url !== "" && oneOf(raw, "image-contents", ["on", "off"]) === "on";
  return { service, isShared, group, url, credentials, readsContents, notificationSecret };
}
