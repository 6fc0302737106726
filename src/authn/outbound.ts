// Fetches the documents that tokens of strangers make us fetch. The URL is theirs, so everything else is ours: where
// the connection goes, how long it may take, how much it may say (security cases J2 to J5).
import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { type BlockList, isIP, type LookupFunction } from "node:net";
import { http } from "../node-http.ts";
import { bareHost, isListed, isLoopbackAddress, isLoopbackUrl, isPublicAddress } from "./addresses.ts";
import { type Lookup, lookUpBySystem, newLookup } from "./lookup.ts";

/** The time and size that a document may have. */
export const outboundLimits = { timeoutMs: 5000, maxBytes: 100 * 1024 };

/** How a document may be fetched. */
export interface OutboundOptions {
  /** Whether `http://localhost` and other loopback hosts may be asked, as in development. */
  readonly allowLoopbackHttp: boolean;
  /** For all of it: the lookup, the connection and the last byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Gives up what is under way. Never when absent. */
  readonly signal?: AbortSignal;
  /** The private addresses that the operator opens to https. None when absent. */
  readonly allowedPrivate?: BlockList;
  /** Whether the operator has named the host: it may then be anywhere, and speak http. */
  readonly isOwn?: boolean;
  /** GET when absent. */
  readonly method?: string;
  /** Sent besides our own; nothing when absent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Resolves a host name; by lookup.ts when absent, or by the system where a stranger cannot have chosen the name. */
  readonly resolve?: Lookup;
}

/** Why there is no document: our rules forbid it or it breaks them, or the other side does not answer. */
export type OutboundFailure = "refused" | "unavailable";

/** A document that could not be had. The message names a rule, and never what the other side answered. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
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
  try {
    const target = parseTarget(url, options);
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
    const addresses = await withinTime(findAddresses(target, options), signal);
    const response = await send(target, request, addresses, signal);
    try {
      return await read(response);
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    throw new OutboundError("unavailable", "there was no complete answer in time", error);
  }
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

function isAllowed(address: LookupAddress, url: URL, { allowedPrivate, isOwn }: OutboundOptions): boolean {
  if (isOwn) return true;
  if (url.protocol === "http:") return isLoopbackAddress(address);
  return isPublicAddress(address) || (allowedPrivate !== undefined && isListed(allowedPrivate, address));
}

/** Asks one of the given addresses and no other: the name is not looked up again (security case J4). */
function send(url: URL, request: OutboundRequest, addresses: LookupAddress[], signal: AbortSignal) {
  const first = addresses[0]!;
  const lookup: LookupFunction = (_hostname, { all }, done) =>
    all ? done(null, addresses) : done(null, first.address, first.family);
  const { method, body } = request;
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  const headers = { "accept-encoding": "identity", "user-agent": "gatehouse", ...request.headers, ...length };
  const open = url.protocol === "https:" ? process.getBuiltinModule("node:https").request : http().request;
  return new Promise<IncomingMessage>((resolve, reject) => {
    // agent: no connection is shared with requests of other rules.
    const asking = open(url, { agent: false, method, headers, lookup, signal }, resolve).on("error", reject);
    // Where the other side switches protocols (RFC 9110 §15.2.2) there is neither an answer nor an error. Nobody may wait for ever.
    asking.on("close", () => reject(new OutboundError("unavailable", "there was no complete answer")));
    asking.end(body);
  });
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  checkHead(response);
  return await readWithin(response, maxBytes);
}

async function readWithin(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > maxBytes) throw new OutboundError("refused", `the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function checkHead({ statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode >= 500 || statusCode === 429) throw new OutboundError("unavailable", "the server has a failure");
  if (statusCode >= 300 && statusCode < 400) throw new OutboundError("refused", "redirects are not followed");
  // What was not asked for is not unpacked: a small body may open to a large one (security case J5).
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw new OutboundError("refused", "the answer is compressed");
}

function withinTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
