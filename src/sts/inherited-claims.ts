import type { TokenRequest } from "../authn/token-claims.ts";
import type { Claims } from "./claim-match.ts";

/** Longer texts would leave no space for the rest of the token. */
const maxActLength = 1024;

/** RFC 5321 §4.5.3.1. Longer addresses are left out. */
const maxEmailLength = 254;

/** Returns the claims that a new token takes over from its subject token. */
export function inheritedClaims(claims: Claims): Pick<TokenRequest, "act" | "email" | "emailVerified"> {
  const { iss, sub, aud, email } = claims;
  const act = { iss: actText(iss), sub: actText(sub), aud: actText(aud) };
  if (typeof email !== "string" || email === "" || email.length > maxEmailLength) return { act };
  const isStated = Object.hasOwn(claims, "email_verified");
  return {
    act: { ...act, email },
    email,
    emailVerified: isStated ? claims.email_verified === true && isPlainEmail(email) : undefined,
  };
}

function actText(value: unknown): string {
  // An array may contain anything, such as an object with its own `toString`: only its strings count.
  const text = [value].flat().filter(isText).join(",");
  // A cut may halve a surrogate pair.
  return text.length > maxActLength ? text.slice(0, maxActLength).toWellFormed() : text;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

// ASCII with one @ and no final dot: never vouch for what other software reads as another address (security case X11).
function isPlainEmail(email: string): boolean {
  return /^[\x21-\x3f\x41-\x7e]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/.test(email);
}
