// Claims from the UserInfo endpoint of a login provider.
import type { Claims } from "../sts/claim-match.ts";
import type { LoginProvider } from "./login-provider.ts";

/**
 * Returns the claims of a user: those of the ID token, and from UserInfo those that were requested but are missing.
 * OpenID Connect Core 1.0 §5.4: with a code, requested claims may be in UserInfo only. `ask` is called only if
 * something is missing.
 */
export async function withUserInfo(
  provider: LoginProvider,
  claims: Claims,
  ask: () => Promise<Claims>,
): Promise<Claims> {
  const missing = missingClaims(provider, claims);
  if (missing.length === 0) return claims;
  const told = Object.entries(await ask()).filter(([name]) => missing.includes(name));
  return { ...claims, ...Object.fromEntries(told) };
}

function missingClaims({ scopes, organization }: LoginProvider, claims: Claims): string[] {
  const groups = organization?.groupsClaim ?? "";
  return [
    // Taken together: whether an address is verified depends on who reports the address (security case X11).
    ...(scopes.includes("email") && !Object.hasOwn(claims, "email") ? ["email", "email_verified"] : []),
    ...(scopes.includes("profile") && !Object.hasOwn(claims, "name") ? ["name"] : []),
    ...(groups !== "" && !Object.hasOwn(claims, groups) ? [groups] : []),
  ];
}
