import type { TokenRequest } from "../authn/token-claims.ts";
import type { Claims } from "./claim-match.ts";

/** Longer texts would leave no room for the rest of the token. */
const maxActLength = 1024;

/** RFC 5321 §4.5.3.1. A longer address is none, and left out. */
const maxEmailLength = 254;

/** What a new token says of the outside token that it is exchanged for. */
export function inheritedClaims(claims: Claims): Pick<TokenRequest, "act" | "email" | "emailVerified"> {
  const { iss, sub, aud, email } = claims;
  const act = { iss: actText(iss), sub: actText(sub), aud: actText(aud) };
  if (typeof email !== "string" || email === "" || email.length > maxEmailLength) return { act };
  const isStated = Object.hasOwn(claims, "email_verified");
  return {
    act: { ...act, email },
    email,
    ...(isStated && { emailVerified: claims.email_verified === true && isPlainEmail(email) }),
  };
}

function actText(value: unknown): string {
  // An issuer may put anything into a list, such as an object with a `toString` of its own: one text in it was for us.
  const text = [value].flat().filter(isText).join(",");
  // A cut may halve a surrogate pair.
  return text.length > maxActLength ? text.slice(0, maxActLength).toWellFormed() : text;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

// ASCII with one @ and no dot at the end: what others read as another address is never vouched for (security case X11).
function isPlainEmail(email: string): boolean {
  return /^[\x21-\x3f\x41-\x7e]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/.test(email);
}
