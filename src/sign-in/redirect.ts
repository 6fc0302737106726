// The redirect address on the user's machine that receives the token.
import { hasPortZero } from "../base/address-ranges.ts";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);
const maxLength = 2048;

/**
 * RFC 8252 §7.3: plain http, a loopback host, any port. Returns undefined for anything else, because the address
 * receives a token.
 */
export function parseRedirect(text: string): URL | undefined {
  const url = text.length <= maxLength ? URL.parse(text) : null;
  if (url?.protocol !== "http:" || !loopbackHosts.has(url.hostname) || hasPortZero(url)) return undefined;
  // Checked as text: an empty user name leaves no trace in a parsed URL.
  const authority = /^http:\/\/([^/?#]*)/i.exec(text)?.[1] ?? "@";
  return authority.includes("@") || url.hash !== "" ? undefined : url;
}

/** Returns the address with a token. Clients read the first `token` parameter, so an existing one is replaced. */
export function withToken(redirect: string, token: string, refreshToken: string | undefined): string {
  const url = new URL(redirect);
  url.searchParams.set("token", token);
  url.searchParams.delete("error");
  if (refreshToken !== undefined) url.searchParams.set("refresh_token", refreshToken);
  return url.href;
}

/** Returns the address with an error. For clients, a `status_code` of 404 means that the user must register. */
export function withError(redirect: string, message: string, status: number): string {
  const url = new URL(redirect);
  for (const name of ["token", "refresh_token"]) url.searchParams.delete(name);
  url.searchParams.set("error", message);
  url.searchParams.set("status_code", String(status));
  return url.href;
}
