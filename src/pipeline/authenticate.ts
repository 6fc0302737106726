import { unauthenticated } from "../aip/errors.ts";
import { requireBearer } from "../authn/bearer.ts";
import type { VerifiedToken } from "../authn/caller.ts";
import { type FailureLimiter, tooManyFailures } from "../authn/failure-limiter.ts";
import { TokenError, tokenErrorText } from "../authn/token-error.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Access } from "../authz/access.ts";
import type { Policy } from "../authz/policy.ts";
import { type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import type { Call } from "./call.ts";

/** What finding out who calls rests on. */
export interface AuthenticateDeps {
  readonly tokens: Tokens;
  readonly policy: Policy;
  /** Bounds the bad tokens of one address. */
  readonly failures: FailureLimiter;
}

const usualScheme = "Bearer ";

/**
 * Finds out who is calling and what they may do: at once where the token and the grants are known already.
 *
 * Throws, or rejects with, UNAUTHENTICATED, whose cause is for the log, and RESOURCE_EXHAUSTED when the caller's address has
 * sent too many bad tokens.
 */
export function authenticate(call: Call, deps: AuthenticateDeps): MaybePromise<void> {
  const header = call.header("authorization");
  const known = recall(header, call, deps);
  if (known) return findAccess(call, known, deps);
  const bearer = requireBearer(header, "a bearer token");
  const refuse = (error: unknown): never => {
    if (!(error instanceof TokenError)) throw error;
    deps.failures.spend(call.clientAddress);
    throw unauthenticated(tokenErrorText(error), error);
  };
  let verified: VerifiedToken | Promise<VerifiedToken>;
  try {
    verified = verify(bearer, call, deps);
  } catch (error) {
    return refuse(error);
  }
  return verified instanceof Promise
    ? verified.then((token) => findAccess(call, token, deps), refuse)
    : findAccess(call, verified, deps);
}

/** A token that is known to be good, sent as nearly everybody does, need not be looked at letter by letter. */
function recall(
  header: string | undefined,
  { connection }: Call,
  { tokens }: AuthenticateDeps,
): VerifiedToken | undefined {
  return header?.startsWith(usualScheme) ? tokens.cached(header.slice(usualScheme.length), connection) : undefined;
}

function findAccess(call: Call, token: VerifiedToken, { policy }: AuthenticateDeps): MaybePromise<void> {
  return mapMaybe(policy.accessOf(token), (access) => admit(call, token, access));
}

/**
 * Brings what the caller may do up to date before a denial: another node may have granted it a moment ago. Answers whether anything
 * has changed, so that the denial may be another one now.
 */
export async function renewAccess(call: Call, { policy }: Pick<AuthenticateDeps, "policy">): Promise<boolean> {
  const { caller, access: known } = call;
  if (!caller || !known) return false;
  const access = await policy.latestAccessOf(caller.token);
  if (access?.epoch === known.epoch) return false;
  admit(call, caller.token, access);
  return true;
}

function admit(call: Call, token: VerifiedToken, access: Access | undefined): void {
  if (!access) throw unauthenticated("the identity of this token does not exist");
  call.caller = { uid: token.subject, token };
  call.access = access;
}

/** Security case D8: once an address has sent too many bad tokens, only those known to be good still pass for a while. */
function verify(
  token: string,
  { clientAddress }: Call,
  deps: AuthenticateDeps,
): VerifiedToken | Promise<VerifiedToken> {
  if (!deps.failures.isSpent(clientAddress)) return deps.tokens.verify(token);
  const known = deps.tokens.cached(token);
  if (!known) throw tooManyFailures();
  return known;
}
