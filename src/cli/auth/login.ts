// `gatehouse auth login`: with an identity token for workloads, or with a browser for users.
import { readClaims, type Target } from "../client/credential.ts";
import { keepTokens } from "../client/refresh.ts";
import type { Session } from "../client/session.ts";
import { requireTokenCache } from "../client/token-cache.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import type { SignedIn } from "./browser-login.ts";
import type { LoginOptions } from "./login-address.ts";

/** The flags of the command. */
export interface LoginFlags extends LoginOptions {
  /** The audiences of the tokens. Defaults to that of the session. */
  readonly audience?: string | readonly string[];
  readonly identityToken?: string;
  readonly headless?: boolean;
  readonly browser?: boolean;
}

/** Shows what a token contains, without the token. */
export const tokenView: View = {
  noun: "tokens",
  id: "identity",
  columns: [
    { title: "identity", value: "identity" },
    { title: "signed in as", value: "signedInAs" },
    { title: "audience", value: "audience" },
    { title: "expires", value: "expires" },
  ],
};

/**
 * Gets a token for each audience, and caches them when all succeeded. Each takes a sign-in of its own, because each
 * token has one audience and its own refresh token, which other programs look for.
 */
export async function login({ shell, url, issuer, audience, output }: Session, flags: LoginFlags): Promise<void> {
  const targets = [...new Set([flags.audience ?? audience].flat())].map((wanted) => ({
    url,
    issuer,
    audience: wanted,
  }));
  requireTokenCache(shell);
  const identityToken = await findIdentityToken(shell, targets[0]!, flags);
  const done: { readonly target: Target; readonly tokens: SignedIn }[] = [];
  for (const target of targets) {
    const tokens = await signIn(shell, target, flags, identityToken);
    if (readClaims(tokens.token) === undefined) throw new CommandFailure(`${issuer} did not respond with a token`);
    done.push({ target, tokens });
  }
  for (const { target, tokens } of done) keepTokens(shell, target, tokens.token, tokens.refreshToken);
  const [first, ...others] = done.map(({ tokens }) => describeToken(tokens.token));
  await (others.length === 0 ? output.one(tokenView, first!) : output.list(tokenView, [first!, ...others]));
}

/** Describes a token by its claims. */
export function describeToken(token: string) {
  const { sub = "", aud = "", exp, act } = readClaims(token) ?? {};
  const { iss, sub: upstream } = (act ?? {}) as { iss?: string; sub?: string };
  return {
    identity: sub,
    ...(upstream !== undefined && { signedInAs: `${upstream} (${iss ?? ""})` }),
    audience: [aud].flat().join(","),
    ...(exp !== undefined && { expires: new Date(exp * 1000).toISOString() }),
  };
}

async function findIdentityToken(shell: Shell, target: Target, flags: LoginFlags): Promise<string | undefined> {
  const workload = await import("./identity-token.ts");
  if (flags.identityToken !== undefined) return workload.readIdentityToken("--identity-token", flags.identityToken);
  // A CI runner has no user who could open a browser.
  return shell.interactive ? undefined : await workload.findAmbientToken(shell, target);
}

async function signIn(
  shell: Shell,
  target: Target,
  flags: LoginFlags,
  identityToken: string | undefined,
): Promise<SignedIn> {
  if (identityToken !== undefined) {
    const { exchangeIdentityToken } = await import("./identity-token.ts");
    return { token: await exchangeIdentityToken(target, flags.identity ?? "", identityToken), refreshToken: "" };
  }
  if (flags.headless) return await (await import("./headless-login.ts")).loginHeadless(shell, target, flags);
  if (!shell.interactive && flags.browser !== false) {
    throw wrongUsage(
      "there is no terminal, so nobody can sign in with a browser",
      "Give --identity-token FILE for a workload, --headless to sign in on another device, or --no-browser\nto have the address printed.",
    );
  }
  return await (await import("./browser-login.ts")).loginInBrowser(shell, target, flags);
}
