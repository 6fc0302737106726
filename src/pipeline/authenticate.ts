import { type ApiError, unauthenticated } from "../aip/errors.ts";
import { parseBearer } from "../authn/bearer.ts";
import { TokenError, type Tokens, tokenErrorText } from "../authn/tokens.ts";
import type { Policy } from "../authz/policy.ts";
import type { Call } from "./call.ts";

export interface AuthenticateDeps {
  readonly tokens: Tokens;
  readonly policy: Policy;
}

/** Finds out who is calling and what they may do. Throws UNAUTHENTICATED; the reason in detail is for the log. */
export async function authenticate(call: Call, { tokens, policy }: AuthenticateDeps): Promise<void> {
  const bearer = parseBearer(call.header("authorization"));
  if ("problem" in bearer) {
    throw unauthenticated(
      bearer.problem === "missing" ? "a bearer token is required" : 'the Authorization header must be "Bearer <token>"',
    );
  }
  try {
    const verified = tokens.verify(bearer.token);
    const token = verified instanceof Promise ? await verified : verified;
    const access = await policy.accessOf(token.subject, token.narrowing);
    if (!access) throw unauthenticated("the identity of this token does not exist");
    call.caller = { uid: token.subject, token };
    call.access = access;
  } catch (error) {
    throw error instanceof TokenError ? refusal(error) : error;
  }
}

function refusal(error: TokenError): ApiError {
  return unauthenticated(tokenErrorText(error.reason), error);
}
