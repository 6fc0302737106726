// `gatehouse auth login`: as a workload with an identity token, or as a person with a browser here or elsewhere.
import { readClaims } from "../client/credential.ts";
import { keepTokens } from "../client/refresh.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { View } from "../output/view.ts";
import type { SignedIn } from "./browser-login.ts";
import type { LoginOptions } from "./login-address.ts";

/** The flags of the command. */
export interface LoginFlags extends LoginOptions {
  readonly identityToken?: string;
  readonly headless?: boolean;
  readonly browser?: boolean;
}

/** What is shown of a token: everything but the token. */
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

/** Gets a token and keeps it in the cache. */
export async function login(session: Session, flags: LoginFlags): Promise<void> {
  const { token, refreshToken } = await signIn(session, flags);
  if (readClaims(token) === undefined) throw new CommandFailure(`${session.issuer} did not answer with a token`);
  keepTokens(session.shell, session, token, refreshToken);
  await session.output.one(tokenView, describeToken(token));
}

/** What a token says of itself. */
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

async function signIn(session: Session, flags: LoginFlags): Promise<SignedIn> {
  const { shell } = session;
  const workload = await import("./identity-token.ts");
  const given =
    flags.identityToken === undefined ? undefined : workload.readIdentityToken("--identity-token", flags.identityToken);
  // A runner has nobody who could look at a browser.
  const token = given ?? (shell.interactive ? undefined : await workload.findAmbientToken(shell, session));
  if (token !== undefined) {
    return { token: await workload.exchangeIdentityToken(session, flags.identity ?? "", token), refreshToken: "" };
  }
  if (flags.headless) return await (await import("./headless-login.ts")).loginHeadless(shell, session, flags);
  if (!shell.interactive && flags.browser !== false) {
    throw wrongUsage(
      "there is no terminal, so nobody can sign in with a browser",
      "Give --identity-token FILE for a workload, --headless to sign in on another device, or --no-browser\nto have the address printed.",
    );
  }
  return await (await import("./browser-login.ts")).loginInBrowser(shell, session, flags);
}
