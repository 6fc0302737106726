// The few fixed pages beside the API: probes, metrics, discovery.

import type { ServerResponse } from "node:http";
import { isForwarded } from "../http/client-address.ts";
import { isUnchanged } from "../http/conditional-request.ts";
import type { HttpHandler } from "../http/handlers.ts";
import { type HttpRequest, type HttpResponse, pathOf } from "../http/message.ts";
import { peerOf } from "../http/peer.ts";
import { newPathFinder } from "./path-finder.ts";

/** One page: its text, or a status other than 200. */
export interface PageReply {
  readonly status: number;
  readonly contentType: string;
  /** As bytes where it is long and sent again and again: replies that wait for their readers have them in common. */
  readonly text: string | Buffer;
  /** How long others may keep it, in seconds; not at all when absent. */
  readonly maxAge?: number;
  /** What tells this text from any other (RFC 9110 §8.8.3), quotes included; who has it already is not sent it again. */
  readonly etag?: string;
  /** Further headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Pages by path; one whose path ends with a slash serves all paths below it. */
export type Pages = Readonly<Record<string, (request: HttpRequest) => PageReply | Promise<PageReply>>>;

/** Whole sites by the path that theirs begin with, which ends with a slash. */
export type Mounts = Readonly<Record<string, HttpHandler>>;

/** Serves the pages and what is mounted; whatever else is asked for goes on to `next`. What fails is told to `report`. */
export function newSite(
  pages: Pages,
  mounts: Mounts,
  next: HttpHandler,
  report: (error: unknown) => void,
): HttpHandler {
  const findPage = newPathFinder(pages);
  const findMount = newPathFinder(mounts);
  return (request, response) => {
    const path = pathOf(request);
    const page = findPage(path)?.value;
    if (!page) {
      const mount = findMount(path)?.value;
      if (!mount) return next(request, response);
      return Promise.resolve(mount(request, response)).catch((error) => {
        report(error);
        if (!response.headersSent) sendPage(request, response, text(503, "Service Unavailable"));
        else response.destroy();
      });
    }
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendPage(request, response, text(405, "Method Not Allowed"), { allow: "GET, HEAD" });
    return Promise.resolve(page(request)).then(
      (reply) => sendPage(request, response, reply),
      (error) => {
        report(error);
        sendPage(request, response, text(503, "Service Unavailable"));
      },
    );
  };
}

/** A reply of plain text. */
export function text(status: number, body: string): PageReply {
  return { status, contentType: "text/plain; charset=utf-8", text: `${body}\n` };
}

/** A reply of JSON that others may keep for five minutes. */
export function publicJson(value: unknown): PageReply {
  return { status: 200, contentType: "application/json", text: `${JSON.stringify(value)}\n`, maxAge: 300 };
}

/** A page of HTML in UTF-8, which may load nothing and stand in no frame; `style` is the hash of its only style. */
export function html(status: number, document: string, style: string): PageReply {
  const policy = `default-src 'none'; style-src '${style}'; base-uri 'none'; frame-ancestors 'none'`;
  const headers = { "content-security-policy": policy, "referrer-policy": "no-referrer" };
  return { status, contentType: "text/html; charset=utf-8", text: document, headers };
}

/** Sends the browser on. Neither the address nor where it came from may be kept or told: they hold secrets. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): PageReply {
  const all = { location, "referrer-policy": "no-referrer", ...headers };
  return { status: 303, contentType: "text/plain; charset=utf-8", text: "", headers: all };
}

/**
 * Whether a request comes from this machine, and from no further: neither passed on by a proxy that runs here, nor sent by a
 * browser for a site whose name leads here.
 */
export function isLocal(request: HttpRequest): boolean {
  const { address } = peerOf(request.socket);
  const isLoopback = address === "::1" || address.startsWith("127.");
  return isLoopback && !isForwarded(request) && isLocalName(hostOf(request));
}

/** The host that a request names. */
export function hostOf({ headers }: Pick<HttpRequest, "headers">): string {
  return headers.host ?? String(headers[":authority"] ?? "");
}

/** Whether a Host header names this machine. */
export function isLocalName(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);
}

/** Answers a request with a page. */
export function sendPage(
  request: HttpRequest,
  response: HttpResponse,
  reply: PageReply,
  headers: Record<string, string> = {},
): void {
  const isKnown = reply.etag !== undefined && isUnchanged(request, { etag: reply.etag });
  const body = typeof reply.text === "string" ? Buffer.from(reply.text) : reply.text;
  // Both versions of HTTP take the same calls; their types only differ in overloads.
  const out = response as ServerResponse;
  out.writeHead(isKnown ? 304 : reply.status, {
    "content-type": reply.contentType,
    // RFC 9110 §8.6: that of a 304 is the length of what it spares.
    "content-length": body.length,
    ...(reply.etag !== undefined && { etag: reply.etag }),
    "cache-control": reply.maxAge === undefined ? "no-store" : `public, max-age=${reply.maxAge}`,
    "x-content-type-options": "nosniff",
    ...reply.headers,
    ...headers,
  });
  out.end(request.method === "HEAD" || isKnown ? undefined : body);
}
