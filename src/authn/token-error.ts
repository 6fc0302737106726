/** Why a token was rejected: for logs and metrics, never for the caller. */
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

/** A token that was not issued by us or is not valid now. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  readonly reason: TokenErrorReason;
  /** For the reason `audience`: an accepted audience. */
  readonly audience: string | undefined;

  constructor(reason: TokenErrorReason, audience?: string) {
    super(`token refused: ${reason}`);
    this.reason = reason;
    this.audience = audience;
  }
}

const genericText = "the access token is not valid for this service or has expired";

/**
 * Returns the message for the caller of a rejected token, for `unauthenticated`.
 *
 * The text is the same for all reasons but one, so an attacker learns nothing from it; a new reason must be listed
 * here. Our audiences are public, and the audience of a token is readable for its holder.
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
