// Identities that a token may assume, and where they are found.
import type { Identity } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { Issuers } from "../authn/issuers.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Clock } from "../base/clock.ts";
import type { Audiences } from "./audiences.ts";

/** An identity, as far as assuming it goes. */
export interface AssumableIdentity {
  readonly uid: string;
  readonly relationship: Identity["relationship"];
  /** The person that it stands for; absent for any other identity. */
  readonly person?: { readonly issuer: string; readonly subject: string };
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  /** Why its static keys are not in force; absent when they are. */
  readonly inactivity?: string;
}

/** Where identities are found. */
export interface IdentityDirectory {
  find(uid: string): Promise<AssumableIdentity | undefined>;
  /** Identities with exactly this issuer and subject in a claim match or static keys, at most `maxCandidates`. */
  findByIssuerAndSubject(issuer: string, subject: string): Promise<AssumableIdentity[]>;
  /** The registered person of this issuer and subject. */
  findPerson(issuer: string, subject: string): Promise<AssumableIdentity | undefined>;
  /** Keeps when an identity was last assumed, in milliseconds since the epoch. */
  touch(uid: string, time: number): Promise<void>;
}

/** How many identities with the same issuer and subject are tried. */
export const maxCandidates = 10;

/** An OpenID provider whose tokens stand for people, and the client that we are there. */
export interface PeopleProvider {
  readonly issuer: string;
  readonly clientId: string;
}

/** What assuming rests on. */
export interface AssumptionDeps {
  readonly directory: IdentityDirectory;
  readonly issuers: Issuers;
  readonly tokens: Pick<Tokens, "verify">;
  readonly issuer: string;
  /** The audiences of outside tokens for identities that name none. */
  readonly defaultAudiences: Audiences;
  /** The login provider of the operator, whose tokens stand for people. */
  readonly login?: PeopleProvider | undefined;
  readonly clock: Clock;
}
