// Whether the claims of a token are those that an identity names. Nothing is folded, trimmed or normalised (security
// case M5), and what the token says is compared, never interpreted (M8).
import type { Identity_ClaimMatch } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { matchesWhole } from "./patterns.ts";

/** The claims of a token, as JSON.parse makes them. */
export type Claims = Readonly<Record<string, unknown>>;

/** Whether all claims match; if not, the first that does not: `iss`, `sub`, `aud`, then further ones by name. */
export type ClaimMatchResult = { readonly ok: true } | { readonly ok: false; readonly claim: string };

type Member = { readonly case: string | undefined; readonly value?: string | undefined };

/** Compares; without an audience in `match`, one of the token's must be among `defaultAudiences`. */
export function matchClaims(
  match: Identity_ClaimMatch,
  claims: Claims,
  defaultAudiences: readonly string[],
): ClaimMatchResult {
  if (!matchIssuer(match, claims.iss)) return { ok: false, claim: "iss" };
  if (!matchMember(match.sub, claims.sub)) return { ok: false, claim: "sub" };
  if (!matchAudience(match, claims.aud, defaultAudiences)) return { ok: false, claim: "aud" };
  const claim = [...Object.keys(match.claims), ...Object.keys(match.claimPatterns)]
    .sort()
    .find((name) => !matchFurther(match, claims, name));
  return claim === undefined ? { ok: true } : { ok: false, claim };
}

/** Whether the `iss` of a token is the one that the identity names: all that may be asked of an unverified token. */
export function matchIssuer(match: Identity_ClaimMatch, iss: unknown): boolean {
  return typeof iss === "string" && matchMember(match.iss, normalizeIssuer(iss));
}

/** The issuer as a URL: Google also writes its own without the scheme. */
export function normalizeIssuer(iss: string): string {
  return iss === "accounts.google.com" ? `https://${iss}` : iss;
}

function matchMember({ case: name, value = "" }: Member, claim: unknown): boolean {
  // An empty member is refused at create, and would otherwise stand for a claim that says nothing (security case M6).
  if (typeof claim !== "string" || value === "") return false;
  return name?.endsWith("Pattern") ? matchesWhole(value, claim) : value === claim;
}

// RFC 7519 §4.1.3: a string, or an array of which one value is enough.
function matchAudience({ aud }: Identity_ClaimMatch, claim: unknown, defaults: readonly string[]): boolean {
  const isWanted = (text: string) => (aud.case === undefined ? defaults.includes(text) : matchMember(aud, text));
  return (Array.isArray(claim) ? claim : [claim]).some((one) => typeof one === "string" && isWanted(one));
}

function matchFurther({ claims: exact, claimPatterns: patterns }: Identity_ClaimMatch, claims: Claims, name: string) {
  // Inherited members such as `constructor` are no claims.
  const texts = Object.hasOwn(claims, name) ? claimTexts(claims[name]) : [];
  if (Object.hasOwn(exact, name) && !texts.includes(exact[name]!)) return false;
  return !Object.hasOwn(patterns, name) || texts.some((text) => matchesWhole(patterns[name]!, text));
}

/** The texts that a claim compares by; none for objects and null (security case M7). */
function claimTexts(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((one) => typeof one === "string");
  if (typeof claim === "string") return [claim];
  if (typeof claim === "boolean") return [String(claim)];
  // Beyond this range JSON.parse may have rounded one account number to another.
  const isExact = typeof claim === "number" && (Number.isSafeInteger(claim) || !Number.isInteger(claim));
  return isExact ? [JSON.stringify(claim)] : [];
}
