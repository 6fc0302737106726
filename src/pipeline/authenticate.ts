import { streamEnded, unauthenticated } from "../aip/errors.ts";
import { requireBearer } from "../authn/bearer.ts";
import type { VerifiedToken } from "../authn/caller.ts";
import { countFailure, type FailureLimiter } from "../authn/failure-limiter.ts";
import { TokenError, tokenErrorText } from "../authn/token-error.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Access } from "../authz/access.ts";
import type { Policy } from "../authz/policy.ts";
import { isPromise, type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import { traced } from "../base/tracing.ts";
import { callerOf } from "./authorize.ts";
import type { Call } from "./call.ts";

/** The dependencies of authentication. */
export interface AuthenticateDeps {
  readonly tokens: Tokens;
  readonly policy: Policy;
  /** Limits the rejected tokens of one address. */
  readonly failures: FailureLimiter;
}

const usualScheme = "Bearer ";

/**
 * Authenticates the caller and loads its access: synchronously if token and grants are cached.
 *
 * Throws or rejects with UNAUTHENTICATED, whose cause is for the log, and with RESOURCE_EXHAUSTED if the address of the client has sent too
 * many rejected tokens.
 */
export function authenticate(call: Call, deps: AuthenticateDeps): MaybePromise<void> {
  const header = call.header("authorization");
  const known = recall(header, call, deps);
  if (known) return findAccess(call, known, deps);
  const bearer = requireBearer(header, "a bearer token");
  const refuse = (error: unknown): never => {
    if (!(error instanceof TokenError)) throw error;
    // Security case D8. Checking a token costs less than the request that carries it, so valid ones are never rejected.
    throw countFailure(deps.failures, call.clientAddress, unauthenticated(tokenErrorText(error), error));
  };
  let verified: VerifiedToken | Promise<VerifiedToken>;
  try {
    verified = verify(bearer, deps);
  } catch (error) {
    return refuse(error);
  }
  return verified instanceof Promise
    ? verified.then((token) => findAccess(call, token, deps), refuse)
    : findAccess(call, verified, deps);
}

/** Returns the cached token of the usual form of the header, without parsing it. */
function recall(
  header: string | undefined,
  { connection }: Call,
  { tokens }: AuthenticateDeps,
): VerifiedToken | undefined {
  return header?.startsWith(usualScheme) ? tokens.cached(header.slice(usualScheme.length), connection) : undefined;
}

function findAccess(
  call: Call,
  token: VerifiedToken,
  { policy }: Pick<AuthenticateDeps, "policy">,
): MaybePromise<void> {
  return mapMaybe(policy.accessOf(token), (access) => admit(call, token, access));
}

/**
 * Reloads the access of the caller after a denial: another node may just have granted it. Returns whether it has changed, and the call
 * is worth a retry.
 */
export async function renewAccess(call: Call, { policy }: Pick<AuthenticateDeps, "policy">): Promise<boolean> {
  const { caller, access: known } = call;
  if (!caller || !known) return false;
  const access = await policy.latestAccessOf(caller.token);
  if (access?.epoch === known.epoch) return false;
  admit(call, caller.token, access);
  return true;
}

/** Sets the access of an authenticated caller to that of now. Rejects with UNAUTHENTICATED if its identity is gone. */
export function refreshAccess(call: Call, deps: Pick<AuthenticateDeps, "policy">): MaybePromise<void> {
  return findAccess(call, callerOf(call).token, deps);
}

/**
 * Sets the access of the caller of a stream to that at an access epoch. Throws or rejects with the end of the stream if the token has
 * expired since, or its key was retired, or its identity is gone.
 */
export function renewStream(call: Call, epoch: number, deps: AuthenticateDeps): MaybePromise<void> {
  const bearer = requireBearer(call.header("authorization"), "a bearer token");
  const end = (error: unknown): never => {
    throw error instanceof TokenError ? tokenEnded() : error;
  };
  const find = (token: VerifiedToken) =>
    mapMaybe(deps.policy.accessAt(epoch, token), (access) => {
      if (!access) throw tokenEnded();
      admit(call, token, access);
    });
  try {
    const verified = deps.tokens.verify(bearer);
    return isPromise(verified) ? verified.then(find, end) : find(verified);
  } catch (error) {
    return end(error);
  }
}

function tokenEnded() {
  return streamEnded("the token is no longer valid; call again with another one and the last `resume_after`");
}

function admit(call: Call, token: VerifiedToken, access: Access | undefined): void {
  if (!access) throw unauthenticated("the identity of this token does not exist");
  call.caller = { uid: token.subject, token };
  call.access = access;
}

function verify(token: string, { tokens }: AuthenticateDeps): VerifiedToken | Promise<VerifiedToken> {
  const verified = traced({ name: "verify token" }, () => tokens.verify(token));
  return verified as VerifiedToken | Promise<VerifiedToken>;
}
