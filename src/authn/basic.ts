import { maxBearerLength } from "./bearer.ts";

/** The user name that marks the password as an API token. */
export const tokenUser = "_token";

/** User name and password of HTTP Basic authentication. */
export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

// RFC 7617 §2.
const pattern = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Parses an Authorization header of the scheme Basic. Returns undefined for other schemes and for repeated headers. */
export function parseBasic(header: string | undefined): BasicCredentials | undefined {
  if (header === undefined || header.length > 2 * maxBearerLength) return undefined;
  const text = Buffer.from(pattern.exec(header.trim())?.[1] ?? "", "base64").toString();
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Turns Basic credentials of the user `_token` into a Bearer header, for clients that cannot send one. Returns any
 * other header unchanged.
 */
export function withBearer(header: string | undefined): string | undefined {
  const credentials = parseBasic(header);
  return credentials?.user === tokenUser ? `Bearer ${credentials.password}` : header;
}
