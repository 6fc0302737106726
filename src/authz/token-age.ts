import type { VerifiedToken } from "../authn/caller.ts";
import { clockSkewSeconds } from "../base/clock.ts";

/**
 * Reports whether a token was issued before its identity was created, and so belongs to a deleted identity. A user who
 * deletes the account and returns gets the same uid, but not the old access (security case T15).
 */
export function predatesIdentity(
  { issuedAt, expiresAt }: Pick<VerifiedToken, "issuedAt" | "expiresAt">,
  createTime: number,
): boolean {
  // A valid token is at most an hour older than the identity, unless the clock was ahead and was set back.
  return issuedAt + clockSkewSeconds * 1000 < createTime && createTime < expiresAt;
}
