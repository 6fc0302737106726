import type { KeyAlgorithm } from "./signing-key.ts";

/** Where the discovery document is served, below the issuer (OpenID Connect Discovery 1.0 §4). */
export const discoveryPath = "/.well-known/openid-configuration";

/** Where the key set is served, below the issuer. */
export const keySetPath = "/.well-known/jwks.json";

/** The members of the discovery document that are true of this server. */
export interface DiscoveryDocument {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly response_types_supported: readonly string[];
  readonly subject_types_supported: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly KeyAlgorithm[];
  readonly claims_supported: readonly string[];
}

/**
 * What verifiers of our tokens need to know of the issuer (OpenID Connect Discovery 1.0 §3).
 *
 * The issuer is repeated byte for byte. The two endpoints are where people sign in and where tokens are exchanged: strict
 * libraries refuse a document without them, although neither serves OAuth clients of others.
 */
export function discoveryDocument(issuer: string): DiscoveryDocument {
  const base = issuer.replace(/\/$/, "");
  return {
    issuer,
    authorization_endpoint: `${base}/oauth`,
    token_endpoint: `${base}/sts/exchange`,
    jwks_uri: base + keySetPath,
    // Required, and §4.2 forbids an empty list: `id_token` is what issuers of workload tokens state.
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    // Both, whichever one is configured: after a change tokens of the other kind live on for their hour.
    id_token_signing_alg_values_supported: ["RS256", "ES256"],
    claims_supported: ["iss", "sub", "aud", "iat", "exp", "jti", "act", "cap", "email", "email_verified"],
  };
}
