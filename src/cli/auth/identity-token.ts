// Sign-in of workloads: the identity token of a CI system or a cloud is exchanged for an API token.
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { Target } from "../client/credential.ts";
import { reach } from "../client/reach.ts";
import { failing, withBearer } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { fileOrText } from "../resources/flags.ts";
import type { Shell } from "../shell.ts";

/** Exchanges an identity token. Without an identity the server finds the only one that the token fits. */
export async function exchangeIdentityToken(target: Target, identity: string, token: string): Promise<string> {
  const { createClient } = await import("@connectrpc/connect");
  const reply = await withBearer(target, token, (transport) =>
    createClient(SecurityTokenService, failing(transport, target)).exchange({ aud: [target.audience], identity }),
  );
  return reply.token;
}

/** The identity token: as given, or the content of the file that the text names. */
export function readIdentityToken(text: string): string {
  const token = fileOrText(text);
  // Of three parts, or the signed request of AWS, which is long.
  if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token) || /^[\w-]{200,}={0,2}$/.test(token)) return token;
  throw new CommandFailure("the identity token is neither a file that can be read nor a token", {
    hint: "Give --identity-token the path of a file, or a JSON Web Token.",
  });
}

/** The identity token that GitHub Actions has for the asking; undefined anywhere else. */
export async function findAmbientToken({ environment }: Shell, target: Target): Promise<string | undefined> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = environment;
  if (!url || !token) return undefined;
  const address = new URL(url);
  address.searchParams.set("audience", target.issuer);
  const headers = { authorization: `Bearer ${token}` };
  const reply = await reach("the runner", address, { headers, redirect: "error" });
  const body: unknown = reply.ok ? await reply.json().catch(() => undefined) : undefined;
  const value = (body as { value?: unknown } | undefined)?.value;
  if (typeof value === "string") return value;
  throw new CommandFailure(`the runner answers ${reply.status} when asked for an identity token`, {
    hint: 'The job needs "permissions: {id-token: write}".',
  });
}
