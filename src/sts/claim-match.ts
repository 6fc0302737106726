// Whether the claims of a token are those that an identity names. Nothing is folded, trimmed or normalised (security
// case M5), and what the token says is compared, never interpreted (M8).
import type { Identity_ClaimMatch } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { checkIssuerSpelling } from "../authn/issuer-url.ts";
import { numberText } from "../base/json.ts";
import type { Audiences } from "./audiences.ts";
import { checkVisible } from "./claim-text.ts";
import { matchesWhole } from "./patterns/patterns.ts";
import type { StepBudget } from "./patterns/step-budget.ts";

/** The claims of a token, as `parseExactly` makes them. */
export type Claims = Readonly<Record<string, unknown>>;

/** Whether all claims match; if not, the first that does not: `iss`, `sub`, `aud`, then further ones by name. */
export type ClaimMatchResult = { readonly ok: true } | { readonly ok: false; readonly claim: string };

/** One claim that an identity asks for, and how to tell whether a token has it. */
export interface ClaimComparison {
  readonly claim: string;
  /** What is asked for, in words; only for whoever may read the identity. */
  readonly wanted: string;
  /** PERMISSION_DENIED when the steps that the patterns take are not left. */
  matches(claims: Claims): boolean;
}

type Member = { readonly case: string | undefined; readonly value?: string | undefined };

/**
 * Compares; without an audience in `match`, one of the token's must be among `defaultAudiences`. PERMISSION_DENIED when the
 * steps that the patterns take are not left.
 */
export function matchClaims(
  match: Identity_ClaimMatch,
  claims: Claims,
  defaultAudiences: Audiences,
  steps: StepBudget,
): ClaimMatchResult {
  const missed = comparisonsOf(match, defaultAudiences, steps).find((comparison) => !comparison.matches(claims));
  return missed ? { ok: false, claim: missed.claim } : { ok: true };
}

/** Every comparison that an identity asks for, in the order in which they are made. */
export function comparisonsOf(
  match: Identity_ClaimMatch,
  defaultAudiences: Audiences,
  steps: StepBudget,
): ClaimComparison[] {
  const further = [...new Set([...Object.keys(match.claims), ...Object.keys(match.claimPatterns)])].sort();
  const audience = match.aud.case === undefined ? defaultAudiences.names.join(" or ") : wantedMember(match.aud);
  return [
    { claim: "iss", wanted: wantedMember(match.iss), matches: ({ iss }) => matchIssuer(match, iss, steps) },
    { claim: "sub", wanted: wantedMember(match.sub), matches: ({ sub }) => matchMember(match.sub, sub, steps) },
    { claim: "aud", wanted: audience, matches: ({ aud }) => matchAudience(match, aud, defaultAudiences, steps) },
    ...further.map((claim) => ({
      claim,
      wanted: wantedFurther(match, claim),
      matches: (claims: Claims) => matchFurther(match, claims, claim, steps),
    })),
  ];
}

function wantedMember({ case: name, value = "" }: Member): string {
  return name?.endsWith("Pattern") ? `the pattern ${value}` : value;
}

function wantedFurther({ claims: exact, claimPatterns: patterns }: Identity_ClaimMatch, name: string): string {
  const wanted = [
    ...(Object.hasOwn(exact, name) ? [exact[name]] : []),
    ...(Object.hasOwn(patterns, name) ? [`the pattern ${patterns[name]}`] : []),
  ];
  return wanted.join(" and ");
}

/** Whether the `iss` of a token is the one that the identity names: all that may be asked of an unverified token. */
export function matchIssuer(match: Identity_ClaimMatch, iss: unknown, steps: StepBudget): boolean {
  if (typeof iss !== "string") return false;
  const issuer = normalizeIssuer(iss);
  // A pattern matches spellings of a URL that its author did not think of, such as one with dot segments (security case M3).
  if (match.iss.case === "issuerPattern" && checkIssuerSpelling(issuer) !== undefined) return false;
  return matchMember(match.iss, issuer, steps);
}

/** The issuer as a URL: Google also writes its own without the scheme. */
export function normalizeIssuer(iss: string): string {
  return iss === "accounts.google.com" ? `https://${iss}` : iss;
}

/** Whether a claim has an exact value, or fits a pattern as a whole. */
export function matchMember({ case: name, value = "" }: Member, claim: unknown, steps: StepBudget): boolean {
  // An empty member is refused at create, and would otherwise stand for a claim that says nothing (security case M6).
  if (typeof claim !== "string" || value === "" || checkVisible(claim) !== undefined) return false;
  return name?.endsWith("Pattern") ? matchesWhole(value, claim, steps) : value === claim;
}

// RFC 7519 §4.1.3: a string, or an array of which one value is enough.
function matchAudience({ aud }: Identity_ClaimMatch, claim: unknown, defaults: Audiences, steps: StepBudget): boolean {
  const isWanted = (text: string) =>
    aud.case === undefined ? defaults.find(text) !== undefined : matchMember(aud, text, steps);
  return (Array.isArray(claim) ? claim : [claim]).some((one) => typeof one === "string" && isWanted(one));
}

function matchFurther(
  { claims: exact, claimPatterns: patterns }: Identity_ClaimMatch,
  claims: Claims,
  name: string,
  steps: StepBudget,
): boolean {
  // Inherited members such as `constructor` are no claims.
  const texts = Object.hasOwn(claims, name) ? claimTexts(claims[name]) : [];
  if (Object.hasOwn(exact, name) && !texts.includes(exact[name]!)) return false;
  return !Object.hasOwn(patterns, name) || texts.some((text) => matchesWhole(patterns[name]!, text, steps));
}

/** The texts that a claim compares by: those of its elements for a list, of which one is enough. */
function claimTexts(claim: unknown): string[] {
  return Array.isArray(claim) ? claim.flatMap(valueTexts) : valueTexts(claim);
}

/** The text that a value compares by: JSON text as it was sent; none for objects, lists and null (security case M7). */
function valueTexts(claim: unknown): string[] {
  if (typeof claim === "string") return checkVisible(claim) === undefined ? [claim] : [];
  const text = typeof claim === "boolean" ? String(claim) : numberText(claim);
  return text === undefined ? [] : [text];
}
