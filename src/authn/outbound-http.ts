// Fetches the documents that tokens of strangers make us fetch. The URL is theirs, so everything else is ours: where
// the connection goes, how long it may take, how much it may say (security cases J2 to J5).
import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { type BlockList, isIP, type LookupFunction, type Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { http } from "../base/node-http.ts";
import { certificateProblem } from "../base/system-error.ts";
import { bareHost, isListed, isLoopbackAddress, isLoopbackUrl, isPublicAddress } from "./addresses.ts";
import { type Lookup, lookUpBySystem, newLookup } from "./dns-lookup.ts";
import { readBody, readWithin } from "./outbound-body.ts";
import { OutboundError } from "./outbound-error.ts";
import { type Proxies, proxyFor } from "./proxies.ts";
import { askProxy, openTunnel, ProxyError, proxyAuthorization } from "./tunnel.ts";

/** The time and size that a document may have. */
export const outboundLimits = { timeoutMs: 5000, maxBytes: 100 * 1024 };

/** How a document may be fetched. */
export interface OutboundOptions {
  /** Whether `http://localhost` and other loopback hosts may be asked, as in development. */
  readonly allowLoopbackHttp: boolean;
  /** The same for https; no when absent. */
  readonly allowLoopbackHttps?: boolean;
  /** For all of it: the lookup, the connection and the last byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Gives up what is under way. Never when absent. */
  readonly signal?: AbortSignal;
  /** The private addresses that the operator opens to https. None when absent. */
  readonly allowedPrivate?: BlockList;
  /** What a proxy is used for; nothing when absent. */
  readonly proxies?: Proxies;
  /** The certificates that are trusted; those of Node when absent. */
  readonly trust?: () => SecureContext;
  /** Whether the operator has named the host: it may then be anywhere, and speak http. */
  readonly isOwn?: boolean;
  /** GET when absent. */
  readonly method?: string;
  /** Sent besides our own; nothing when absent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Resolves a host name; by lookup.ts when absent, or by the system where a stranger cannot have chosen the name. */
  readonly resolve?: Lookup;
}

/** What is asked of the other side besides the URL. */
export interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What the other side answered: 2xx or 4xx. */
export interface OutboundReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Fetches and parses a JSON document, as fetchBytes does; one that is not JSON is refused. */
export async function fetchJson(url: string, options: OutboundOptions): Promise<unknown> {
  const bytes = await fetchBytes(url, { ...options, headers: { accept: "application/json", ...options.headers } });
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new OutboundError("refused", "the answer is not JSON");
  }
}

/** Fetches a document, as fetchOutbound does; any answer but 200 is refused. */
export async function fetchBytes(url: string, options: OutboundOptions): Promise<Buffer> {
  const { method = "GET", headers = {} } = options;
  const { status, body } = await fetchOutbound(url, { method, headers }, options);
  if (status !== 200) throw new OutboundError("refused", "the server has no such document");
  return body;
}

/**
 * Sends one request; rejects with an OutboundError and nothing else.
 *
 * No redirect is followed, and each address that the host has is checked before one is used. A failure of the server
 * (5xx, 429) is an error; what it refuses (4xx) is an answer.
 */
export async function fetchOutbound(
  url: string,
  request: OutboundRequest,
  options: OutboundOptions,
): Promise<OutboundReply> {
  return await askedOf(url, request, options, async (response) => {
    const { statusCode: status = 0, headers } = response;
    return { status, contentType: headers["content-type"] ?? "", body: await readBody(response, options.maxBytes) };
  });
}

/**
 * Sends one request, as fetchOutbound does, and answers its status, whichever it is. What else the other side says is passed over,
 * and cut off where it is too much.
 */
export async function sendOutbound(url: string, request: OutboundRequest, options: OutboundOptions): Promise<number> {
  return await askedOf(url, request, options, async (response) => {
    // Who is cut off may take it for a failure. What goes wrong behind the status changes nothing about it.
    await readWithin(response, options.maxBytes).catch(() => {});
    return response.statusCode ?? 0;
  });
}

async function askedOf<T>(
  url: string,
  request: OutboundRequest,
  options: OutboundOptions,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  let way: Way | undefined;
  try {
    const target = parseTarget(url, options);
    way = await findWay(target, options, signal);
    const response = await send(target, request, way, signal);
    try {
      return await read(response);
    } finally {
      response.destroy();
    }
  } catch (error) {
    throw toOutboundError(error);
  } finally {
    // Also where no request came to be made through it.
    way?.socket?.destroy();
  }
}

/** One text for a port that is closed and one that is silent: callers who see it must not learn which it is. */
export const noAnswer = "there was no complete answer in time";

function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const problem = certificateProblem(error);
  if (problem !== undefined) return new OutboundError("untrusted", `certificate not trusted: ${problem}`, error);
  if (error instanceof ProxyError) return new OutboundError("unavailable", error.message, error);
  return new OutboundError("unavailable", noAnswer, error);
}

function parseTarget(text: string, { allowLoopbackHttp, isOwn = false }: OutboundOptions): URL {
  const url = URL.parse(text);
  if (!url) throw new OutboundError("refused", "the address is not a URL");
  if (url.username !== "" || url.password !== "") throw new OutboundError("refused", "the URL holds credentials");
  const mayBePlain = isOwn || (allowLoopbackHttp && isLoopbackUrl(url));
  const isAllowed = url.protocol === "https:" || (url.protocol === "http:" && mayBePlain);
  if (!isAllowed) throw new OutboundError("refused", "the URL is not https");
  return url;
}

/** How a connection is made. */
interface Way {
  /** Asked by the whole URL. */
  readonly proxy?: URL;
  readonly lookup?: LookupFunction;
  readonly secureContext?: SecureContext;
  /** Of a tunnel. */
  readonly socket?: Socket;
}

/**
 * The way to a host: to addresses that were checked and no other, since the name is not looked up again (security case J4), or
 * through a proxy, which looks up names itself and whose operator decides where it goes.
 */
async function findWay(url: URL, options: OutboundOptions, signal: AbortSignal): Promise<Way> {
  const proxy = options.proxies && proxyFor(url, options.proxies);
  const trust = options.trust && url.protocol === "https:" ? { secureContext: options.trust() } : {};
  if (!proxy || isIP(bareHost(url)) !== 0) {
    const addresses = await withinTime(findAddresses(url, options), signal);
    if (!proxy) return { ...trust, lookup: lookupOf(addresses) };
  }
  if (url.protocol === "http:") return { proxy };
  return { ...trust, socket: await withinTime(openTunnel(proxy, url, signal), signal) };
}

function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  const [first] = addresses;
  return (_hostname, { all }, done) => (all ? done(null, [...addresses]) : done(null, first!.address, first!.family));
}

const lookUp = newLookup();

async function findAddresses(url: URL, options: OutboundOptions): Promise<LookupAddress[]> {
  const hostname = bareHost(url);
  const family = isIP(hostname);
  const { resolve = options.isOwn || isLoopbackUrl(url) ? lookUpBySystem : lookUp } = options;
  const addresses = family ? [{ address: hostname, family }] : await resolve(hostname);
  if (addresses.length === 0) throw new OutboundError("unavailable", "the host has no address");
  // One bad address spoils all: an answer that mixes both is an attack (security case J4).
  if (!addresses.every((one) => isAllowed(one, url, options))) {
    throw new OutboundError("refused", "the address of the host is not public");
  }
  return addresses;
}

function isAllowed(address: LookupAddress, url: URL, options: OutboundOptions): boolean {
  const { allowedPrivate, isOwn, allowLoopbackHttps = false } = options;
  if (isOwn) return true;
  if (url.protocol === "http:") return isLoopbackAddress(address);
  if (allowLoopbackHttps && isLoopbackUrl(url) && isLoopbackAddress(address)) return true;
  return isPublicAddress(address) || (allowedPrivate !== undefined && isListed(allowedPrivate, address));
}

function send(url: URL, request: OutboundRequest, { proxy, ...way }: Way, signal: AbortSignal) {
  const { method, body } = request;
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  const headers = { "accept-encoding": "identity", "user-agent": "gatehouse", ...request.headers, ...length };
  // RFC 9112 §3.2.2: a proxy is asked by the whole URL.
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
    // Where the other side switches protocols (RFC 9110 §15.2.2) there is neither an answer nor an error. Nobody may wait for ever.
    asking.on("close", () => reject(new OutboundError("unavailable", "there was no complete answer")));
    asking.end(body);
  });
}

function clientOf({ protocol }: URL) {
  return protocol === "https:" ? process.getBuiltinModule("node:https") : http();
}

function withinTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
