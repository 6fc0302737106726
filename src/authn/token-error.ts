/** Why a token was refused: for the log and the metrics, never for the caller. */
export type TokenErrorReason =
  | "malformed"
  | "header"
  | "algorithm"
  | "unknown-key"
  | "signature"
  | "issuer"
  | "audience"
  | "expired"
  | "not-yet-valid"
  | "claims";

/** A token that is not one of ours, or not in force. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  readonly reason: TokenErrorReason;
  /** With the reason `audience`: one that would do. */
  readonly audience: string | undefined;

  constructor(reason: TokenErrorReason, audience?: string) {
    super(`token refused: ${reason}`);
    this.reason = reason;
    this.audience = audience;
  }
}

const genericText = "the access token is not valid for this service or has expired";

/**
 * What a caller is told about a refused token, for `unauthenticated`.
 *
 * The text is the same for all reasons but one, so that a forger learns nothing from it; a new reason must be listed
 * here. Our audiences are known to everybody, and what a token says it is for can be read by whoever holds it.
 */
export function tokenErrorText({ reason, audience }: TokenError): string {
  switch (reason) {
    case "audience":
      if (audience === undefined) return genericText;
      return `the access token is not for ${audience}; "gatehouse auth token --audience ${audience}" prints one that is`;
    case "malformed":
    case "header":
    case "algorithm":
    case "unknown-key":
    case "signature":
    case "issuer":
    case "expired":
    case "not-yet-valid":
    case "claims":
      return genericText;
  }
}
