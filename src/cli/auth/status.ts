// Who this machine is signed in as.
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { readClaims } from "../client/credential.ts";
import type { Session } from "../client/session.ts";
import { openTokenCache } from "../client/token-cache.ts";
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

/** Prints the token and nothing else, so that it can be put into a header as it comes. */
export async function printToken(session: Session): Promise<void> {
  session.shell.stdout.write((await session.credential()).token);
}

/** Forgets the tokens of a server. */
export function logout(session: Session): void {
  const found = openTokenCache(session.shell, session.audience).clear();
  note(session.shell, found ? `Signed out of ${session.url}.` : `There was no token for ${session.url}.`);
}

// The lookup that is open to everybody with a good token.
async function checkWithServer(session: Session, token: string): Promise<void> {
  const { iss = "", sub = "" } = (readClaims(token)?.act ?? {}) as { iss?: string; sub?: string };
  const identities = await session.client(IdentitiesService);
  await identities.lookupIdentity({ issuer: iss || session.issuer, subject: sub || "nobody" });
}
