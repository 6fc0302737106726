// What becomes of a SCIM token: the columns after each step. Pure; times are milliseconds since the epoch.
import { createHash, randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  IdentityProvider_SCIM_CredentialState as CredentialState,
  type IdentityProvider_SCIMSchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { ScimColumns } from "../../../storage/iam/provider-rows.ts";

/** The columns of a provider that never had a token. */
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

/** A new token: `cgscim_` and 64 hexadecimal digits. */
export function newScimToken(): string {
  return `cgscim_${randomBytes(32).toString("hex")}`;
}

/** What is kept of a token. A plain hash is enough for 256 random bits. */
export function digestScimToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Whether there ever was a token. */
export function wasIssued({ scimTokenDigest, scimRevokeTime }: ScimColumns): boolean {
  return scimTokenDigest !== null || scimRevokeTime !== null;
}

/** With another token; the one before is accepted until `overlapEnd`, unless it is dead or dies before. */
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

/** With no token that is accepted, as it was where none is. Whether provisioning is switched on stays as it is. */
export function revoked(scim: ScimColumns, now: number): ScimColumns {
  if (scim.scimRevokeTime !== null) return scim;
  return { ...newScim(), scimEnabled: scim.scimEnabled, scimRevokeTime: now };
}

/** Switched on or off, as it was where it is so already. */
export function switched(scim: ScimColumns, scimEnabled: boolean): ScimColumns {
  if (scim.scimEnabled === scimEnabled) return scim;
  return { ...scim, scimEnabled, scimEtag: newEtag() };
}

/** The columns as callers see them. */
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

/** Until when the replaced token is accepted; undefined when it is not. */
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
