import type { CapabilitySet } from "../model/capabilities.ts";

/** What a token was narrowed to at its exchange. A narrowing only ever takes away. */
export interface Narrowing {
  /** Group uids: nothing outside them and what lies below may be touched. Absent means no narrowing. */
  readonly scopes?: readonly string[];
  /** Capabilities beyond these are not in force. Absent means no narrowing. */
  readonly capabilities?: CapabilitySet;
}

/** An API token that has been verified. */
export interface VerifiedToken {
  /** The uid of the identity. */
  readonly subject: string;
  readonly audience: readonly string[];
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Claims of the outside token that was exchanged: at least `iss`, `sub` and `aud`. */
  readonly act: Readonly<Record<string, string>>;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly narrowing: Narrowing;
  /** The uids of the mappings of outside groups that hold besides the bindings, as long as they exist; none when absent. */
  readonly mappings?: readonly string[];
}

/** Who is calling. */
export interface Caller {
  /** The uid of the identity. */
  readonly uid: string;
  readonly token: VerifiedToken;
}
