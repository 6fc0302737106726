// Decides which identity a subject token may assume, and what the new token takes over from it.
import { ApiError, Code, permissionDenied } from "../aip/errors.ts";
import type { Narrowing, VerifiedToken } from "../authn/caller.ts";
import type { TokenRequest } from "../authn/token-claims.ts";
import { TokenError, tokenErrorText } from "../authn/token-error.ts";
import { predatesIdentity } from "../authz/token-age.ts";
import { isWithin } from "../model/uid.ts";
import {
  type AssumableIdentity,
  type AssumptionDeps,
  type ComparedToken,
  type IdentityDirectory,
  maxCandidates,
  type UserProvider,
} from "./assumable-identity.ts";
import { type Audiences, eitherAudiences, exactAudiences } from "./audiences.ts";
import { type Claims, matchClaims, matchIssuer, normalizeIssuer } from "./claim-match.ts";
import {
  ambiguousDenied,
  claimDenied,
  failedCheckOf,
  noneBelowDenied,
  unknownPersonDenied,
  verificationDenied,
} from "./denials.ts";
import { inheritedClaims } from "./inherited-claims.ts";
import { newStepBudget, type StepBudget } from "./patterns/step-budget.ts";
import { checkUnsigned, type SubjectToken, verifySubjectToken } from "./subject-token.ts";
import {
  type Requirement,
  requirementOf,
  staticKeysNarrowing,
  staticKeysProblem,
  userMatch,
} from "./token-requirement.ts";
import { presentedNames } from "./trust/pinned-names.ts";

/** An identity that the subject token may assume. */
export interface Assumption {
  readonly uid: string;
  readonly claims: Pick<TokenRequest, "act" | "email" | "emailVerified" | "notAfter">;
  /** The limits of the subject token, if it is one of ours. */
  readonly narrowing: Narrowing;
  /** The external group role mappings of the session. */
  readonly mappings?: readonly string[] | undefined;
  /** The audiences of the subject token, if it is one of ours. */
  readonly audience?: readonly string[];
}

/** Exchanges one of our own tokens: for its own identity only (security case X2), and not beyond its expiry. */
export async function assumeOwn(
  deps: AssumptionDeps,
  { identity: uid, isGroupAllowed = false }: Target,
  subjectToken: SubjectToken,
): Promise<Assumption> {
  const verified = await verifyOwn(deps, subjectToken);
  const isNamed = uid === "" || uid === verified.subject || (isGroupAllowed && isWithin(verified.subject, uid));
  if (!isNamed) throw claimDenied("sub", verified.subject);
  const identity = await deps.directory.find(verified.subject);
  if (!identity || predatesIdentity(verified, identity.createTime)) throw claimDenied("sub", verified.subject);
  await deps.directory.requireActivePerson(identity.uid, verified.act);
  const requirement = requirementOf(deps, identity, subjectToken);
  checkInForce(requirement, deps.clock());
  const { act, email, emailVerified, audience, expiresAt, mappings } = verified;
  const narrowing = narrowOwn(verified.narrowing, requirement);
  const notAfter = Math.min(expiresAt, requirement?.notAfter ?? expiresAt);
  const claims = { act, notAfter, ...(email !== "" && { email, emailVerified }) };
  return { uid: identity.uid, claims, narrowing, audience, mappings };
}

/** Returns the limits of one of our own tokens, and those of its static keys if these are not in force any more. */
function narrowOwn(narrowing: Narrowing, requirement: Requirement | undefined): Narrowing {
  const { scopes: outer } = requirement ? staticKeysNarrowing(requirement) : {};
  if (!outer) return narrowing;
  const scopes = (narrowing.scopes ?? outer).filter((scope) => outer.some((one) => isWithin(scope, one)));
  if (scopes.length === 0) throw permissionDenied(requirement?.inactivity ?? "");
  return { ...narrowing, scopes };
}

/** Whom a token of another issuer is to become. */
export interface Target {
  /** The uid of the identity; empty to look for one. */
  readonly identity: string;
  /** Whether `identity` may also be a group to look in: a registry client and an OAuth client name either by one uid. */
  readonly isGroupAllowed?: boolean;
  /** The groups to look in for the identity of a workload. */
  readonly groups: readonly string[];
}

/**
 * Exchanges a token of another issuer: for the named identity. If none is named, for the person that the token is
 * about, or else for the only identity below the named groups with exactly the issuer and subject of the token.
 */
export async function assumeWithOutsideToken(
  deps: AssumptionDeps,
  { identity: uid, isGroupAllowed = false, groups }: Target,
  subjectToken: SubjectToken,
): Promise<Assumption> {
  const steps = newStepBudget();
  if (uid === "") return await assumeUnnamed(deps, groups, subjectToken, steps);
  const identity = await deps.directory.find(uid);
  if (!identity && isGroupAllowed) return await assumeUnnamed(deps, [uid], subjectToken, steps);
  // The same error as for another issuer, so the caller cannot learn which identities exist.
  if (!identity) throw claimDenied("iss", subjectToken.claims.iss);
  return await assumeIdentity(deps, identity, subjectToken, steps);
}

/** Returns the claims of a token that the provider issued for us, whichever user it is about. */
export async function verifyUserToken(
  deps: Pick<AssumptionDeps, "issuers" | "defaultAudiences" | "clock">,
  provider: UserProvider | undefined,
  subjectToken: SubjectToken,
): Promise<Claims> {
  if (!provider || subjectToken.issuer !== normalizeIssuer(provider.issuer))
    throw claimDenied("iss", subjectToken.claims.iss);
  const match = userMatch({ issuer: subjectToken.issuer, subject: subjectToken.subject });
  const claims = await verifySubjectToken(subjectToken, () => deps.issuers.keysFor(provider.issuer), deps.clock());
  const audiences = eitherAudiences(deps.defaultAudiences, exactAudiences(provider.clientId));
  const result = matchClaims(match, claims, audiences, newStepBudget());
  if (!result.ok) throw claimDenied(result.claim, claims[result.claim]);
  return claims;
}

/**
 * Exchanges claims that are verified already: for the identity with this uid, if its claim match accepts them.
 *
 * Identities with static keys are excluded: their keys did not sign these claims.
 */
export async function assumeWithClaims(
  directory: IdentityDirectory,
  uid: string,
  claims: Claims,
  audiences: Audiences,
): Promise<Assumption> {
  const identity = await directory.find(uid);
  if (identity?.relationship.case !== "claimMatch") throw claimDenied("iss", claims.iss);
  const result = matchClaims(identity.relationship.value, claims, audiences, newStepBudget());
  if (!result.ok) throw claimDenied(result.claim, claims[result.claim]);
  await directory.requireActivePerson(uid, claims);
  await directory.admitNames(identity, presentedNames(claims));
  return { uid, claims: inheritedClaims(claims), narrowing: {} };
}

async function assumeUnnamed(
  deps: AssumptionDeps,
  groups: readonly string[],
  subjectToken: SubjectToken,
  steps: StepBudget,
): Promise<Assumption> {
  checkUnsigned(subjectToken, deps.clock());
  // A token belongs to its person first (behaviour of the platform), even if identities match it as well. Only the
  // groups in the request are looked at otherwise: in others, strangers could create an identity that matches, too.
  const user = await findUser(deps.directory, subjectToken);
  if (user) {
    const own = await orDenial(assumeIdentity(deps, user, subjectToken, steps), steps);
    if (!(own instanceof ApiError)) return own;
    if (groups.length === 0) throw own;
  }
  if (groups.length === 0) throw unknownPersonDenied();
  return await assumeBelow(deps, groups, subjectToken, steps);
}

/**
 * Assumes the only identity below the groups with exactly the issuer and subject of the token. The error is the same if
 * there is none, if there are several, and if the one denies the token: only the holder of a token that identities
 * accept learns that they are several.
 */
async function assumeBelow(
  deps: AssumptionDeps,
  groups: readonly string[],
  subjectToken: SubjectToken,
  steps: StepBudget,
): Promise<Assumption> {
  const candidates = await findCandidates(deps.directory, groups, subjectToken);
  const isOne = candidates.length === 1;
  for (const identity of candidates) {
    // One of several is never assumed, so nothing may be pinned for it.
    const trying: Promise<Assumption | object> = isOne
      ? assumeIdentity(deps, identity, subjectToken, steps)
      : matchIdentity(deps, identity, subjectToken, steps);
    const tried = await orDenial(trying, steps);
    if (tried instanceof ApiError) continue;
    if ("uid" in tried) return tried;
    throw ambiguousDenied();
  }
  throw noneBelowDenied(subjectToken.claims);
}

/** Waits for the try of an identity. Returns a denial instead of throwing it. */
async function orDenial<T>(tried: Promise<T>, steps: StepBudget): Promise<T | ApiError> {
  try {
    return await tried;
  } catch (error) {
    // If one identity could not be tried, the others decide nothing either.
    if (!(error instanceof ApiError) || error.code !== Code.PERMISSION_DENIED || steps.isSpent) throw error;
    return error;
  }
}

/** Returns the registered user that a token is about. */
export async function findUser(directory: IdentityDirectory, { issuer, subject }: SubjectToken) {
  return issuer === "" || subject === "" ? undefined : await directory.findUser(issuer, subject);
}

/** Returns the identities below the groups with exactly the issuer and subject of a token, at most `maxCandidates`. */
async function findCandidates(
  directory: IdentityDirectory,
  groups: readonly string[],
  { issuer, subject }: SubjectToken,
): Promise<AssumableIdentity[]> {
  // Empty is stored for identities without an exact value.
  if (issuer === "" || subject === "") return [];
  const found = new Map<string, AssumableIdentity>();
  for (const groupUid of groups) {
    for (const identity of await directory.findByClaims({ groupUid, issuer, subject }))
      found.set(identity.uid, identity);
    if (found.size >= maxCandidates) break;
  }
  return [...found.values()].slice(0, maxCandidates);
}

/** Assumes an identity. Names are compared after everything else. */
async function assumeIdentity(
  deps: AssumptionDeps,
  identity: AssumableIdentity,
  subjectToken: SubjectToken,
  steps: StepBudget,
): Promise<Assumption> {
  const { match, claims, assumption } = await matchIdentity(deps, identity, subjectToken, steps);
  try {
    await deps.directory.admitNames(identity, presentedNames(claims));
  } catch (error) {
    const failedCheck = error instanceof ApiError ? failedCheckOf(error) : undefined;
    if (failedCheck !== undefined) record(deps, identity, { match, claims, failedCheck });
    throw error;
  }
  record(deps, identity, { match, claims, failedCheck: "" });
  return assumption;
}

/** Records a token that was compared with the claim match of an identity: tokens of people and of static keys are not recorded. */
function record(
  deps: AssumptionDeps,
  { uid, relationship }: AssumableIdentity,
  token: Omit<ComparedToken, "identityUid">,
): void {
  if (relationship.case === "claimMatch") deps.recordToken?.({ identityUid: uid, ...token });
}

/** Verifies a token and compares it with the rule of an identity. Names are not compared yet, and nothing is pinned. */
async function matchIdentity(
  deps: AssumptionDeps,
  identity: AssumableIdentity,
  subjectToken: SubjectToken,
  steps: StepBudget,
): Promise<Pick<ComparedToken, "match" | "claims"> & { readonly assumption: Assumption }> {
  const requirement = requirementOf(deps, identity, subjectToken);
  // Checked before anything is fetched: an unverified token must not choose whom the server contacts (security cases
  // J1, J2). No other claim is compared yet, or unsigned tokens could probe what the identity requires. Identities that
  // no external token may assume, such as service principals (R11), look like identities of another issuer.
  if (!requirement || !matchIssuer(requirement.match, subjectToken.claims.iss, steps)) {
    throw claimDenied("iss", subjectToken.claims.iss);
  }
  const now = deps.clock();
  const claims = await verifySubjectToken(subjectToken, requirement.keys, now);
  const { match } = requirement;
  const result = matchClaims(match, claims, requirement.audiences, steps);
  if (!result.ok) {
    record(deps, identity, { match, claims, failedCheck: result.claim });
    throw claimDenied(result.claim, claims[result.claim]);
  }
  await deps.directory.requireActivePerson(identity.uid, claims);
  checkInForce(requirement, now);
  const { notAfter } = requirement;
  const passedOn = { ...inheritedClaims(claims), notAfter };
  const assumption = { uid: identity.uid, claims: passedOn, narrowing: staticKeysNarrowing(requirement) };
  return { match, claims, assumption };
}

function checkInForce(requirement: Requirement | undefined, now: number): void {
  const problem = staticKeysProblem(requirement, now);
  if (problem !== undefined) throw permissionDenied(problem);
}

async function verifyOwn({ tokens }: AssumptionDeps, { text }: SubjectToken): Promise<VerifiedToken> {
  try {
    return await tokens.verify(text);
  } catch (error) {
    if (error instanceof TokenError) throw verificationDenied("token", tokenErrorText(error), error);
    throw error;
  }
}
