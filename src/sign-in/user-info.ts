// What a login provider says of a person at its UserInfo endpoint rather than in the ID token.
import type { Claims } from "../sts/claim-match.ts";
import type { LoginProvider } from "./login-provider.ts";

/**
 * The claims of a person: those of the ID token, and of what was asked for and is not in it, what UserInfo says. OpenID Connect
 * Core 1.0 §5.4: with a code, what scopes ask for need be nowhere else. `ask` is called only if something is missing.
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
    // Together: whether an address is verified counts only with who said so (security case X11).
    ...(scopes.includes("email") && !Object.hasOwn(claims, "email") ? ["email", "email_verified"] : []),
    ...(scopes.includes("profile") && !Object.hasOwn(claims, "name") ? ["name"] : []),
    ...(groups !== "" && !Object.hasOwn(claims, groups) ? [groups] : []),
  ];
}
