/** The part of a sign-in that only the sessions of browsers have. */
export interface BrowserSession {
  /** SHA-256 of the cookie that binds the session to the browser. */
  readonly browserDigest: string;
  /** The uids of the external group role mappings of the session. */
  readonly mappings: readonly string[];
}

/** The client that signed in. */
export interface SignInClient {
  readonly client?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** A sign-in: the user, the upstream claims and the provider. */
export interface SignIn {
  /** Claims of the upstream token: at least `iss`, `sub` and `aud`. */
  readonly act: Readonly<Record<string, string>>;
  readonly email?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  /** The uid of the organization's identity provider; empty for the operator's. */
  readonly provider: string;
  readonly audience: readonly string[];
  readonly scopes?: readonly string[] | undefined;
  /**
   * The upstream claims as JSON text, if an identity other than the user's own was assumed with them. Earlier versions
   * stored an object, whose numbers may be rounded.
   */
  readonly claims?: string | Readonly<Record<string, unknown>> | undefined;
  /** Absent in sign-ins of earlier versions. */
  readonly client?: SignInClient;
  /** Present if a browser holds the session: only the session endpoints accept its token. */
  readonly browser?: BrowserSession;
  /** When a token was last issued for it, in milliseconds since the epoch; absent before the first. */
  readonly lastUseTime?: number;
}
