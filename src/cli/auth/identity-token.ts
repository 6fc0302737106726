// Sign-in of workloads: exchanges the identity token of a CI system or cloud for an API token.
import { existsSync } from "node:fs";
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { Target } from "../client/credential.ts";
import { reach } from "../client/reach.ts";
import { failing, withBearer } from "../client/transport.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { fileOf } from "../resources/flags.ts";
import type { Shell } from "../shell.ts";

/** Exchanges an identity token. Without an identity, the server uses the only one that the token matches. */
export async function exchangeIdentityToken(target: Target, identity: string, token: string): Promise<string> {
  const { createClient } = await import("@connectrpc/connect");
  const reply = await withBearer(target, token, (transport) =>
    createClient(SecurityTokenService, failing(transport, target)).exchange({ aud: [target.audience], identity }),
  );
  return reply.token;
}

/** Returns the identity token of a flag: the token itself, or the content of the file. Wrong usage if it is neither. */
export function readIdentityToken(flag: string, text: string): string {
  if (isIdentityToken(text)) return text;
  // The value may be a truncated token, so it is not printed.
  if (!existsSync(text)) throw wrongUsage(`${flag}: neither a file that can be read nor a token`, hintOf(flag));
  return readIdentityTokenFile(flag, text);
}

/** Returns the identity token in the file that a flag names. Wrong usage if the file has none. */
export function readIdentityTokenFile(flag: string, file: string): string {
  const token = fileOf(flag, file);
  if (isIdentityToken(token)) return token;
  throw wrongUsage(`${flag}: ${file} does not contain an identity token`, hintOf(flag));
}

function hintOf(flag: string): string {
  return `Give ${flag} the path of a file with a JSON Web Token.`;
}

/** Returns a token with three segments, or a signed AWS request, which is long. */
function isIdentityToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text) || /^[\w-]{200,}={0,2}$/.test(text);
}

/** Requests an identity token from GitHub Actions; undefined outside of it. */
export async function findAmbientToken({ environment }: Shell, target: Target): Promise<string | undefined> {
  const { GitHubActionsError, requestGitHubActionsToken } = await import(
    "../../../packages/client/src/github-actions.ts"
  );
  const fetch = (url: URL, init: RequestInit) => reach("the runner", url, init);
  try {
    return await requestGitHubActionsToken({ audience: target.issuer, environment, fetch });
  } catch (error) {
    if (!(error instanceof GitHubActionsError)) throw error;
    throw new CommandFailure(error.message, { hint: 'The job needs "permissions: {id-token: write}".' });
  }
}
