// Fetches documents whose URLs come from untrusted tokens. Address, time and size are limited here (security cases J2
// to J5).
import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { SecureContext } from "node:tls";
import { bareHost, hasPortZero, isLoopbackUrl } from "../base/address-ranges.ts";
import { http } from "../base/node-http.ts";
import { type Proxies, proxyFor } from "../base/proxies.ts";
import { certificateProblem } from "../base/system-error.ts";
import { currentTraceparent, traced, tracing } from "../base/tracing.ts";
import { type AddressRules, findAddresses, isPublicPeer, noPublicAddress, systemErrorOf } from "./addresses.ts";
import { LongAnswer, type OutboundAttempt, OutboundError, type OutboundFailure, type Reach } from "./error.ts";
import { bodyWithin, type Header, headersOf, readBeginning, readBody } from "./response.ts";
import { askProxy, openTunnel, ProxyError, proxyAuthorization } from "./tunnel.ts";

/** The default time and size limit of a document. */
export const outboundLimits = { timeoutMs: 5000, maxBytes: 100 * 1024 };

/** Options of a fetch. */
export interface OutboundOptions extends AddressRules {
  /** The time limit for the whole fetch, from the DNS lookup to the last byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Cancels the fetch. */
  readonly signal?: AbortSignal;
  /** The proxies to use. Absent means none. */
  readonly proxies?: Proxies;
  /** The trusted certificates. Absent means those of Node. */
  readonly trust?: () => SecureContext;
  /** Defaults to GET. */
  readonly method?: string;
  /** Additional request headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Method, headers and body of a request. */
export interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** A response with status 2xx or 4xx. */
export interface OutboundReply {
  readonly status: number;
  readonly contentType: string;
  /** The header Link (RFC 8288); empty without one. */
  readonly link: string;
  readonly body: Buffer;
}

/** Fetches and parses a JSON document like `fetchBytes`. Rejects if it is not JSON. */
export async function fetchJson(url: string, options: OutboundOptions): Promise<unknown> {
  const bytes = await fetchBytes(url, { ...options, headers: { accept: "application/json", ...options.headers } });
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new OutboundError("refused", "the answer is not JSON");
  }
}

/** Fetches a document like `fetchOutbound`. Rejects unless the status is 200. */
export async function fetchBytes(url: string, options: OutboundOptions): Promise<Buffer> {
  const { method = "GET", headers = {} } = options;
  const { status, body } = await fetchOutbound(url, { method, headers }, options);
  if (status !== 200) throw new OutboundError("refused", "the server has no such document");
  return body;
}

/**
 * Sends one request. Rejects with an OutboundError and nothing else.
 *
 * It follows no redirects and checks every address of the host before it uses one. Status 5xx and 429 are errors; other
 * 4xx responses are returned.
 */
export async function fetchOutbound(
  url: string,
  request: OutboundRequest,
  options: OutboundOptions,
): Promise<OutboundReply> {
  return await askedOf(url, request, options, async (response) => {
    const { statusCode: status = 0, headers } = response;
    const { "content-type": contentType = "", link = "" } = headers;
    return { status, contentType, link: String(link), body: await readBody(response, options.maxBytes) };
  });
}

/**
 * Sends one request like `fetchOutbound`, and gives the bytes of its body to `read` as they come. Rejects also if `read` does, and the time
 * limit is for both.
 */
export async function streamOutbound<T>(
  url: string,
  request: OutboundRequest,
  options: OutboundOptions,
  read: (status: number, bytes: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  return await askedOf(url, request, options, (response) =>
    read(response.statusCode ?? 0, bodyWithin(response, options.maxBytes)),
  );
}

/** A response with any status. */
export interface SentReply {
  readonly status: number;
  /** Tenants may see more than the status, such as how fast it came, of a public host only. */
  readonly reach: Reach;
  /** The headers in lower case; none if they are not visible. */
  readonly headers: readonly Header[];
  /** The beginning of the body; undefined if it is not visible, or compressed. */
  readonly beginning: Buffer | undefined;
  /** The header Retry-After (RFC 9110 §10.2.3). */
  readonly retryAfter: string | undefined;
}

/**
 * Sends one request like `fetchOutbound` and returns its status, whichever it is. The body is cut off at the limit. A client that is
 * cut off earlier may report an error.
 */
export async function sendOutbound(
  url: string,
  request: OutboundRequest,
  options: OutboundOptions,
): Promise<SentReply> {
  return await askedOf(url, request, options, async (response) => {
    const reach = reachOf(response, new URL(url), options);
    const isVisible = reach === "public";
    const body = await readBeginning(response, options.maxBytes);
    const { statusCode: status = 0, headers } = response;
    const isReadable = isVisible && headers["content-encoding"] === undefined;
    return {
      status,
      reach,
      headers: isVisible ? headersOf(response) : [],
      beginning: isReadable ? body : undefined,
      retryAfter: headers["retry-after"],
    };
  });
}

/** In a private network, a tenant could read what only its hosts may read. */
function reachOf({ socket }: IncomingMessage, url: URL, options: OutboundOptions): Reach {
  const { remoteAddress: address, remoteFamily } = socket;
  if (proxyOf(url, options)) return "proxy";
  const peer = address !== undefined && { address, family: remoteFamily === "IPv6" ? 6 : 4 };
  return peer && isPublicPeer(peer, options) ? "public" : "private";
}

function proxyOf(url: URL, { proxies }: OutboundOptions): URL | undefined {
  return proxies && proxyFor(url, proxies);
}

/** How long `outboundProblem` takes to reject a name, in milliseconds, for any reason. */
export const nameCheckMs = 3000;

/**
 * Returns why a request to a URL would be rejected, or its host has no address; undefined if nothing stands in its way. Sends nothing.
 * A proxy resolves names itself, so they are not resolved here then. Private and absent names have the same response after the same time.
 */
export async function outboundProblem(url: string, options: OutboundOptions): Promise<string | undefined> {
  const end = sleep(nameCheckMs, undefined, { ref: false });
  try {
    const target = parseTarget(url, options);
    const proxy = proxyOf(target, options);
    const late = end.then(() => Promise.reject(noPublicAddress(systemErrorOf("ETIMEDOUT"))));
    if (!proxy || isIP(bareHost(target)) !== 0) await Promise.race([findAddresses(target, options), late]);
    return undefined;
  } catch (error) {
    const { failure, message } = toOutboundError(error);
    if (failure === "unavailable") await end;
    return message;
  }
}

/** A step of the current call. Its name has no path: that may hold a secret. */
async function askedOf<T>(
  url: string,
  request: OutboundRequest,
  options: OutboundOptions,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  if (!tracing()?.isRecording()) return await ask(url, request, options, read);
  const attributes = { "http.request.method": request.method, "server.address": URL.parse(url)?.hostname ?? "" };
  return await traced({ name: request.method, isClient: true, attributes }, () => {
    const traceparent = currentTraceparent();
    const headers = { ...request.headers, ...(traceparent !== undefined && { traceparent }) };
    return ask(url, { ...request, headers }, options, read);
  });
}

async function ask<T>(
  url: string,
  request: OutboundRequest,
  options: OutboundOptions,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  let way: Way | undefined;
  let reach: Reach | undefined;
  try {
    const target = parseTarget(url, options);
    reach = proxyOf(target, options) ? "proxy" : "private";
    way = await findWay(target, options, signal);
    if (way.isPublic) reach = "public";
    const response = await send(target, request, way, signal);
    try {
      return await read(response);
    } finally {
      response.destroy();
    }
  } catch (error) {
    throw toOutboundError(error, { reach, isTimeout: timeout.aborted });
  } finally {
    // Also closes a tunnel that no request was sent through.
    way?.socket?.destroy();
  }
}

/** One text for closed and silent ports: callers must not learn which it is. */
export const noAnswer = "there was no complete answer in time";

function toOutboundError(error: unknown, attempt?: OutboundAttempt): OutboundError {
  const newError = (failure: OutboundFailure, message: string, cause: unknown) =>
    new OutboundError(failure, message, cause, attempt);
  if (error instanceof LongAnswer) return new LongAnswer(error.maxBytes, attempt);
  if (error instanceof OutboundError) return newError(error.failure, error.message, error.cause);
  const problem = certificateProblem(error);
  if (problem !== undefined) return newError("untrusted", `certificate not trusted: ${problem}`, error);
  if (error instanceof ProxyError) return newError("unavailable", error.message, error);
  return newError("unavailable", noAnswer, error);
}

function parseTarget(text: string, { allowLoopbackHttp, isOwn = false }: OutboundOptions): URL {
  const url = URL.parse(text);
  if (!url) throw new OutboundError("refused", "the address is not a URL");
  if (url.username !== "" || url.password !== "") throw new OutboundError("refused", "the URL holds credentials");
  if (hasPortZero(url)) throw new OutboundError("refused", "the URL has port 0");
  const mayBePlain = isOwn || (allowLoopbackHttp && isLoopbackUrl(url));
  const isAllowed = url.protocol === "https:" || (url.protocol === "http:" && mayBePlain);
  if (!isAllowed) throw new OutboundError("refused", "the URL is not https");
  return url;
}

/** The route of a connection. */
interface Way {
  /** The proxy that gets the absolute URL as the request target. */
  readonly proxy?: URL;
  readonly lookup?: LookupFunction;
  readonly secureContext?: SecureContext;
  /** The socket of a tunnel. */
  readonly socket?: Socket;
  /** Whether all addresses of the host are public. */
  readonly isPublic?: boolean;
}

/**
 * Returns the way to a host: its checked addresses, which are pinned because another lookup could return others
 * (security case J4), or a proxy, which resolves names itself under the control of the operator.
 */
async function findWay(url: URL, options: OutboundOptions, signal: AbortSignal): Promise<Way> {
  const proxy = proxyOf(url, options);
  const trust = options.trust && url.protocol === "https:" ? { secureContext: options.trust() } : {};
  if (!proxy || isIP(bareHost(url)) !== 0) {
    const addresses = await withinTime(findAddresses(url, options), signal);
    if (!proxy)
      return {
        ...trust,
        lookup: lookupOf(addresses),
        isPublic: addresses.every((address) => isPublicPeer(address, options)),
      };
  }
  if (url.protocol === "http:") return { proxy };
  return { ...trust, socket: await withinTime(openTunnel(proxy, url, signal), signal) };
}

function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  const [first] = addresses;
  return (_hostname, { all }, done) => (all ? done(null, [...addresses]) : done(null, first!.address, first!.family));
}

function send(url: URL, request: OutboundRequest, { proxy, isPublic: _, ...way }: Way, signal: AbortSignal) {
  const { method, body } = request;
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  const headers = { "accept-encoding": "identity", "user-agent": "gatehouse", ...request.headers, ...length };
  // RFC 9112 §3.2.2: a proxy gets the absolute URL as the request target.
  const open = () =>
    proxy
      ? askProxy(proxy, {
          method,
          path: url.href,
          headers: { host: url.host, ...headers, ...proxyAuthorization(proxy) },
          signal,
        })
      : clientOf(url).request(url, { ...way, agent: false, method, headers, signal });
  return new Promise<IncomingMessage>((resolve, reject) => {
    const asking = open().on("response", resolve).on("error", reject);
    // If the server switches protocols (RFC 9110 §15.2.2), Node emits neither a response nor an error. Do not wait
    // forever.
    asking.on("close", () => reject(new OutboundError("unavailable", "there was no complete answer")));
    asking.end(body);
  });
}

function clientOf({ protocol }: URL) {
  return protocol === "https:" ? process.getBuiltinModule("node:https") : http;
}

function withinTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
