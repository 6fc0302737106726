// Who this machine is signed in as.
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { readClaims } from "../client/credential.ts";
import { readIfThere } from "../client/own-file.ts";
import type { Session } from "../client/session.ts";
import { cachedAudiences, openTokenCache } from "../client/token-cache.ts";
import type { View } from "../output/view.ts";
import { note } from "../shell.ts";
import { describeToken, tokenView } from "./login.ts";

const statusView: View = {
  ...tokenView,
  columns: [
    { title: "server", value: "server" },
    ...tokenView.columns,
    { title: "token from", value: "source", wide: true },
  ],
};

/** Shows whose token is in use; fails when there is none, or when the server refuses it. */
export async function showStatus(session: Session, quick: boolean): Promise<void> {
  const { token, source } = await session.credential();
  if (!quick) await checkWithServer(session, token);
  await session.output.one(statusView, { server: session.url, ...describeToken(token), source });
}

/** Prints the token and nothing else, so that it can be put into a header as it comes: for the API, or for what is named. */
export async function printToken(session: Session, audience: string | undefined): Promise<void> {
  const found = await (audience === undefined ? session.credential() : session.credentialFor(audience));
  session.shell.stdout.write(found.token);
}

/** Forgets the tokens of a server, those for its registry too, or with an audience those for it alone. */
export function logout(session: Session, audience: string | undefined): void {
  const { shell } = session;
  const others = audience === undefined ? cachedAudiences(shell).filter((name) => isOf(session, name)) : [];
  const found = [session.audience, ...others].map((name) => openTokenCache(shell, name).clear());
  const whom = audience ?? session.url;
  note(shell, found.includes(true) ? `Signed out of ${whom}.` : `There was no token for ${whom}.`);
}

/** Whether what is kept for an audience was made by the server of the session. */
function isOf({ shell, issuer }: Session, audience: string): boolean {
  const token = readIfThere(openTokenCache(shell, audience).pathOf("oidc-token"));
  return token !== undefined && readClaims(token.trim())?.iss === issuer;
}

// The lookup that is open to everybody with a good token.
async function checkWithServer(session: Session, token: string): Promise<void> {
  const { iss = "", sub = "" } = (readClaims(token)?.act ?? {}) as { iss?: string; sub?: string };
  const identities = await session.client(IdentitiesService);
  await identities.lookupIdentity({ issuer: iss || session.issuer, subject: sub || "nobody" });
}
