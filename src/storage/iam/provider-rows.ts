// The rows of identity providers, their mappings, and accepted terms.
import type { ResourceRow } from "../collection/collection.ts";

/** The state of a provider's SCIM token. Digests are SHA-256 in hexadecimal. */
export interface ScimColumns {
  readonly scimEnabled: boolean;
  /** Changes with every change of these columns. */
  readonly scimEtag: string;
  readonly scimTokenDigest: string | null;
  /** Null for a token that never expires. */
  readonly scimExpireTime: number | null;
  readonly scimPreviousDigest: string | null;
  readonly scimPreviousExpireTime: number | null;
  readonly scimRevokeTime: number | null;
}

/** An identity provider as it is stored. */
export interface IdentityProviderRow extends ResourceRow, ScimColumns {
  readonly parent: string;
  readonly name: string;
  readonly description: string;
  readonly defaultRole: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Encrypted; `client-secret.ts` decrypts it. */
  readonly clientSecret: string | null;
  readonly additionalScopes: string[];
  readonly groupsClaim: string;
  readonly correlationRule: number;
  readonly pkceEnabled: boolean;
  readonly updateTime: number;
}

/** An external group role mapping as it is stored. */
export interface ExternalGroupRoleMappingRow extends ResourceRow {
  /** The uid of the identity provider. */
  readonly parent: string;
  readonly externalGroupId: string;
  readonly roleUid: string;
  readonly scope: string;
}

/** A terms acceptance as it is stored. */
export interface TermsAcceptanceRow extends ResourceRow {
  /** The uid of the group that the document was accepted for. */
  readonly parent: string;
  /** The id of the document. */
  readonly name: string;
  readonly acceptedBy: string;
}
