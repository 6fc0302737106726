// The WWW-Authenticate header of errors (RFC 6750 §3).
import { type ApiError, Code } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";

/** The part of a call that determines a challenge. */
export type ChallengedCall = Pick<Call, "header" | "caller">;

/**
 * Returns the challenge of an error; undefined if another token would not help. It has no `error` if the request brought no token (§3.1):
 * its client may not know yet that it needs one.
 */
export function challengeOf({ code, metadata }: ApiError, call: ChallengedCall): string | undefined {
  if (code === Code.UNAUTHENTICATED) return hasToken(call) ? 'Bearer error="invalid_token"' : "Bearer";
  const isDeniedToken = code === Code.PERMISSION_DENIED && metadata.capability !== undefined && isNarrowed(call);
  return isDeniedToken ? 'Bearer error="insufficient_scope"' : undefined;
}

/** Whether the Authorization header has a bearer token, valid or not. A header of another scheme has none. */
function hasToken(call: ChallengedCall): boolean {
  return /^\s*(?:bearer\s+\S|[\w-]+\.[\w-]+\.[\w-]+\s*$)/i.test(call.header("authorization") ?? "");
}

/** Whether the token was narrowed when it was issued: one that is not may then do more. */
function isNarrowed({ caller }: ChallengedCall): boolean {
  const narrowing = caller?.token.narrowing;
  return narrowing?.scopes !== undefined || narrowing?.capabilities !== undefined;
}
