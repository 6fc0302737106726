// Finds the token that a command sends.
import path from "node:path";
import type { JWTPayload } from "jose";
import { isJsonObject } from "../../base/json.ts";
import { ownerTokenFiles } from "../../server/development/owner-token-files.ts";
import { isSameAudience } from "../../sts/audiences.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import { whileLocked } from "../lock.ts";
import type { Shell } from "../shell.ts";
import { checkToken, openTokenCache, readToken, type TokenCache } from "./token-cache.ts";

/** A token, and a description of its source. */
export interface Credential {
  readonly token: string;
  readonly source: string;
  /** Milliseconds since the epoch; undefined if the token does not say. */
  readonly expiresAt: number | undefined;
}

/** The server of a command, and the audience of its tokens. */
export interface Target {
  readonly url: string;
  /** The issuer of its tokens. */
  readonly issuer: string;
  readonly audience: string;
}

/** Exchanges a refresh token for a new token. Returns undefined if the server rejects it. */
export type Refresh = (refreshToken: string) => Promise<string | undefined>;

/** Reports whether a cache is usable: it has a token, or only a refresh token. */
type Accepts = (token: string | undefined) => boolean;

/** Tokens that expire sooner are renewed, as in the platform's SDK. */
const shortestLifeMs = 60_000;

/**
 * Returns the token for a server's API: from GATEHOUSE_TOKEN, else from the token cache, else the owner token of a
 * development server.
 *
 * Fails with a hint if there is none, or if it has expired and cannot be renewed. Without `refresh`, no token is
 * renewed.
 */
export async function findCredential(shell: Shell, target: Target, refresh: Refresh | undefined): Promise<Credential> {
  const given = givenToken(shell);
  if (given !== undefined) return checkLife(given, "Set GATEHOUSE_TOKEN to a token that is valid.");
  const kept = await findKept(shell, target, refresh, () => true);
  if (kept) return checkLife(kept, "Sign in again with `gatehouse auth login`.");
  throw new CommandFailure(`not signed in to ${target.url}`, {
    hint: `Sign in with \`gatehouse auth login\`, or set GATEHOUSE_TOKEN to a token for this server.\nAnother server is named with --url, GATEHOUSE_URL or \`gatehouse config set platform.api URL\`.\n${developmentHint(shell)}`,
  });
}

/**
 * Like `findCredential`, for one exact audience such as a container registry. Ignores GATEHOUSE_TOKEN unless its `aud`
 * is the audience, and cached tokens unless their `iss` matches too: a token must not be sent to a server that it was
 * not issued for, and registries of several servers may share a name.
 */
export async function findCredentialFor(
  shell: Shell,
  target: Target,
  refresh: Refresh | undefined,
): Promise<Credential> {
  const { audience } = target;
  const given = givenToken(shell);
  if (given !== undefined && isFor(given.token, audience))
    return checkLife(given, "Set GATEHOUSE_TOKEN to a token that is valid.");
  const command = `\`gatehouse auth login --audience ${audience}\``;
  const isOwn: Accepts = (token) =>
    token !== undefined && isFor(token, audience) && isSameAudience(issuerOf(token) ?? "", target.issuer);
  const kept = await findKept(shell, target, refresh, isOwn);
  if (kept) return checkLife(kept, `Sign in again with ${command}.`);
  const present = given === undefined ? "" : "; GATEHOUSE_TOKEN is for another audience";
  throw new CommandFailure(`there is no token for ${audience}${present}${describeForeign(shell, target)}`, {
    hint: `Sign in for it with ${command}.\nOf a development server that runs, name the data directory with GATEHOUSE_DATA_DIR.`,
  });
}

/** Describes a cached token of another issuer: one server may have two addresses. */
function describeForeign(shell: Shell, { audience, issuer }: Target): string {
  const cached = readCached(openTokenCache(shell, audience));
  const other = cached && issuerOf(cached.token);
  if (!cached || other === undefined || isSameAudience(other, issuer)) return "";
  return `; the one in ${cached.source} is of ${printable(other)}, not of ${issuer}: another server is named with --url`;
}

function givenToken({ environment }: Shell): Credential | undefined {
  const given = environment.GATEHOUSE_TOKEN?.trim();
  return given ? toCredential(checkToken(given, "GATEHOUSE_TOKEN", 2), "GATEHOUSE_TOKEN") : undefined;
}

/**
 * Returns the cached token or, if that is not usable, that of a development server. Without any other,
 * returns an expired token.
 */
async function findKept(
  shell: Shell,
  target: Target,
  refresh: Refresh | undefined,
  accepts: Accepts,
): Promise<Credential | undefined> {
  const cached = await findCached(shell, target, refresh, accepts);
  if (cached && !isExpired(cached)) return cached;
  const development = findDevelopmentToken(shell, target, accepts);
  return development && !isExpired(development) ? development : cached;
}

/**
 * Returns another token for one that the server rejects although it has not expired: one that another process has
 * cached meanwhile, else one from the refresh token. Undefined if the rejected token is not in the cache.
 */
export async function renewCached(
  shell: Shell,
  { audience }: Target,
  refresh: Refresh,
  rejected: string,
): Promise<Credential | undefined> {
  if (givenToken(shell) !== undefined) return undefined;
  const cache = openTokenCache(shell, audience);
  if (cache.read("refresh-token") === undefined) return undefined;
  return await whileLocked(`${cache.pathOf("refresh-token")}.lock`, async () => {
    const cached = readCached(cache);
    if (cached && cached.token !== rejected) return isExpired(cached) ? undefined : cached;
    const refreshToken = cache.read("refresh-token");
    const renewed = !cached || refreshToken === undefined ? undefined : await refresh(refreshToken);
    return renewed === undefined ? undefined : toCredential(renewed, cache.pathOf("oidc-token"));
  });
}

/** Returns the unverified claims of a token, or undefined if it is not a JSON Web Token. */
export function readClaims(token: string): JWTPayload | undefined {
  const [, payload = "", signature] = token.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    return isJsonObject(claims) && signature !== undefined ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the unverified issuer of a token, or undefined. */
export function issuerOf(token: string): string | undefined {
  const iss: unknown = readClaims(token)?.iss;
  return typeof iss === "string" ? iss : undefined;
}

async function findCached(
  shell: Shell,
  { audience }: Target,
  refresh: Refresh | undefined,
  accepts: Accepts,
): Promise<Credential | undefined> {
  const cache = openTokenCache(shell, audience);
  const cached = readCached(cache);
  // A refresh token has no issuer: it belongs to the token next to it.
  if (!accepts(cached?.token)) return undefined;
  if (!refresh || isLasting(cached) || cache.read("refresh-token") === undefined) return cached;
  // Using a refresh token twice ends its family, and with it the sign-in.
  return await whileLocked(`${cache.pathOf("refresh-token")}.lock`, async () => {
    const found = readCached(cache);
    if (!accepts(found?.token)) return undefined;
    const refreshToken = isLasting(found) ? undefined : cache.read("refresh-token");
    const renewed = refreshToken === undefined ? undefined : await refresh(refreshToken);
    return renewed === undefined ? found : toCredential(renewed, cache.pathOf("oidc-token"));
  });
}

function readCached(cache: TokenCache): Credential | undefined {
  const token = cache.read("oidc-token");
  return token === undefined ? undefined : toCredential(token, cache.pathOf("oidc-token"));
}

/** Reports whether a token needs no renewal. */
function isLasting(cached: Credential | undefined): boolean {
  return cached !== undefined && !isExpired(cached, shortestLifeMs);
}

/** Tells how to get the owner token of a development server, and for which address there is one. */
function developmentHint({ environment }: Shell): string {
  const file = path.resolve(environment.GATEHOUSE_DATA_DIR || "data", ownerTokenFiles.api);
  const [audience]: unknown[] = [readClaims(readToken(file) ?? "")?.aud ?? []].flat();
  return typeof audience !== "string"
    ? "A development server that runs leaves a token: start one here with `npm start`, or name the data directory of one\nwith GATEHOUSE_DATA_DIR."
    : `The token in ${file}\nis for ${printable(audience)}: that is the address of its development server.`;
}

/** `npm start` stores owner tokens in the checkout; each is for one audience of that server. */
function findDevelopmentToken({ environment }: Shell, { audience }: Target, accepts: Accepts): Credential | undefined {
  for (const name of Object.values(ownerTokenFiles)) {
    const file = path.resolve(environment.GATEHOUSE_DATA_DIR || "data", name);
    const token = readToken(file);
    if (token !== undefined && isFor(token, audience) && accepts(token)) return toCredential(token, file);
  }
  return undefined;
}

function isFor(token: string, audience: string): boolean {
  const { aud = [] } = readClaims(token) ?? {};
  return [aud].flat().some((one) => typeof one === "string" && isSameAudience(one, audience));
}

function toCredential(token: string, source: string): Credential {
  const exp = readClaims(token)?.exp;
  return { token, source, expiresAt: exp === undefined ? undefined : exp * 1000 };
}

function isExpired({ expiresAt }: Credential, marginMs = 0): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now() + marginMs;
}

function checkLife(credential: Credential, hint: string): Credential {
  if (!isExpired(credential)) return credential;
  const time = new Date(credential.expiresAt ?? 0).toISOString();
  throw new CommandFailure(`the token in ${credential.source} expired at ${time}`, { hint });
}
