import { type ApiError, resourceExhausted, unauthenticated } from "../aip/errors.ts";
import { parseBearer } from "../authn/bearer.ts";
import type { FailureBudget } from "../authn/failure-budget.ts";
import { TokenError, type Tokens, tokenErrorText } from "../authn/tokens.ts";
import type { Policy } from "../authz/policy.ts";
import type { Call } from "./call.ts";

export interface AuthenticateDeps {
  readonly tokens: Tokens;
  readonly policy: Policy;
  /** Bounds the bad tokens of one address. */
  readonly failures: FailureBudget;
}

/**
 * Finds out who is calling and what they may do. Throws UNAUTHENTICATED, the reason in detail being for the log, or
 * RESOURCE_EXHAUSTED when the caller's address has sent too many bad tokens.
 */
export async function authenticate(call: Call, deps: AuthenticateDeps): Promise<void> {
  const bearer = parseBearer(call.header("authorization"));
  if ("problem" in bearer) {
    throw unauthenticated(
      bearer.problem === "missing" ? "a bearer token is required" : 'the Authorization header must be "Bearer <token>"',
    );
  }
  try {
    const verified = verify(bearer.token, call, deps);
    const token = verified instanceof Promise ? await verified : verified;
    const access = await deps.policy.accessOf(token.subject, token.narrowing, token.mappings);
    if (!access) throw unauthenticated("the identity of this token does not exist");
    call.caller = { uid: token.subject, token };
    call.access = access;
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    deps.failures.spend(call.peer);
    throw refusal(error);
  }
}

/** Security case D8: once an address has sent too many bad tokens, only those known to be good still pass for a while. */
function verify(token: string, { peer }: Call, { tokens, failures }: AuthenticateDeps) {
  if (!failures.isSpent(peer)) return tokens.verify(token);
  const known = tokens.recall(token);
  if (!known) throw resourceExhausted("too many bad tokens from this address; try again in a second");
  return known;
}

function refusal(error: TokenError): ApiError {
  return unauthenticated(tokenErrorText(error.reason), error);
}
