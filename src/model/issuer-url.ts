// Rules for issuer URLs. RFC 8414 §2 and OpenID Connect Discovery 1.0 §4.3 compare issuers character by character, so
// each URL must have exactly one spelling (docs/design/sign-in.md).
import { isIP } from "node:net";
import { bareHost, hasPortZero, isLoopbackUrl } from "../base/address-ranges.ts";
import { clip } from "../base/clip.ts";

/** The maximum length of a URL in characters. */
export const maxUrlLength = 2048;

/**
 * Returns the rule that an issuer breaks, as words that follow its name, or undefined if it is valid (security case
 * J7). `allowInsecure` permits plain http for issuers on loopback.
 */
export function checkIssuer(issuer: string, allowInsecure: boolean): string | undefined {
  const problem = checkIssuerSpelling(issuer);
  if (problem !== undefined) return problem;
  const url = new URL(issuer);
  const isInsecure = url.protocol === "http:" && allowInsecure && isLoopbackUrl(url);
  return url.protocol === "https:" || isInsecure ? undefined : notHttps;
}

/** Like `checkIssuer`, for issuers that the server never contacts: these may have an http URL anywhere. */
export function checkIssuerSpelling(issuer: string): string | undefined {
  if (issuer.length > maxUrlLength) return `must be at most ${maxUrlLength} characters long`;
  const url = URL.parse(issuer);
  if (!url || !isWeb(url)) return notHttps;
  if (hasPortZero(url)) return "must not have port 0";
  if (!isPlain(issuer)) return "must be printable ASCII without spaces and backslashes";
  // Checked as text: an empty query, fragment or user name leaves no trace in a parsed URL.
  if (issuer.includes("?")) return "must not have a query";
  if (issuer.includes("#")) return "must not have a fragment";
  const [, authority = "", path = ""] = /^[^:]*:\/\/([^/]*)(.*)$/.exec(issuer) ?? [];
  if (authority.includes("@")) return "must not have user information";
  return checkPath(path) ?? checkCanonical(issuer, url, path);
}

/**
 * Returns the rule that an endpoint in a discovery document breaks, as words that follow its name, or undefined if it
 * is valid. Endpoints are fetched but never compared, so they may have a query and any spelling. An issuer elsewhere
 * must not point to loopback.
 */
export function checkEndpoint(endpoint: unknown, issuer: string): string | undefined {
  const url = typeof endpoint === "string" && endpoint.length <= maxUrlLength ? URL.parse(endpoint) : null;
  if (!url || typeof endpoint !== "string" || !isPlain(endpoint)) return "is not a URL";
  const isHttp = url.protocol === "http:" && issuer.startsWith("http:") && isLoopbackUrl(url);
  if (url.protocol !== "https:" && !isHttp) return "is not https";
  if (hasPortZero(url)) return "has port 0";
  if (url.username !== "" || url.password !== "") return "holds credentials";
  if (endpoint.includes("#")) return "has a fragment";
  if (isLoopbackUrl(url) && !isLoopbackUrl(new URL(issuer))) return "leads to this machine";
  return undefined;
}

const notHttps = "must be an https URL";

function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

/** Rejects what the WHATWG parser silently changes: backslashes, tabs, line breaks and surrounding spaces. */
function isPlain(text: string): boolean {
  return /^[\x21-\x5b\x5d-\x7e]+$/.test(text);
}

/** `https://issuer.example` and `https://issuer.example/` are both in use, and are two different issuers. */
function checkCanonical(issuer: string, url: URL, path: string): string | undefined {
  const canonical = path === "" ? url.href.slice(0, -1) : url.href;
  if (canonical !== issuer) return `must be written as ${JSON.stringify(clip(canonical))}`;
  const hasEmptyLabel = isIP(bareHost(url)) === 0 && url.hostname.split(".").includes("");
  return hasEmptyLabel ? "must not have a dot at either end of its host, or two in a row" : undefined;
}

function checkPath(path: string): string | undefined {
  const segments = path.split("/").slice(1);
  const names = segments.map(nameOf);
  // A trailing slash leaves one empty segment.
  const isEmpty = (name: string, index: number) =>
    name === "" && (index < segments.length - 1 || segments[index] !== "");
  if (names.some(isEmpty)) return "must not have an empty path segment";
  if (names.some((name) => name === "." || name === "..")) return "must not have a dot segment in its path";
  return segments.every(isSegment) ? undefined : encodesTooMuch;
}

const encodesTooMuch =
  "must percent-encode nothing in its path but what a URL cannot hold otherwise, in upper-case hexadecimal, and no delimiter";

/**
 * Returns a segment without parameters (RFC 3986 §3.3), which some servers drop before they resolve dot segments, and
 * with encoded dots decoded.
 */
function nameOf(segment: string): string {
  return segment.replace(/%2e/gi, ".").replace(/;.*$/, "");
}

// RFC 3986 §3.3: pchar.
const segmentPattern = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})*$/;

/**
 * Characters that need no encoding (RFC 3986 §6.2.2.2), that delimit parts of a URL for software that decodes twice, or
 * that are invisible.
 */
const neverEncoded = /[A-Za-z0-9._~!$&'()*+,;=:@/\\?#[\]%\p{C}-]/u;

function isSegment(segment: string): boolean {
  if (!segmentPattern.test(segment)) return false;
  const encoded = segment.match(/(?:%[0-9A-F]{2})+/g) ?? [];
  return encoded.every((run) => {
    const decoded = decode(run);
    return decoded !== undefined && !neverEncoded.test(decoded);
  });
}

/** Returns undefined if the bytes are not valid UTF-8, such as an overlong encoding of a dot. */
function decode(run: string): string | undefined {
  try {
    return decodeURIComponent(run);
  } catch {
    return undefined;
  }
}
