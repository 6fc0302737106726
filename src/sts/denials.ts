// What a failed exchange tells: the check and what was presented, never what an identity has configured.
import { show as showText } from "../aip/clip.ts";
import { ApiError, Code, permissionDenied, unavailable } from "../aip/errors.ts";
import { OutboundError } from "../authn/outbound-error.ts";

/** The checks of a token that are not a comparison with an identity. */
export type VerificationCheck = "keys" | "alg" | "signature" | "exp" | "nbf" | "iat" | "token";

/** PERMISSION_DENIED: what was presented as a token is none. */
export function malformedToken(): ApiError {
  return verificationDenied("token", "malformed jwt: the token to exchange is not a signed JSON Web Token");
}

/** PERMISSION_DENIED: the claim is not what the identity asks for, or there is no such identity. */
export function claimDenied(claim: string, value: unknown): ApiError {
  const presented = show(value);
  const text = presented === "" ? "the presented token has none" : `the presented token has "${presented}"`;
  return permissionDenied(`invalid "${show(claim)}": ${text}`, { claim: show(claim), presented });
}

/** PERMISSION_DENIED: to find out whether the token fits would take too long. */
export function patternsDenied(): ApiError {
  return permissionDenied(
    "matching the patterns of the identity with the claims of the presented token takes too many steps",
  );
}

/** PERMISSION_DENIED: the token proves nothing. Clients know the beginning of the message. */
export function verificationDenied(check: VerificationCheck, description: string, cause?: unknown): ApiError {
  const message = `verifying token: oidc: ${description}`;
  return new ApiError(Code.PERMISSION_DENIED, message, { metadata: { check }, cause });
}

/** PERMISSION_DENIED: the signed request of an AWS identity proves nothing. */
export function awsDenied(check: string, description: string, cause?: unknown): ApiError {
  return new ApiError(Code.PERMISSION_DENIED, `verifying token: aws: ${description}`, { metadata: { check }, cause });
}

/** What becomes of a failure to ask AWS; other errors are passed through. */
export function awsUnreachable(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.failure === "untrusted") return unavailable(`AWS cannot be asked: ${error.message}`, error);
  if (error.failure === "unavailable") return unavailable("AWS does not answer", error);
  return awsDenied("signature", "AWS does not confirm the signature", error);
}

/** What becomes of a failure to get an issuer's keys; other errors are passed through. */
export function keysDenied(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.failure === "untrusted")
    return unavailable(`the issuer of the presented token cannot be asked: ${error.message}`, error);
  if (error.failure === "unavailable") return unavailable("the issuer of the presented token does not answer", error);
  return verificationDenied("keys", `the keys of the issuer cannot be used: ${error.message}`, error);
}

/** A value as it may appear in messages and logs: on one line, of limited length (security case L2). */
export function show(value: unknown): string {
  return showText(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}
