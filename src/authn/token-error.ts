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

  constructor(reason: TokenErrorReason) {
    super(`token refused: ${reason}`);
    this.reason = reason;
  }
}

const genericText = "the access token is not valid for this service or has expired";

/**
 * What a caller is told about a refused token, for `unauthenticated`.
 *
 * The text is the same for all reasons, so that a forger learns nothing from it; a new reason must be listed here.
 */
export function tokenErrorText(reason: TokenErrorReason): string {
  switch (reason) {
    case "malformed":
    case "header":
    case "algorithm":
    case "unknown-key":
    case "signature":
    case "issuer":
    case "audience":
    case "expired":
    case "not-yet-valid":
    case "claims":
      return genericText;
  }
}
