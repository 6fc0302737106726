// Identities that a token may assume, and how they are found.
import type { Identity, Identity_ClaimMatch } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { Issuers } from "../authn/issuers.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Clock } from "../base/clock.ts";
import type { NamePolicy, Trust } from "../model/trust.ts";
import type { Audiences } from "./audiences.ts";
import type { Claims } from "./claim-match.ts";
import type { PresentedNames } from "./trust/pinned-names.ts";

/** The fields of an identity that token exchange needs. */
export interface AssumableIdentity {
  readonly uid: string;
  readonly relationship: Identity["relationship"];
  /** The user that the identity represents. Absent for all other identities. */
  readonly user?: { readonly issuer: string; readonly subject: string } | undefined;
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  readonly updateTime: number;
  /** Its pins, and the policy that is in force. */
  readonly pins: { readonly policy: NamePolicy; readonly trust: Trust };
  /** The reason why its static keys are not active. Absent if they are. */
  readonly inactivity?: string | undefined;
  /** The organizations that it created and owns, where it needs no keys in force. Present with `inactivity`. */
  readonly founded?: readonly string[] | undefined;
}

/** The claims that name the person of a token: those of the token itself, or the `act` of one that was exchanged for it. */
export interface PersonClaims {
  readonly iss?: unknown;
  readonly sub?: unknown;
}

/** Finds identities. */
export interface IdentityDirectory {
  find(uid: string): Promise<AssumableIdentity | undefined>;
  /**
   * Returns the identities below a group with exactly this issuer and subject in a claim match or static keys, at most
   * `maxCandidates`.
   */
  findByClaims(claims: {
    readonly groupUid: string;
    readonly issuer: string;
    readonly subject: string;
  }): Promise<AssumableIdentity[]>;
  /** Returns the registered user with this issuer and subject. */
  findUser(issuer: string, subject: string): Promise<AssumableIdentity | undefined>;
  /** Throws PERMISSION_DENIED if the organization of an identity has deactivated the person of these verified claims. */
  requireActivePerson(identityUid: string, claims: PersonClaims): Promise<void>;
  /**
   * Throws PERMISSION_DENIED if a name of a verified token is pinned to another id. Pins names at their first use, before it resolves.
   * Called last, when everything else lets the token in: the holders of other tokens must not learn what is pinned.
   */
  admitNames(identity: AssumableIdentity, presented: PresentedNames): Promise<void>;
  /** Records when an identity was last assumed, in milliseconds since the epoch, at most once a minute. */
  touch(uid: string, time: number): Promise<void>;
}

/** The maximum number of identities with the same issuer and subject below a group that are tried. */
export const maxCandidates = 10;

/** An OpenID provider whose tokens identify users, and our client id there. */
export interface UserProvider {
  readonly issuer: string;
  readonly clientId: string;
}

/** A token with a valid signature that was compared with the claim match of an identity. */
export interface ComparedToken {
  readonly identityUid: string;
  readonly match: Identity_ClaimMatch;
  readonly claims: Claims;
  /** The claim that does not match, or `name:` and the kind of a refused name; empty if the identity was assumed. */
  readonly failedCheck: string;
}

/** Dependencies of assuming an identity. */
export interface AssumptionDeps {
  readonly directory: IdentityDirectory;
  readonly issuers: Issuers;
  readonly tokens: Pick<Tokens, "verify">;
  readonly issuer: string;
  /** The audiences of subject tokens for identities that name none. */
  readonly defaultAudiences: Audiences;
  /** The same for identities with static keys. Defaults to `defaultAudiences`. */
  readonly staticKeysAudiences?: Audiences;
  /** The operator's login provider, whose tokens identify users. */
  readonly login?: UserProvider | undefined;
  /** Called for each token that is compared with a claim match. */
  readonly recordToken?: ((token: ComparedToken) => void) | undefined;
  readonly clock: Clock;
}
