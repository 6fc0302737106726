// The state transitions of SCIM tokens, as pure functions of the columns. Times are milliseconds since the epoch.
import { createHash, randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  IdentityProvider_SCIM_CredentialState as CredentialState,
  type IdentityProvider_SCIMSchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { ScimColumns } from "../../../storage/iam/provider-rows.ts";

/** Returns the columns of a provider that never had a token. */
export function newScim(): ScimColumns {
  return {
    scimEnabled: false,
    scimEtag: newEtag(),
    scimTokenDigest: null,
    scimExpireTime: null,
    scimPreviousDigest: null,
    scimPreviousExpireTime: null,
    scimRevokeTime: null,
  };
}

/** Generates a token: `cgscim_` and 64 hexadecimal digits. */
export function newScimToken(): string {
  return `cgscim_${randomBytes(32).toString("hex")}`;
}

/** Returns the digest of a token for storage. An unsalted hash is enough for 256 random bits. */
export function digestScimToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Whether a token was ever issued. */
export function wasIssued({ scimTokenDigest, scimRevokeTime }: ScimColumns): boolean {
  return scimTokenDigest !== null || scimRevokeTime !== null;
}

/** Replaces the token. The previous one stays valid until `overlapEnd`, unless it expires earlier. */
export function withToken(
  scim: ScimColumns,
  token: { readonly digest: string; readonly expireTime: number | null },
  overlapEnd: number,
  now: number,
): ScimColumns {
  const overlaps = isLive(scim, now) && overlapEnd > now;
  return {
    scimEnabled: scim.scimEnabled,
    scimEtag: newEtag(),
    scimTokenDigest: token.digest,
    scimExpireTime: token.expireTime,
    scimPreviousDigest: overlaps ? scim.scimTokenDigest : null,
    scimPreviousExpireTime: overlaps ? Math.min(overlapEnd, scim.scimExpireTime ?? overlapEnd) : null,
    scimRevokeTime: null,
  };
}

/** Revokes all tokens. Returns the columns unchanged if they are revoked already. Keeps `scimEnabled`. */
export function revoked(scim: ScimColumns, now: number): ScimColumns {
  if (scim.scimRevokeTime !== null) return scim;
  return { ...newScim(), scimEnabled: scim.scimEnabled, scimRevokeTime: now };
}

/** Enables or disables provisioning. Returns the columns unchanged if they have that state already. */
export function switched(scim: ScimColumns, scimEnabled: boolean): ScimColumns {
  if (scim.scimEnabled === scimEnabled) return scim;
  return { ...scim, scimEnabled, scimEtag: newEtag() };
}

/** Converts the columns to their message. */
export function scimMessage(
  scim: ScimColumns,
  endpointUrl: string,
  now: number,
): MessageInitShape<typeof IdentityProvider_SCIMSchema> {
  const previousEnd = overlapEnd(scim, now);
  return {
    enabled: scim.scimEnabled,
    endpointUrl,
    credentialState: stateOf(scim, now),
    etag: scim.scimEtag,
    ...(scim.scimExpireTime !== null && { tokenExpireTime: toTimestamp(scim.scimExpireTime) }),
    ...(previousEnd !== undefined && { previousTokenExpireTime: toTimestamp(previousEnd) }),
  };
}

/** Returns when the previous token expires, or undefined if it is not valid. */
export function overlapEnd({ scimPreviousExpireTime: end }: ScimColumns, now: number): number | undefined {
  return end !== null && end > now ? end : undefined;
}

function stateOf(scim: ScimColumns, now: number): CredentialState {
  if (scim.scimRevokeTime !== null) return CredentialState.REVOKED;
  if (scim.scimTokenDigest === null) return CredentialState.NOT_ISSUED;
  if (!isLive(scim, now)) return CredentialState.EXPIRED;
  return overlapEnd(scim, now) === undefined ? CredentialState.LIVE : CredentialState.ROTATING;
}

function isLive({ scimTokenDigest, scimExpireTime }: ScimColumns, now: number): boolean {
  return scimTokenDigest !== null && (scimExpireTime === null || scimExpireTime > now);
}

function newEtag(): string {
  return randomBytes(16).toString("hex");
}
