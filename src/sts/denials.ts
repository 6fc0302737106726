// The errors of a failed exchange. They contain the failed check and what the caller sent, never what an identity
// requires.

import { ApiError, Code, permissionDenied, unavailable } from "../aip/errors.ts";
import { show as showText } from "../base/clip.ts";
import type { NameProblem } from "../model/trust.ts";
import { noPublicAddressText } from "../outbound/addresses.ts";
import { OutboundError } from "../outbound/error.ts";

/** The checks of a token that do not depend on an identity. */
export type VerificationCheck = "typ" | "keys" | "alg" | "signature" | "exp" | "nbf" | "iat" | "token";

/** PERMISSION_DENIED: the subject token is malformed. */
export function malformedToken(): ApiError {
  return verificationDenied("token", "malformed jwt: the token to exchange is not a signed JSON Web Token");
}

/** PERMISSION_DENIED: the claim does not match, or the identity does not exist. */
export function claimDenied(claim: string, value: unknown): ApiError {
  const presented = show(value);
  const text = presented === "" ? "the subject token has none" : `the subject token has "${presented}"`;
  return permissionDenied(`invalid "${show(claim)}": ${text}`, { claim: show(claim), presented });
}

/** PERMISSION_DENIED: the request names neither an identity nor a group, and the token is about no registered person. */
export function unknownPersonDenied(): ApiError {
  return permissionDenied(
    "no person is registered with the issuer and subject of the token: a workload names its identity, or a group in which it is",
  );
}

/** PERMISSION_DENIED: no identity below the groups in the request can be assumed, for any reason. */
export function noneBelowDenied({ iss, sub, aud }: Readonly<Record<string, unknown>>): ApiError {
  const presented = { iss: show(iss), sub: show(sub), aud: show(aud) };
  return permissionDenied(
    `no identity in the group accepts the subject token with the issuer "${presented.iss}", the subject ` +
      `"${presented.sub}" and the audience "${presented.aud}": name the identity to learn which check fails`,
    presented,
  );
}

/** PERMISSION_DENIED: identities below the groups in the request have the same issuer and subject, and accept the token. */
export function ambiguousDenied(): ApiError {
  const message = "Permission denied: several identities in the group accept the subject token: name one";
  return new ApiError(Code.PERMISSION_DENIED, message, { reason: "IDENTITY_AMBIGUOUS" });
}

/**
 * PERMISSION_DENIED: the token matches the rule, and a name of its workload comes with another id than the pinned one, which the error
 * does not contain.
 */
export function nameDenied({ kind, name, id, reason }: NameProblem): ApiError {
  const shown = `${kind.replaceAll("_", " ")} ${name === "" ? "of the subject token" : `"${show(name)}"`}`;
  const problems = {
    NAME_REUSED: `the ${shown} has another id than before, "${show(id)}": another owner may have taken the name`,
    ID_MISSING: `the ${shown} was pinned to an id, and the subject token has none`,
    NAME_UNKNOWN: `the ${shown} is not among the pinned names of the identity`,
  };
  const message =
    `Permission denied: ${problems[reason]}. If this is meant, run "gatehouse iam trust accept" for the identity; ` +
    "its name policy, or --pin-names=off for the installation, turns the comparison off";
  return new ApiError(Code.PERMISSION_DENIED, message, {
    reason,
    metadata: { kind, name: show(name), presented: show(id) },
  });
}

/** Returns the check that an error denies: a claim, one of the token itself, or `name:` and a kind; undefined for other errors. */
export function failedCheckOf({ metadata: { check, claim, kind } }: ApiError): string | undefined {
  return check ?? claim ?? (kind === undefined ? undefined : `name:${kind}`);
}

/** PERMISSION_DENIED: comparing the token with the patterns would take too long. */
export function patternsDenied(): ApiError {
  return permissionDenied(
    "matching the patterns of the identity with the claims of the subject token takes too many steps",
  );
}

/** PERMISSION_DENIED: the token could not be verified. Clients know the beginning of the message. */
export function verificationDenied(check: VerificationCheck, description: string, cause?: unknown): ApiError {
  const message = `verifying token: oidc: ${description}`;
  return new ApiError(Code.PERMISSION_DENIED, message, { metadata: { check }, cause });
}

/** PERMISSION_DENIED: the signed AWS request could not be verified. */
export function awsDenied(check: string, description: string, cause?: unknown): ApiError {
  return new ApiError(Code.PERMISSION_DENIED, `verifying token: aws: ${description}`, { metadata: { check }, cause });
}

/** Translates a failed request to AWS. Other errors are returned unchanged. */
export function awsUnreachable(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.failure === "untrusted") return unavailable(`AWS cannot be asked: ${error.message}`, error);
  if (error.failure === "unavailable") return unavailable("AWS does not answer", error);
  return awsDenied("signature", "AWS does not confirm the signature", error);
}

/** Translates a failure to fetch an issuer's keys. Other errors are returned unchanged. */
export function keysDenied(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.failure === "untrusted")
    return unavailable(`the issuer of the subject token cannot be asked: ${error.message}`, error);
  if (error.failure === "unavailable") {
    // Other messages could tell what a private network has.
    const reason = error.message === noPublicAddressText ? `: ${error.message}` : "";
    return unavailable(`the issuer of the subject token does not answer${reason}`, error);
  }
  return verificationDenied("keys", `the keys of the issuer cannot be used: ${error.message}`, error);
}

/** Formats a value for messages and logs: one line of limited length (security case L2). */
export function show(value: unknown): string {
  return showText(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}
