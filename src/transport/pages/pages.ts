// Fixed pages outside the API: probes, metrics, discovery.

import { isForwarded } from "../http/client-address.ts";
import { isUnchanged } from "../http/conditional-request.ts";
import type { Exchange, ExchangeHandler, MessageExchange } from "../http/exchange.ts";
import type { HttpHandler } from "../http/handlers.ts";
import type { HttpRequest } from "../http/message.ts";
import { peerOf } from "../http/peer.ts";
import type { ResponseHeaders } from "../http/response.ts";
import { newPathFinder } from "./path-finder.ts";

/** A page as it is sent. */
export interface PageReply {
  readonly status: number;
  readonly contentType: string;
  /** Bytes if it is long and sent often: pending responses then share them. */
  readonly text: string | Buffer;
  /** How long caches may keep it, in seconds; not at all when absent. */
  readonly maxAge?: number;
  /** The entity tag of the text, quotes included (RFC 9110 §8.8.3), for conditional requests. */
  readonly etag?: string;
  /** Further headers, by lower-case name. */
  readonly headers?: ResponseHeaders;
}

/** Pages by path. A path that ends with a slash serves all paths below it. */
export type Pages = Readonly<Record<string, (request: HttpRequest) => PageReply | Promise<PageReply>>>;

/** Sites with handlers of their own, by the prefix of their paths, which ends with a slash. */
export type Mounts = Readonly<Record<string, HttpHandler>>;

/** Serves the pages and the mounted sites. Requests of other paths go to `next`. `report` is called with what a page or site throws. */
export function newSite(
  pages: Pages,
  mounts: Mounts,
  next: ExchangeHandler,
  report: (error: unknown) => void,
): ExchangeHandler {
  const findPage = newPathFinder(pages);
  const findMount = newPathFinder(mounts);
  return (exchange) => {
    const page = findPage(exchange.head.path)?.value;
    const mount = page ? undefined : findMount(exchange.head.path)?.value;
    if (page) return servePage(page, exchange, report);
    return mount ? serveMount(mount, exchange, report) : next(exchange);
  };
}

async function servePage(page: Pages[string], exchange: MessageExchange, report: (error: unknown) => void) {
  const { method } = exchange.head;
  if (method !== "GET" && method !== "HEAD")
    return sendPage(exchange, text(405, "Method Not Allowed"), { allow: "GET, HEAD" });
  try {
    sendPage(exchange, await page(exchange.request));
  } catch (error) {
    report(error);
    sendPage(exchange, text(503, "Service Unavailable"));
  }
}

async function serveMount(mount: HttpHandler, exchange: MessageExchange, report: (error: unknown) => void) {
  try {
    await mount(exchange.request, exchange.response);
  } catch (error) {
    report(error);
    if (!exchange.response.headersSent) sendPage(exchange, text(503, "Service Unavailable"));
    else exchange.abort();
  }
}

/** Makes a page of plain text. */
export function text(status: number, body: string): PageReply {
  return { status, contentType: "text/plain; charset=utf-8", text: `${body}\n` };
}

/** Makes a page of JSON that caches may keep for five minutes. */
export function publicJson(value: unknown): PageReply {
  return { status: 200, contentType: "application/json", text: `${JSON.stringify(value)}\n`, maxAge: 300 };
}

/** Makes a page of HTML that may load nothing and be framed nowhere. `style` is the hash of its only style sheet. */
export function html(status: number, document: string, style: string): PageReply {
  const policy = `default-src 'none'; style-src '${style}'; base-uri 'none'; frame-ancestors 'none'`;
  const headers = { "content-security-policy": policy, "referrer-policy": "no-referrer" };
  return { status, contentType: "text/html; charset=utf-8", text: document, headers };
}

/** Redirects the browser. The location holds secrets: it must be neither cached nor sent as a referrer. */
export function seeOther(location: string, headers: ResponseHeaders = {}): PageReply {
  const all = { location, "referrer-policy": "no-referrer", ...headers };
  return { status: 303, contentType: "text/plain; charset=utf-8", text: "", headers: all };
}

/**
 * Whether a request was sent on this machine: not forwarded by a local proxy, nor sent by a browser for a site whose name resolves to
 * this machine.
 */
export function isLocal(request: HttpRequest): boolean {
  const { address } = peerOf(request.socket);
  const isLoopback = address === "::1" || address.startsWith("127.");
  return isLoopback && !isForwarded(request) && isLocalName(hostOf(request));
}

/** Returns the host that a request names. */
export function hostOf({ headers }: Pick<HttpRequest, "headers">): string {
  return headers.host ?? String(headers[":authority"] ?? "");
}

/** Whether a Host header names this machine. */
export function isLocalName(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);
}

/** Responds with a page. `headers` replace those of the page. */
export function sendPage(exchange: Exchange, page: PageReply, headers: Readonly<Record<string, string>> = {}): void {
  const isKnown = page.etag !== undefined && isUnchanged(exchange.head, { etag: page.etag });
  const body = typeof page.text === "string" ? Buffer.from(page.text) : page.text;
  exchange.respond({
    status: isKnown ? 304 : page.status,
    headers: {
      "content-type": page.contentType,
      // RFC 9110 §8.6: a 304 has the length of the content that it does not send.
      "content-length": String(body.length),
      ...(page.etag !== undefined && { etag: page.etag }),
      "cache-control": page.maxAge === undefined ? "no-store" : `public, max-age=${page.maxAge}`,
      "x-content-type-options": "nosniff",
      ...page.headers,
      ...headers,
    },
    body: isKnown ? undefined : body,
  });
}
