import type { ServiceContext } from "../../resource/service-context.ts";
import type { Encryption } from "../../storage/installation/encryption.ts";

/** The access to discovery documents of issuers. */
export interface DiscoveryOptions {
  /** Returns the discovery document of an issuer, or undefined if it cannot be fetched. */
  readonly discover: (issuer: string) => Promise<Readonly<Record<string, unknown>> | undefined>;
}

/** The dependencies of kinds beyond those of all services. */
export interface KindOptions extends DiscoveryOptions {
  /** Encrypts client secrets. */
  readonly encryption: Encryption;
}

/** The dependencies of the service of a kind. */
export type KindContext = ServiceContext & KindOptions;
