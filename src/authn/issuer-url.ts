// What an issuer is: RFC 8414 §2 and OpenID Connect Discovery 1.0 §4.3 compare issuers to the letter, so one URL must have one
// spelling (docs/decisions/0037).
import { isIP } from "node:net";
import { clip } from "../aip/clip.ts";
import { bareHost, isLoopbackUrl } from "./addresses.ts";

/** The longest URL, in characters. */
export const maxUrlLength = 2048;

/**
 * The rule that an issuer breaks, as words that follow its name; undefined for a good one (security case J7). Plain http is for
 * issuers on this machine, where it is allowed.
 */
export function checkIssuer(issuer: string, allowInsecure: boolean): string | undefined {
  const problem = checkIssuerSpelling(issuer);
  if (problem !== undefined) return problem;
  const url = new URL(issuer);
  const isInsecure = url.protocol === "http:" && allowInsecure && isLoopbackUrl(url);
  return url.protocol === "https:" || isInsecure ? undefined : notHttps;
}

/** The same, except that an issuer which nobody fetches anything from may have an http URL anywhere. */
export function checkIssuerSpelling(issuer: string): string | undefined {
  if (issuer.length > maxUrlLength) return `must be at most ${maxUrlLength} characters long`;
  const url = URL.parse(issuer);
  if (!url || !isWeb(url)) return notHttps;
  if (!isPlain(issuer)) return "must be printable ASCII without spaces and backslashes";
  // By their signs, since an empty query, fragment or user name leaves no trace in a parsed URL.
  if (issuer.includes("?")) return "must not have a query";
  if (issuer.includes("#")) return "must not have a fragment";
  const [, authority = "", path = ""] = /^[^:]*:\/\/([^/]*)(.*)$/.exec(issuer) ?? [];
  if (authority.includes("@")) return "must not have user information";
  return checkPath(path) ?? checkCanonical(issuer, url, path);
}

/**
 * The rule that an endpoint in the discovery document of an issuer breaks, as words that follow its name; undefined for a good one.
 * An endpoint is fetched and never compared, so it may have a query and any spelling. An issuer elsewhere must not send anybody to
 * this machine.
 */
export function checkEndpoint(endpoint: unknown, issuer: string): string | undefined {
  const url = typeof endpoint === "string" && endpoint.length <= maxUrlLength ? URL.parse(endpoint) : null;
  if (!url || typeof endpoint !== "string" || !isPlain(endpoint)) return "is not a URL";
  const isHttp = url.protocol === "http:" && issuer.startsWith("http:") && isLoopbackUrl(url);
  if (url.protocol !== "https:" && !isHttp) return "is not https";
  if (url.username !== "" || url.password !== "") return "holds credentials";
  if (endpoint.includes("#")) return "has a fragment";
  if (isLoopbackUrl(url) && !isLoopbackUrl(new URL(issuer))) return "leads to this machine";
  return undefined;
}

const notHttps = "must be an https URL";

function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

/** The WHATWG parser reads a backslash as a slash, and passes over tabs, line breaks and the spaces around a URL. */
function isPlain(text: string): boolean {
  return /^[\x21-\x5b\x5d-\x7e]+$/.test(text);
}

/** `https://issuer.example` and `https://issuer.example/` are both in use, and two issuers. */
function checkCanonical(issuer: string, url: URL, path: string): string | undefined {
  const canonical = path === "" ? url.href.slice(0, -1) : url.href;
  if (canonical !== issuer) return `must be written as ${JSON.stringify(clip(canonical))}`;
  const hasEmptyLabel = isIP(bareHost(url)) === 0 && url.hostname.split(".").includes("");
  return hasEmptyLabel ? "must not have a dot at either end of its host, or two in a row" : undefined;
}

function checkPath(path: string): string | undefined {
  const segments = path.split("/").slice(1);
  const names = segments.map(nameOf);
  // A slash at the end leaves one empty segment.
  const isEmpty = (name: string, index: number) =>
    name === "" && (index < segments.length - 1 || segments[index] !== "");
  if (names.some(isEmpty)) return "must not have an empty path segment";
  if (names.some((name) => name === "." || name === "..")) return "must not have a dot segment in its path";
  return segments.every(isSegment) ? undefined : encodesTooMuch;
}

const encodesTooMuch =
  "must percent-encode nothing in its path but what a URL cannot hold otherwise, in upper-case hexadecimal, and no delimiter";

/** Without parameters (RFC 3986 §3.3), which some servers drop before they resolve dots, and with dots decoded. */
function nameOf(segment: string): string {
  return segment.replace(/%2e/gi, ".").replace(/;.*$/, "");
}

// RFC 3986 §3.3: pchar.
const segmentPattern = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})*$/;

/** What may stand there by itself (RFC 3986 §6.2.2.2), what divides a URL for whoever decodes it twice, and what nobody sees. */
const neverEncoded = /[A-Za-z0-9._~!$&'()*+,;=:@/\\?#[\]%\p{C}-]/u;

function isSegment(segment: string): boolean {
  if (!segmentPattern.test(segment)) return false;
  const encoded = segment.match(/(?:%[0-9A-F]{2})+/g) ?? [];
  return encoded.every((run) => {
    const decoded = decode(run);
    return decoded !== undefined && !neverEncoded.test(decoded);
  });
}

/** Undefined for what is not UTF-8, such as an overlong form of a dot. */
function decode(run: string): string | undefined {
  try {
    return decodeURIComponent(run);
  } catch {
    return undefined;
  }
}
