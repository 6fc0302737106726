import type { HttpRequest } from "../http/message.ts";
import type { ListenerLimits } from "./limits.ts";

/**
 * Checks the head of a request for what node lets pass, and makes it plain for the handler.
 *
 * Answers the HTTP status to refuse it with, if any. Two Authorization lines become one value, joined by ", ", so that the
 * second credential is seen and refused; a target in absolute form becomes a path.
 */
export function checkHead(request: HttpRequest, limits: ListenerLimits): number | undefined {
  // A request that is echoed may tell a script what only the browser should know; nothing here needs it (RFC 9110 §9.3.8).
  if (request.method === "TRACE") return 405;
  // RFC 9112 §2.3: node's parser also takes HTTP/0.9, which may go without Host, and HTTP/2.0 in the syntax of HTTP/1.
  if (!("stream" in request) && request.httpVersionMajor !== 1) return 505;
  const target = request.url ?? "";
  if (!target.startsWith("/")) request.url = originForm(target);
  if (headBytes(request.rawHeaders) > limits.maxHeaderBytes) return 431;
  return checkLines(request, request.rawHeaders);
}

/**
 * The size of header lines, given as names and values in turn, as RFC 9113 §6.5.2 counts it.
 *
 * Node holds HTTP/2 clients to the limit only after they have acknowledged it, which they may put off.
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
      // RFC 6750 §2: one credential. Node keeps the first and drops the rest.
      if (authorization !== undefined) request.headers.authorization = `${authorization}, ${value}`;
      authorization = authorization === undefined ? value : `${authorization}, ${value}`;
    }
  }
  // RFC 9112 §3.2: a server must refuse more than one Host line, and over HTTP/1.1 less.
  return hosts > 1 || (hosts === 0 && request.httpVersion === "1.1") ? 400 : undefined;
}

// RFC 3986 §3.2.2: a name or an address, in brackets if it is one of IPv6, and perhaps a port.
const hostValue = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

// Compares the length first: nearly every header differs in it.
function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}

// RFC 9112 §6.1: other codings are not understood here, and HTTP/1.0 has none. Node finds out with the body, after the handler.
function isPlainChunked(request: HttpRequest, value: string): boolean {
  return request.httpVersionMinor === 1 && value.toLowerCase() === "chunked";
}

// RFC 9112 §3.2.2: a server must accept the absolute form. The path stays as it is, encoded and not normalised.
function originForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return path === target || path.startsWith("/") ? path : `/${path}`;
}
