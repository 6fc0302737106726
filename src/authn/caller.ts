import type { CapabilitySet } from "../model/capabilities.ts";

/** The limits that a token exchange put on a token. They only ever remove access. */
export interface Narrowing {
  /** Group uids: the token is valid in these groups and their subgroups only. Absent means no limit. */
  readonly scopes?: readonly string[] | undefined;
  /** The token has no capability besides these. Absent means no limit. */
  readonly capabilities?: CapabilitySet | undefined;
}

/** The content of a verified API token. */
export interface VerifiedToken {
  /** The uid of the identity. */
  readonly subject: string;
  readonly audience: readonly string[];
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Claims of the subject token of the exchange: at least `iss`, `sub` and `aud`. */
  readonly act: Readonly<Record<string, string>>;
  readonly email: string;
  readonly emailVerified: boolean;
  /** Whether a page in the browser of the person uses the token: the session of the browser issued it. False if absent. */
  readonly isOfBrowser?: boolean;
  readonly narrowing: Narrowing;
  /**
   * The uids of the external group role mappings of the session. They grant roles, besides the role bindings, for as
   * long as they exist.
   */
  readonly mappings?: readonly string[];
}

/** The authenticated caller of a request. */
export interface Caller {
  /** The uid of the identity. */
  readonly uid: string;
  readonly token: VerifiedToken;
}
