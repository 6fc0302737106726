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
  type IdentityDirectory,
  maxCandidates,
  type UserProvider,
} from "./assumable-identity.ts";
import { type Audiences, eitherAudiences, exactAudiences } from "./audiences.ts";
import { type Claims, matchClaims, matchIssuer, normalizeIssuer } from "./claim-match.ts";
import { claimDenied, verificationDenied } from "./denials.ts";
import { inheritedClaims } from "./inherited-claims.ts";
import { newStepBudget, type StepBudget } from "./patterns/step-budget.ts";
import { type SubjectToken, verifySubjectToken } from "./subject-token.ts";
import {
  type Requirement,
  requirementOf,
  staticKeysNarrowing,
  staticKeysProblem,
  userMatch,
} from "./token-requirement.ts";

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
export async function assumeOwn(deps: AssumptionDeps, uid: string, subjectToken: SubjectToken): Promise<Assumption> {
  const verified = await verifyOwn(deps, subjectToken);
  if (uid !== "" && uid !== verified.subject) throw claimDenied("sub", verified.subject);
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

/**
 * Exchanges a token of another issuer: for the identity with this uid or, if `uid` is empty, for the only identity that
 * it matches.
 */
export async function assumeWithOutsideToken(deps: AssumptionDeps, uid: string, subjectToken: SubjectToken) {
  const steps = newStepBudget();
  if (uid === "") return await assumeOnlyFitting(deps, subjectToken, steps);
  const identity = await deps.directory.find(uid);
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
  return { uid, claims: inheritedClaims(claims), narrowing: {} };
}

async function assumeOnlyFitting(
  deps: AssumptionDeps,
  subjectToken: SubjectToken,
  steps: StepBudget,
): Promise<Assumption> {
  // Without an identity in the request, a token belongs to its user (behaviour of the platform), even if identities
  // match it as well: anyone can create those.
  const user = await findUser(deps.directory, subjectToken);
  const own = user && (await tryIdentity(deps, user, subjectToken, steps));
  if (own && "uid" in own) return own;
  const candidates = await findCandidates(deps.directory, subjectToken);
  // If candidates are missing, "the only one" cannot be decided.
  if (candidates.length >= maxCandidates) throw permissionDenied(ambiguous);
  const fitting: Assumption[] = [];
  const denials: ApiError[] = own ? [own] : [];
  for (const identity of candidates.filter(({ uid }) => uid !== user?.uid)) {
    const tried = await tryIdentity(deps, identity, subjectToken, steps);
    if ("uid" in tried) fitting.push(tried);
    else denials.push(tried);
  }
  const [only, second] = fitting;
  if (second) throw permissionDenied(ambiguous);
  if (only) return only;
  // The reason of a single identity only: reasons of several would reveal identities of other organizations.
  throw (denials.length === 1 && denials[0]) || permissionDenied("no identity fits the subject token: name one");
}

/** Tries an identity. Returns a denial instead of throwing it. */
async function tryIdentity(
  deps: AssumptionDeps,
  identity: AssumableIdentity,
  subjectToken: SubjectToken,
  steps: StepBudget,
) {
  try {
    return await assumeIdentity(deps, identity, subjectToken, steps);
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

/** Returns the identities that may accept the issuer and subject of a token. */
async function findCandidates(directory: IdentityDirectory, { issuer, subject }: SubjectToken) {
  // Empty is stored for identities without an exact value.
  if (issuer === "" || subject === "") return [];
  return await directory.findByIssuerAndSubject(issuer, subject);
}

const ambiguous = "several identities fit the subject token: name one";

async function assumeIdentity(
  deps: AssumptionDeps,
  identity: AssumableIdentity,
  subjectToken: SubjectToken,
  steps: StepBudget,
) {
  const requirement = requirementOf(deps, identity, subjectToken);
  // Checked before anything is fetched: an unverified token must not choose whom the server contacts (security cases
  // J1, J2). No other claim is compared yet, or unsigned tokens could probe what the identity requires. Identities that
  // no external token may assume, such as service principals (R11), look like identities of another issuer.
  if (!requirement || !matchIssuer(requirement.match, subjectToken.claims.iss, steps)) {
    throw claimDenied("iss", subjectToken.claims.iss);
  }
  const now = deps.clock();
  const claims = await verifySubjectToken(subjectToken, requirement.keys, now);
  const result = matchClaims(requirement.match, claims, requirement.audiences, steps);
  if (!result.ok) throw claimDenied(result.claim, claims[result.claim]);
  await deps.directory.requireActivePerson(identity.uid, claims);
  checkInForce(requirement, now);
  const { notAfter } = requirement;
  const passedOn = { ...inheritedClaims(claims), notAfter };
  return { uid: identity.uid, claims: passedOn, narrowing: staticKeysNarrowing(requirement) };
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
