// Which identity a presented token may assume, and what the new token inherits from it.
import type { Identity, Identity_ClaimMatch } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { ApiError, Code, permissionDenied } from "../aip/errors.ts";
import type { Narrowing, VerifiedToken } from "../authn/caller.ts";
import type { Issuers } from "../authn/issuers.ts";
import type { KeySet } from "../authn/key-sets.ts";
import { TokenError, type TokenRequest, type Tokens, tokenErrorText } from "../authn/tokens.ts";
import type { Clock } from "../clock.ts";
import { matchClaims, matchIssuer } from "./claim-match.ts";
import { defaultAudiences } from "./default-audiences.ts";
import { claimDenied, verificationDenied } from "./denials.ts";
import { inheritedClaims } from "./inherited-claims.ts";
import { type PresentedToken, verifyPresented } from "./presented-token.ts";
import { staticKeySet, staticKeysExpiry, staticKeysMatch } from "./static-keys.ts";

/** An identity, as far as assuming it goes. */
export interface AssumableIdentity {
  readonly uid: string;
  readonly relationship: Identity["relationship"];
  /** Milliseconds since the epoch. */
  readonly createTime: number;
}

/** Where identities are found. */
export interface IdentityDirectory {
  find(uid: string): Promise<AssumableIdentity | undefined>;
  /** Identities with exactly this issuer and subject in a claim match or static keys, at most `maxCandidates`. */
  findByIssuerAndSubject(issuer: string, subject: string): Promise<AssumableIdentity[]>;
  /** Keeps when an identity was last assumed, in milliseconds since the epoch. */
  touch(uid: string, time: number): Promise<void>;
}

/** How many identities with the same issuer and subject are tried. */
export const maxCandidates = 10;

/** What assuming rests on. */
export interface AssumptionDeps {
  readonly directory: IdentityDirectory;
  readonly issuers: Issuers;
  readonly tokens: Pick<Tokens, "verify">;
  readonly issuer: string;
  readonly clock: Clock;
}

/** An identity that the presented token may assume. */
export interface Assumption {
  readonly uid: string;
  readonly claims: Pick<TokenRequest, "act" | "email" | "emailVerified" | "notAfter">;
  /** What the presented token is narrowed to, when it is one of ours. */
  readonly narrowing: Narrowing;
  /** The audiences of the presented token, when it is one of ours. */
  readonly audience?: readonly string[];
}

/** What a token must prove to assume an identity. */
export interface Requirement {
  readonly match: Identity_ClaimMatch;
  readonly keys: () => Promise<KeySet>;
  /** Milliseconds since the epoch. */
  readonly notAfter?: number;
}

/** With one of our own tokens: its own identity and no other (security case X2), and no longer than it lasts. */
export async function assumeOwn(deps: AssumptionDeps, uid: string, presented: PresentedToken): Promise<Assumption> {
  const verified = await verifyOwn(deps, presented);
  if (uid !== "" && uid !== verified.subject) throw claimDenied("sub", verified.subject);
  const identity = await deps.directory.find(verified.subject);
  if (!identity) throw claimDenied("sub", verified.subject);
  const requirement = requirementOf(deps, identity, presented);
  checkInForce(requirement, deps.clock());
  const { act, email, emailVerified, narrowing, audience, expiresAt } = verified;
  const notAfter = Math.min(expiresAt, requirement?.notAfter ?? expiresAt);
  const claims = { act, notAfter, ...(email !== "" && { email, emailVerified }) };
  return { uid: identity.uid, claims, narrowing, audience };
}

/** With a token of another issuer: the identity with this uid, or with an empty one the only identity that it fits. */
export async function assumeWithOutsideToken(deps: AssumptionDeps, uid: string, presented: PresentedToken) {
  if (uid === "") return await assumeOnlyFitting(deps, presented);
  const identity = await deps.directory.find(uid);
  // In the words for another issuer, so that nothing is learnt about which identities there are.
  if (!identity) throw claimDenied("iss", presented.claims.iss);
  return await assumeIdentity(deps, identity, presented);
}

async function assumeOnlyFitting(deps: AssumptionDeps, presented: PresentedToken): Promise<Assumption> {
  const candidates = await findCandidates(deps.directory, presented);
  // With more of them left out, "only" could not be said.
  if (candidates.length >= maxCandidates) throw permissionDenied(ambiguous);
  const fitting: Assumption[] = [];
  const denials: ApiError[] = [];
  for (const identity of candidates) {
    try {
      fitting.push(await assumeIdentity(deps, identity, presented));
    } catch (error) {
      // Nor when one could not be tried.
      if (!(error instanceof ApiError) || error.code !== Code.PERMISSION_DENIED) throw error;
      denials.push(error);
    }
  }
  const [only, second] = fitting;
  if (second) throw permissionDenied(ambiguous);
  if (only) return only;
  // The reason of one identity alone: those of several would tell of identities that are none of the caller's.
  throw (denials.length === 1 && denials[0]) || permissionDenied("no identity fits the presented token: name one");
}

async function findCandidates(directory: IdentityDirectory, { issuer, subject }: PresentedToken) {
  // Empty is what is stored where an identity has no exact value.
  if (issuer === "" || subject === "") return [];
  return await directory.findByIssuerAndSubject(issuer, subject);
}

const ambiguous = "several identities fit the presented token: name one";

async function assumeIdentity(deps: AssumptionDeps, identity: AssumableIdentity, presented: PresentedToken) {
  const requirement = requirementOf(deps, identity, presented);
  // Before anything is fetched: a stranger's token must not choose whom we talk to (security cases J1, J2). No other
  // claim is compared yet, lest unsigned tokens find out what the identity asks for. What no outside token may assume,
  // such as a service principal (R11), looks like an identity of another issuer.
  if (!requirement || !matchIssuer(requirement.match, presented.claims.iss)) {
    throw claimDenied("iss", presented.claims.iss);
  }
  const now = deps.clock();
  const claims = await verifyPresented(presented, requirement.keys, now);
  const result = matchClaims(requirement.match, claims, defaultAudiences(deps.issuer));
  if (!result.ok) throw claimDenied(result.claim, claims[result.claim]);
  checkInForce(requirement, now);
  const { notAfter } = requirement;
  const passedOn = { ...inheritedClaims(claims), ...(notAfter !== undefined && { notAfter }) };
  return { uid: identity.uid, claims: passedOn, narrowing: {} };
}

/** What a token must prove to assume the identity; undefined when no token of an issuer can. */
export function requirementOf(
  { issuers }: AssumptionDeps,
  { relationship, createTime }: AssumableIdentity,
  { issuer }: PresentedToken,
): Requirement | undefined {
  const { case: kind, value } = relationship;
  if (kind === "claimMatch") return { match: value, keys: () => issuers.keysFor(issuer) };
  if (kind !== "staticKeys") return undefined;
  const notAfter = staticKeysExpiry(value, createTime);
  return { match: staticKeysMatch(value), keys: async () => staticKeySet(value), notAfter };
}

function checkInForce(requirement: Requirement | undefined, now: number): void {
  const problem = staticKeysProblem(requirement, now);
  if (problem !== undefined) throw permissionDenied(problem);
}

/** What keeps the keys of an identity from serving; undefined when nothing does. */
export function staticKeysProblem(requirement: Requirement | undefined, now: number): string | undefined {
  const isOver = requirement?.notAfter !== undefined && requirement.notAfter <= now;
  return isOver ? "the static keys of the identity have expired" : undefined;
}

async function verifyOwn({ tokens }: AssumptionDeps, { text }: PresentedToken): Promise<VerifiedToken> {
  try {
    return await tokens.verify(text);
  } catch (error) {
    if (error instanceof TokenError) throw verificationDenied("token", tokenErrorText(error.reason), error);
    throw error;
  }
}
