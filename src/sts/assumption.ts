import { ApiError, Code, permissionDenied } from "../aip/errors.ts";
import type { Narrowing, VerifiedToken } from "../authn/caller.ts";
import type { TokenRequest } from "../authn/token-claims.ts";
import { TokenError, tokenErrorText } from "../authn/token-error.ts";
import { predatesIdentity } from "../authz/token-age.ts";
import {
  type AssumableIdentity,
  type AssumptionDeps,
  type IdentityDirectory,
  maxCandidates,
  type PeopleProvider,
} from "./assumable-identity.ts";
import { type Audiences, eitherAudiences, exactAudiences } from "./audiences.ts";
import { type Claims, matchClaims, matchIssuer, normalizeIssuer } from "./claim-match.ts";
import { claimDenied, verificationDenied } from "./denials.ts";
import { inheritedClaims } from "./inherited-claims.ts";
import { newStepBudget, type StepBudget } from "./patterns/step-budget.ts";
import { type SubjectToken, verifySubjectToken } from "./subject-token.ts";
import { personMatch, type Requirement, requirementOf, staticKeysProblem } from "./token-requirement.ts";

/** An identity that the presented token may assume. */
export interface Assumption {
  readonly uid: string;
  readonly claims: Pick<TokenRequest, "act" | "email" | "emailVerified" | "notAfter">;
  /** What the presented token is narrowed to, when it is one of ours. */
  readonly narrowing: Narrowing;
  /** The mappings of outside groups that hold for the session. */
  readonly mappings?: readonly string[];
  /** The audiences of the presented token, when it is one of ours. */
  readonly audience?: readonly string[];
}

/** With one of our own tokens: its own identity and no other (security case X2), and no longer than it lasts. */
export async function assumeOwn(deps: AssumptionDeps, uid: string, presented: SubjectToken): Promise<Assumption> {
  const verified = await verifyOwn(deps, presented);
  if (uid !== "" && uid !== verified.subject) throw claimDenied("sub", verified.subject);
  const identity = await deps.directory.find(verified.subject);
  if (!identity || predatesIdentity(verified, identity.createTime)) throw claimDenied("sub", verified.subject);
  const requirement = requirementOf(deps, identity, presented);
  checkInForce(requirement, deps.clock());
  const { act, email, emailVerified, narrowing, audience, expiresAt, mappings } = verified;
  const notAfter = Math.min(expiresAt, requirement?.notAfter ?? expiresAt);
  const claims = { act, notAfter, ...(email !== "" && { email, emailVerified }) };
  return { uid: identity.uid, claims, narrowing, audience, ...(mappings && { mappings }) };
}

/** With a token of another issuer: the identity with this uid, or with an empty one the only identity that it fits. */
export async function assumeWithOutsideToken(deps: AssumptionDeps, uid: string, presented: SubjectToken) {
  const steps = newStepBudget();
  if (uid === "") return await assumeOnlyFitting(deps, presented, steps);
  const identity = await deps.directory.find(uid);
  // In the words for another issuer, so that nothing is learnt about which identities there are.
  if (!identity) throw claimDenied("iss", presented.claims.iss);
  return await assumeIdentity(deps, identity, presented, steps);
}

/** The claims of a token that the provider has made for us, of whomever it speaks. */
export async function verifyPerson(
  deps: Pick<AssumptionDeps, "issuers" | "defaultAudiences" | "clock">,
  provider: PeopleProvider | undefined,
  presented: SubjectToken,
): Promise<Claims> {
  if (!provider || presented.issuer !== normalizeIssuer(provider.issuer))
    throw claimDenied("iss", presented.claims.iss);
  const match = personMatch({ issuer: presented.issuer, subject: presented.subject });
  const claims = await verifySubjectToken(presented, () => deps.issuers.keysFor(provider.issuer), deps.clock());
  const audiences = eitherAudiences(deps.defaultAudiences, exactAudiences(provider.clientId));
  const result = matchClaims(match, claims, audiences, newStepBudget());
  if (!result.ok) throw claimDenied(result.claim, claims[result.claim]);
  return claims;
}

/**
 * With claims that are known to be true: the identity with this uid, when it asks for them.
 *
 * Only a claim match says what it asks of claims; keys that an identity has itself have not signed these.
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
  return { uid, claims: inheritedClaims(claims), narrowing: {} };
}

async function assumeOnlyFitting(
  deps: AssumptionDeps,
  presented: SubjectToken,
  steps: StepBudget,
): Promise<Assumption> {
  // Without a name, a token is its owner's own (behaviour of the platform), however many identities ask for it, too:
  // anybody can make those.
  const person = await findPerson(deps.directory, presented);
  const own = person && (await tryIdentity(deps, person, presented, steps));
  if (own && "uid" in own) return own;
  const candidates = await findCandidates(deps.directory, presented);
  // With more of them left out, "only" could not be said.
  if (candidates.length >= maxCandidates) throw permissionDenied(ambiguous);
  const fitting: Assumption[] = [];
  const denials: ApiError[] = own ? [own] : [];
  for (const identity of candidates.filter(({ uid }) => uid !== person?.uid)) {
    const tried = await tryIdentity(deps, identity, presented, steps);
    if ("uid" in tried) fitting.push(tried);
    else denials.push(tried);
  }
  const [only, second] = fitting;
  if (second) throw permissionDenied(ambiguous);
  if (only) return only;
  // The reason of one identity alone: those of several would tell of identities that are none of the caller's.
  throw (denials.length === 1 && denials[0]) || permissionDenied("no identity fits the presented token: name one");
}

/** What comes of an identity, a denial included. */
async function tryIdentity(
  deps: AssumptionDeps,
  identity: AssumableIdentity,
  presented: SubjectToken,
  steps: StepBudget,
) {
  try {
    return await assumeIdentity(deps, identity, presented, steps);
  } catch (error) {
    // When one could not be tried, nothing can be said of the others either.
    if (!(error instanceof ApiError) || error.code !== Code.PERMISSION_DENIED || steps.isSpent) throw error;
    return error;
  }
}

/** The person that a token speaks of, once registered. */
export async function findPerson(directory: IdentityDirectory, { issuer, subject }: SubjectToken) {
  return issuer === "" || subject === "" ? undefined : await directory.findPerson(issuer, subject);
}

/** The identities that the issuer and subject of a token may stand for. */
async function findCandidates(directory: IdentityDirectory, { issuer, subject }: SubjectToken) {
  // Empty is what is stored where an identity has no exact value.
  if (issuer === "" || subject === "") return [];
  return await directory.findByIssuerAndSubject(issuer, subject);
}

const ambiguous = "several identities fit the presented token: name one";

async function assumeIdentity(
  deps: AssumptionDeps,
  identity: AssumableIdentity,
  presented: SubjectToken,
  steps: StepBudget,
) {
  const requirement = requirementOf(deps, identity, presented);
  // Before anything is fetched: a stranger's token must not choose whom we talk to (security cases J1, J2). No other
  // claim is compared yet, lest unsigned tokens find out what the identity asks for. What no outside token may assume,
  // such as a service principal (R11), looks like an identity of another issuer.
  if (!requirement || !matchIssuer(requirement.match, presented.claims.iss, steps)) {
    throw claimDenied("iss", presented.claims.iss);
  }
  const now = deps.clock();
  const claims = await verifySubjectToken(presented, requirement.keys, now);
  const result = matchClaims(requirement.match, claims, requirement.audiences, steps);
  if (!result.ok) throw claimDenied(result.claim, claims[result.claim]);
  checkInForce(requirement, now);
  const { notAfter } = requirement;
  const passedOn = { ...inheritedClaims(claims), ...(notAfter !== undefined && { notAfter }) };
  return { uid: identity.uid, claims: passedOn, narrowing: {} };
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
