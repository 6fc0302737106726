// Compares the claims of a token with those that an identity requires. Nothing is case-folded, trimmed or normalized
// (security case M5), and claims are compared but never interpreted (M8).
import type { Identity_ClaimMatch } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { numberText } from "../base/json.ts";
import { checkIssuerSpelling } from "../model/issuer-url.ts";
import type { Audiences } from "./audiences.ts";
import { checkVisible } from "./claim-text.ts";
import { matchesWhole } from "./patterns/patterns.ts";
import type { StepBudget } from "./patterns/step-budget.ts";

/** The claims of a token, as `parseExactly` returns them. */
export type Claims = Readonly<Record<string, unknown>>;

/** Whether all claims match, or the first that does not: `iss`, `sub`, `aud`, then the others by name. */
export type ClaimMatchResult = { readonly ok: true } | { readonly ok: false; readonly claim: string };

/** A claim that an identity requires, and its comparison. */
export interface ClaimComparison {
  readonly claim: string;
  /** The requirement in words; only for callers who may read the identity. */
  readonly wanted: string;
  /** Throws PERMISSION_DENIED if the step budget of patterns is spent. */
  matches(claims: Claims): boolean;
}

type Member = { readonly case: string | undefined; readonly value?: string | undefined };

/**
 * Compares claims with a claim match. If `match` has no audience, the token must have one of `defaultAudiences`. Throws
 * PERMISSION_DENIED if the step budget of patterns is spent.
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

/** Returns every comparison that an identity requires, in order. */
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

/**
 * Reports whether the identity names the `iss` of a token: the only comparison allowed before the token is verified.
 */
export function matchIssuer(match: Identity_ClaimMatch, iss: unknown, steps: StepBudget): boolean {
  if (typeof iss !== "string") return false;
  const issuer = normalizeIssuer(iss);
  // A pattern matches spellings of a URL that its author did not think of, such as one with dot segments (security case
  // M3).
  if (match.iss.case === "issuerPattern" && checkIssuerSpelling(issuer) !== undefined) return false;
  return matchMember(match.iss, issuer, steps);
}

/** Returns the issuer as a URL: Google also writes its issuer without the scheme. */
export function normalizeIssuer(iss: string): string {
  return iss === "accounts.google.com" ? `https://${iss}` : iss;
}

/** Reports whether a claim has the exact value, or matches the pattern as a whole. */
export function matchMember({ case: name, value = "" }: Member, claim: unknown, steps: StepBudget): boolean {
  // An empty value is rejected at creation; here it would match an empty claim (security case M6).
  if (typeof claim !== "string" || value === "" || checkVisible(claim) !== undefined) return false;
  return name?.endsWith("Pattern") ? matchesWhole(value, claim, steps) : value === claim;
}

// RFC 7519 §4.1.3: a string, or an array in which one matching value is enough.
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
  // Inherited members such as `constructor` are not claims.
  const texts = Object.hasOwn(claims, name) ? claimTexts(claims[name]) : [];
  if (Object.hasOwn(exact, name) && !texts.includes(exact[name]!)) return false;
  return !Object.hasOwn(patterns, name) || texts.some((text) => matchesWhole(patterns[name]!, text, steps));
}

/** Returns the texts of a claim to compare; of an array those of its elements, one of which must match. */
function claimTexts(claim: unknown): string[] {
  return Array.isArray(claim) ? claim.flatMap(valueTexts) : valueTexts(claim);
}

/**
 * Returns the text of a value to compare: its JSON text as it was sent. Objects, arrays and null have none (security
 * case M7).
 */
function valueTexts(claim: unknown): string[] {
  if (typeof claim === "string") return checkVisible(claim) === undefined ? [claim] : [];
  const text = typeof claim === "boolean" ? String(claim) : numberText(claim);
  return text === undefined ? [] : [text];
}
