// The shape of a token: the claims that are stored of it, to replay rules on. Tokens of one job differ, their shapes are equal.
import type { Identity_ClaimMatch } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { numberText, parseExactly } from "../../base/json.ts";
import type { Claims } from "../claim-match.ts";
import { checkVisible } from "../claim-text.ts";
import { issuerOf, podClaim, withoutPod } from "./issuers.ts";

/**
 * The stored claims of a token. Null stands for a claim that the token does not have, or that has no text to compare. Nothing is known of
 * claims that are not members.
 */
export type Shape = Claims;

/** The claims that every rule reads. */
export const alwaysRead = ["iss", "sub", "aud"];

/** The longest claim that is stored, as JSON. */
const maxClaimLength = 2048;

/** The longest shape, as JSON: 250 of an identity are read at once. */
const maxShapeLength = 8192;

/**
 * Returns the shape of a token as JSON, with sorted names: the claims that the rule names, and those that the catalogue of issuers allows.
 * Leaves out claims that are too long, and those that no longer fit. The same claims give the same text.
 */
export function formatShape(match: Identity_ClaimMatch, claims: Claims): string {
  const storable = issuerOf(claims)?.storable ?? [];
  const names = new Set([...alwaysRead, ...namedClaims(match), ...storable]);
  const hasPod = storable.includes(podClaim) && Object.hasOwn(claims, podClaim);
  const members: string[] = [];
  let length = 2;
  for (const name of names) {
    const value = comparable(claims, name) ?? (hasPod && name === podClaim ? withoutPod(claims[name]) : null);
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    if (member.length > maxClaimLength || length + member.length >= maxShapeLength) continue;
    members.push(member);
    length += member.length + 1;
  }
  return `{${members.sort().join(",")}}`;
}

/** Parses the text of `formatShape`. */
export function parseShape(text: string): Shape {
  return parseExactly(text) as Shape;
}

/** Returns the claims that the token has: texts as they are, other values as JSON. */
export function claimTextsOf(shape: Shape): Record<string, string> {
  const present = Object.entries(shape).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** Returns the names of the further claims that a rule reads. */
export function namedClaims({ claims, claimPatterns }: Identity_ClaimMatch): string[] {
  return [...new Set([...Object.keys(claims), ...Object.keys(claimPatterns)])];
}

/** Returns what rules compare of a claim: of an array, only the elements that have a text. */
function comparable(claims: Claims, name: string): unknown {
  const value = Object.hasOwn(claims, name) ? claims[name] : null;
  return Array.isArray(value) ? value.filter(hasText) : hasText(value) ? value : null;
}

function hasText(value: unknown): boolean {
  if (typeof value === "string") return checkVisible(value) === undefined;
  return typeof value === "boolean" || numberText(value) !== undefined;
}
