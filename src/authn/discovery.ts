import type { KeyAlgorithm } from "./signing-key.ts";

/** Where the discovery document is served, below the issuer (OpenID Connect Discovery 1.0 §4). */
export const discoveryPath = "/.well-known/openid-configuration";

/** Where the key set is served, below the issuer. */
export const keySetPath = "/.well-known/jwks.json";

/** The members of the discovery document that are true of this server. */
export interface DiscoveryDocument {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly response_types_supported: readonly string[];
  readonly subject_types_supported: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly KeyAlgorithm[];
  readonly claims_supported: readonly string[];
}

/**
 * What verifiers of our tokens need to know of the issuer (OpenID Connect Discovery 1.0 §3).
 *
 * The issuer is repeated byte for byte. No endpoint is named that a browser could be sent to, since there is none.
 */
export function discoveryDocument(issuer: string): DiscoveryDocument {
  return {
    issuer,
    jwks_uri: issuer.replace(/\/$/, "") + keySetPath,
    // Required, and §4.2 forbids an empty list: `id_token` is what issuers of workload tokens state.
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    // Both, whichever one is configured: after a change tokens of the other kind live on for their hour.
    id_token_signing_alg_values_supported: ["RS256", "ES256"],
    claims_supported: ["iss", "sub", "aud", "iat", "exp", "jti", "act", "cap", "email", "email_verified"],
  };
}
