// Which token a command sends, and where it came from.

import path from "node:path";
import { decodeJwt, type JWTPayload } from "jose";
import { CommandFailure } from "../failure.ts";
import { whileLocked } from "../lock.ts";
import type { Shell } from "../shell.ts";
import { checkToken, openTokenCache, readToken, type TokenCache } from "./token-cache.ts";

/** A token, and what to call the place that it came from. */
export interface Credential {
  readonly token: string;
  readonly source: string;
  /** Milliseconds since the epoch; undefined when the token does not say. */
  readonly expiresAt: number | undefined;
}

/** What a server is called, and what its tokens are for. */
export interface Target {
  readonly url: string;
  /** Where its tokens are made. */
  readonly issuer: string;
  readonly audience: string;
}

/** Gets a new token for a refresh token; undefined when the server does not want to. */
export type Refresh = (refreshToken: string) => Promise<string | undefined>;

/** Tokens with less to live are renewed, as the platform's SDK does. */
const shortestLifeMs = 60_000;

/**
 * The token for a server: GATEHOUSE_TOKEN, else the token cache, else the owner's token of a development server.
 *
 * Fails with a hint when there is none, or when it has expired and cannot be renewed.
 */
export async function findCredential(shell: Shell, target: Target, refresh: Refresh): Promise<Credential> {
  const given = shell.environment.GATEHOUSE_TOKEN?.trim();
  if (given)
    return checkLife(
      toCredential(checkToken(given, "GATEHOUSE_TOKEN"), "GATEHOUSE_TOKEN"),
      "Set GATEHOUSE_TOKEN to a token that is valid.",
    );
  const cached = await findCached(shell, target, refresh);
  if (cached && !isExpired(cached)) return cached;
  const development = findDevelopmentToken(shell, target);
  if (development && !isExpired(development)) return development;
  if (cached) return checkLife(cached, "Sign in again with `gatehouse auth login`.");
  throw new CommandFailure(`not signed in to ${target.url}`, {
    hint: "Sign in with `gatehouse auth login`, or set GATEHOUSE_TOKEN to a token for this server.\nAnother server is named with --url, GATEHOUSE_URL or `gatehouse config set platform.api URL`.\nA development server that runs leaves a token: start one here with `npm start`, or name the data directory of one\nwith GATEHOUSE_DATA_DIR.",
  });
}

/** The claims of a token, none of them verified; undefined when it is no JSON Web Token. */
export function readClaims(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

async function findCached(shell: Shell, { audience }: Target, refresh: Refresh): Promise<Credential | undefined> {
  const cache = openTokenCache(shell, audience);
  const cached = readCached(cache);
  if (isLasting(cached) || cache.read("refresh-token") === undefined) return cached;
  // Whoever uses a refresh token for a second time ends its family, and with it the sign-in.
  return await whileLocked(`${cache.pathOf("refresh-token")}.lock`, async () => {
    const found = readCached(cache);
    const refreshToken = isLasting(found) ? undefined : cache.read("refresh-token");
    const renewed = refreshToken === undefined ? undefined : await refresh(refreshToken);
    return renewed === undefined ? found : toCredential(renewed, cache.pathOf("oidc-token"));
  });
}

function readCached(cache: TokenCache): Credential | undefined {
  const token = cache.read("oidc-token");
  return token === undefined ? undefined : toCredential(token, cache.pathOf("oidc-token"));
}

/** Whether it need not be renewed. */
function isLasting(cached: Credential | undefined): boolean {
  return cached !== undefined && !isExpired(cached, shortestLifeMs);
}

/** In a checkout, `npm start` has left the owner's token; it is for that one server only. */
function findDevelopmentToken({ environment }: Shell, { audience }: Target): Credential | undefined {
  const file = path.resolve(environment.GATEHOUSE_DATA_DIR || "data", "owner-token");
  const token = readToken(file);
  if (token === undefined) return undefined;
  const { aud = [] } = readClaims(token) ?? {};
  return [aud].flat().includes(audience) ? toCredential(token, file) : undefined;
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
