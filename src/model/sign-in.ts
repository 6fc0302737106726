/** A sign-in: the user, the upstream claims and the provider. */
export interface SignIn {
  /** Claims of the upstream token: at least `iss`, `sub` and `aud`. */
  readonly act: Readonly<Record<string, string>>;
  readonly email?: string;
  readonly emailVerified?: boolean;
  /** The uid of the organization's identity provider; empty for the operator's. */
  readonly provider: string;
  readonly audience: readonly string[];
  readonly scopes?: readonly string[];
  /**
   * The upstream claims as JSON text, if an identity other than the user's own was assumed with them. Earlier versions
   * stored an object, whose numbers may be rounded.
   */
  readonly claims?: string | Readonly<Record<string, unknown>>;
}
