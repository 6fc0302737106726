// Shows who is signed in.
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { AccessRequestsService } from "../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { isSameAudience } from "../../sts/audiences.ts";
import { issuerOf, readClaims } from "../client/credential.ts";
import { configuredAudience } from "../client/open-session.ts";
import { readIfThere } from "../client/own-file.ts";
import type { Session } from "../client/session.ts";
import { openTokenCache, openTokenCaches, type TokenCache } from "../client/token-cache.ts";
import { printable } from "../escape.ts";
import type { View } from "../output/view.ts";
import { note, type Shell } from "../shell.ts";
import { describeToken, tokenView } from "./login.ts";

const statusView: View = {
  ...tokenView,
  columns: [
    { title: "server", value: "server" },
    ...tokenView.columns,
    { title: "token from", value: "source", wide: true },
  ],
};

/**
 * Shows the current token for the API or for an audience. Fails if there is none, or if the server rejects it. The API
 * accepts no token for another audience (docs/design/registry.md), so the server is not asked about one.
 */
export async function showStatus(session: Session, quick: boolean, audience: string | undefined): Promise<void> {
  const forApi =
    audience === undefined ||
    [session.url, configuredAudience(session.shell, session.config) ?? session.url].some((one) =>
      isSameAudience(one, audience),
    );
  const find = () => (forApi ? session.credential() : session.credentialFor(audience));
  if (forApi && !quick) await checkWithServer(session, (await find()).token);
  // After the server was asked, because the session may have renewed the token.
  const { token, source } = await find();
  await session.output.one(statusView, { server: session.url, ...describeToken(token), source });
  if (forApi && !quick) await noteWaiting(session, token);
  if (forApi || quick) return;
  const notAsked = `The server was not asked whether it takes this token: the API takes none for ${printable(audience)}.`;
  note(session.shell, `${notAsked}\n\`gatehouse auth status\` checks the token for the API.`);
}

/** Says how many access requests wait for a person. */
async function noteWaiting(session: Session, token: string): Promise<void> {
  // Workloads decide nothing; their uids have a slash.
  if (String(readClaims(token)?.sub ?? "/").includes("/")) return;
  const count = await countWaiting(session);
  if (count === 0) return;
  const requests = count === 1 ? "1 access request waits" : `${count} access requests wait`;
  note(session.shell, `${requests} for you: \`gatehouse iam access-requests list --to-decide\`.`);
}

async function countWaiting(session: Session): Promise<number> {
  const { listMyAccessRequests } = AccessRequestsService.method;
  try {
    const { toDecide, toAcknowledge } = await session.call(listMyAccessRequests, {});
    return [toDecide, toAcknowledge].flatMap((requests) => requests ?? []).length;
  } catch {
    // A narrowed token may not ask, and an older server does not know the method. The status is right without it.
    return 0;
  }
}

/** Prints only the token, for use in a header: for the API or for an audience. */
export async function printToken(session: Session, audience: string | undefined): Promise<void> {
  const found = await (audience === undefined ? session.credential() : session.credentialFor(audience));
  session.shell.stdout.write(found.token);
}

/**
 * Deletes the cached tokens of a server, or those for one audience. Tokens for other audiences are recognized by their
 * issuer; a cache that does not name it, such as a refresh token alone, stays and its folder is printed.
 */
export function logout(session: Session, audience: string | undefined): void {
  const { shell } = session;
  const api = openTokenCache(shell, session.audience);
  // The API's token names the issuer even if the address differs.
  const issuers = [session.issuer, makerOf(api)].filter((issuer) => issuer !== undefined);
  const others = audience === undefined ? openTokenCaches(shell).filter(isOf(issuers)) : [];
  const found = [api, ...others].map((cache) => cache.clear());
  const whom = audience ?? session.url;
  note(shell, found.includes(true) ? `Signed out of ${whom}.` : `There was no token for ${whom}.`);
  if (audience === undefined) noteLeft(shell);
}

function isOf(issuers: readonly string[]): (cache: TokenCache) => boolean {
  return (cache) => issuers.some((issuer) => isSameAudience(issuer, makerOf(cache) ?? ""));
}

/** Returns the issuer of a cached token. Invalid content must not prevent signing out. */
function makerOf(cache: TokenCache): string | undefined {
  return issuerOf(readIfThere(cache.pathOf("oidc-token"))?.trim() ?? "");
}

function noteLeft(shell: Shell): void {
  const left = openTokenCaches(shell).map((cache) => {
    const issuer = makerOf(cache);
    return `  ${cache.folder} (${issuer === undefined ? "does not say of which server" : `of ${printable(issuer)}`})`;
  });
  if (left.length === 0) return;
  const hint = "`gatehouse auth logout --audience NAME` deletes the tokens for one audience.";
  note(shell, ["Tokens of unknown issuers were kept:", ...left, hint].join("\n"));
}

// The method that every valid token may call.
async function checkWithServer(session: Session, token: string): Promise<void> {
  const { iss = "", sub = "" } = (readClaims(token)?.act ?? {}) as { iss?: string; sub?: string };
  const identities = await session.client(IdentitiesService);
  await identities.lookupIdentity({ issuer: iss || session.issuer, subject: sub || "nobody" });
}
