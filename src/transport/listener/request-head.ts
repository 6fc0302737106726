import type { HttpRequest } from "../http/message.ts";
import { allowedMethods } from "../http/rejection.ts";
import type { ListenerLimits } from "./limits.ts";

const implementedMethods: ReadonlySet<string> = new Set(allowedMethods.split(", "));

/**
 * Checks the head of a request for faults that node accepts, and normalizes it. Returns the HTTP status to reject it with, if any.
 *
 * Joins two Authorization lines by ", ": a later check then sees the second credential and rejects it. Makes a target in absolute form a path.
 */
export function checkHead(request: HttpRequest, limits: ListenerLimits): number | undefined {
  // RFC 9110 §9.3.8: an echoed request may show a script what only the browser should know.
  if (request.method === "TRACE") return 405;
  // RFC 9110 §9.1: a method that no path has is not implemented. node's parser knows more of them.
  if (!implementedMethods.has(request.method ?? "")) return 501;
  // RFC 9112 §2.3: node's parser also accepts HTTP/0.9, which may lack Host, and HTTP/2.0 in HTTP/1 syntax.
  if (!("stream" in request) && request.httpVersionMajor !== 1) return 505;
  const target = request.url ?? "";
  if (!target.startsWith("/")) request.url = originForm(target);
  if (headBytes(request.rawHeaders) > limits.maxHeaderBytes) return 431;
  return checkLines(request, request.rawHeaders);
}

/**
 * Returns the size of header lines, given as alternating names and values, as RFC 9113 §6.5.2 counts it.
 *
 * node enforces its limit for HTTP/2 only once the client has acknowledged it, which the client may delay.
 */
export function headBytes(raw: readonly string[]): number {
  let bytes = 16 * raw.length;
  for (const part of raw) bytes += part.length;
  return bytes;
}

function checkLines(request: HttpRequest, raw: readonly string[]): number | undefined {
  let hosts = 0;
  let authorization: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? "";
    const value = raw[i + 1] ?? "";
    if (isNamed(name, "host")) {
      hosts += 1;
      if (!hostValue.test(value)) return 400;
    } else if (isNamed(name, "transfer-encoding") && !isPlainChunked(request, value)) return 400;
    else if (isNamed(name, "authorization")) {
      // RFC 6750 §2: one credential. node keeps the first and drops the rest.
      if (authorization !== undefined) request.headers.authorization = `${authorization}, ${value}`;
      authorization = authorization === undefined ? value : `${authorization}, ${value}`;
    }
  }
  // RFC 9112 §3.2: a server must reject more than one Host line, and HTTP/1.1 without one.
  return hosts > 1 || (hosts === 0 && request.httpVersion === "1.1") ? 400 : undefined;
}

// RFC 3986 §3.2.2: a name or an address, IPv6 in brackets, and an optional port.
const hostValue = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

// Compares the length first: it differs for nearly every header.
function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}

// RFC 9112 §6.1: other codings are not supported, and HTTP/1.0 has none. node finds out only while it reads the body.
function isPlainChunked(request: HttpRequest, value: string): boolean {
  return request.httpVersionMinor === 1 && value.toLowerCase() === "chunked";
}

// RFC 9112 §3.2.2: a server must accept the absolute form. The path stays encoded and not normalized.
function originForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return path === target || path.startsWith("/") ? path : `/${path}`;
}
