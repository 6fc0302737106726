// Authenticates SCIM clients by the token of their identity provider.
import { timingSafeEqual } from "node:crypto";
import { unauthenticated } from "../aip/errors.ts";
import { type FailureLimiter, withFailureLimit } from "../authn/failure-limiter.ts";
import type { Clock } from "../base/clock.ts";
import { isUid } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { digestScimToken } from "../services/iam/identity-providers/scim-state.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Database } from "../storage/database.ts";
import { identityProviderCollection } from "../storage/iam/collections.ts";
import type { IdentityProviderRow } from "../storage/iam/provider-rows.ts";

/** The database, the clock and the limit of failures of authentication. */
export interface TokenOptions {
  readonly database: Pick<Database, "session">;
  readonly clock: Clock;
  readonly failures: FailureLimiter;
}

/** The path below which all requests are. */
export const scimPath = "/scim/v2/";

const header = /^bearer +(cgscim_[0-9a-f]{64}) *$/i;

/** Throws UNAUTHENTICATED for a request that cannot have a valid token, before its body is read. */
export function requireToken(call: Call): void {
  if (!header.test(call.header("authorization") ?? "")) throw refused();
}

/** Returns the provider. Throws UNAUTHENTICATED unless the request has a valid token of exactly this provider. */
export async function authenticate(
  { database, clock, failures }: TokenOptions,
  providerUid: string,
  call: Call,
): Promise<IdentityProviderRow> {
  return await withFailureLimit(failures, {
    source: call.clientAddress,
    async verify() {
      const token = header.exec(call.header("authorization") ?? "")?.[1];
      const row = isUid(providerUid)
        ? await findRow(database.session, identityProviderCollection, providerUid)
        : undefined;
      // The error is the same for a provider that does not exist.
      if (token === undefined || !row || !isValid(row, digestScimToken(token), clock())) throw refused();
      return row;
    },
  });
}

/** Whether a digest is that of the current token, or of the replaced one during the overlap. */
function isValid(row: IdentityProviderRow, digest: string, now: number): boolean {
  const { scimTokenDigest, scimExpireTime, scimPreviousDigest, scimPreviousExpireTime } = row;
  const isCurrent = isSame(scimTokenDigest, digest) && (scimExpireTime === null || scimExpireTime > now);
  const isPrevious = isSame(scimPreviousDigest, digest) && (scimPreviousExpireTime ?? 0) > now;
  return isCurrent || isPrevious;
}

/** Security case C1: digests have the same length, so the comparison reveals nothing. */
function isSame(stored: string | null, digest: string): boolean {
  return stored !== null && timingSafeEqual(Buffer.from(stored), Buffer.from(digest));
}

function refused() {
  return unauthenticated("a valid SCIM token of the identity provider is required");
}
