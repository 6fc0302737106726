import { maxBearerLength } from "./bearer.ts";

/** The user name that says: the password is an API token. */
export const tokenUser = "_token";

/** A name and a password. */
export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

// RFC 7617 §2.
const pattern = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Reads an Authorization header of the scheme Basic; undefined for any other, and for two at once. */
export function parseBasic(header: string | undefined): BasicCredentials | undefined {
  if (header === undefined || header.length > 2 * maxBearerLength) return undefined;
  const text = Buffer.from(pattern.exec(header.trim())?.[1] ?? "", "base64").toString();
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** The header with the password of `_token` as a bearer token, for clients that cannot send one; any other header as it is. */
export function withBearer(header: string | undefined): string | undefined {
  const credentials = parseBasic(header);
  return credentials?.user === tokenUser ? `Bearer ${credentials.password}` : header;
}
