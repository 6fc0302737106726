import type { VerifiedToken } from "../authn/caller.ts";
import { clockSkewSeconds } from "../base/clock.ts";

/**
 * Whether a token was made before its identity was, and so for a former one. People who delete their account and come back have
 * the same uid again, but what they had stays deleted (security case T15).
 */
export function isForFormerIdentity(
  { issuedAt, expiresAt }: Pick<VerifiedToken, "issuedAt" | "expiresAt">,
  createTime: number,
): boolean {
  // A token that is in force is not older than the identity by all of its hour, unless the clock was ahead and has been set back.
  return issuedAt + clockSkewSeconds * 1000 < createTime && createTime < expiresAt;
}
