import type { KeyAlgorithm } from "./signing-key.ts";

/** The path of the discovery document below the issuer (OpenID Connect Discovery 1.0 §4). */
export const discoveryPath = "/.well-known/openid-configuration";

/** The path of the same document for OAuth clients (RFC 8414 §3). */
export const metadataPath = "/.well-known/oauth-authorization-server";

/** The path of the key set below the issuer. */
export const keySetPath = "/.well-known/jwks.json";

/** The members of the discovery document that apply to this server. */
export interface DiscoveryDocument {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly grant_types_supported: readonly string[];
  readonly token_endpoint_auth_methods_supported: readonly string[];
  readonly response_types_supported: readonly string[];
  readonly subject_types_supported: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly KeyAlgorithm[];
  readonly claims_supported: readonly string[];
  /** Clients repeat a write only if the server takes idempotency keys. */
  readonly idempotency_keys_supported: true;
}

/**
 * Returns the discovery document for verifiers of our tokens (OpenID Connect Discovery 1.0 §3), and for OAuth clients
 * that exchange tokens (RFC 8414 §2).
 *
 * It repeats the issuer byte for byte. It names the sign-in endpoint because strict libraries reject a document without
 * it, although that serves no third-party OAuth clients.
 */
export function discoveryDocument(
  issuer: string,
  { path, grantTypes }: { readonly path: string; readonly grantTypes: readonly string[] },
): DiscoveryDocument {
  const base = issuer.replace(/\/$/, "");
  return {
    issuer,
    authorization_endpoint: `${base}/oauth`,
    token_endpoint: base + path,
    jwks_uri: base + keySetPath,
    grant_types_supported: grantTypes,
    // The token that is exchanged says who the client is.
    token_endpoint_auth_methods_supported: ["none"],
    // Required, and §4.2 forbids an empty list: `id_token` is what issuers of workload tokens use.
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    // Both algorithms, whichever is configured: after a change, tokens of the other algorithm are valid for up to an
    // hour.
    id_token_signing_alg_values_supported: ["RS256", "ES256"],
    claims_supported: ["iss", "sub", "aud", "iat", "exp", "jti", "act", "cap", "email", "email_verified"],
    // RFC 8414 §2 allows further members.
    idempotency_keys_supported: true,
  };
}
