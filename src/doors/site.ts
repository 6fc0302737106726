// The few fixed pages beside the API: probes, metrics, discovery.
import type { ServerResponse } from "node:http";
import type { HttpHandler, HttpRequest, HttpResponse } from "./dispatch.ts";

/** One page: its text, or a status other than 200. */
export interface PageReply {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** How long others may keep it, in seconds; not at all when absent. */
  readonly maxAge?: number;
}

/** Pages by path. */
export type Pages = Readonly<Record<string, (request: HttpRequest) => PageReply | Promise<PageReply>>>;

/** Serves the pages; whatever else is asked for goes on to `next`. */
export function createSite(pages: Pages, next: HttpHandler): HttpHandler {
  return (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (!page) return next(request, response);
    request.resume();
    if (request.method !== "GET" && request.method !== "HEAD")
      return send(request, response, text(405, "Method Not Allowed"), { allow: "GET, HEAD" });
    return Promise.resolve(page(request)).then(
      (reply) => send(request, response, reply),
      () => send(request, response, text(503, "Service Unavailable")),
    );
  };
}

/** A reply of plain text. */
export function text(status: number, body: string): PageReply {
  return { status, contentType: "text/plain; charset=utf-8", text: `${body}\n` };
}

/** A reply of JSON that others may keep for five minutes. */
export function publicJson(value: unknown): PageReply {
  return { status: 200, contentType: "application/json", text: JSON.stringify(value), maxAge: 300 };
}

/** Whether the peer is this machine. */
export function isLocal(request: HttpRequest): boolean {
  const address = request.socket.remoteAddress ?? "";
  return address === "::1" || /^(::ffff:)?127\./.test(address);
}

function send(
  request: HttpRequest,
  response: HttpResponse,
  reply: PageReply,
  headers: Record<string, string> = {},
): void {
  const body = Buffer.from(reply.text);
  // Both versions of HTTP take the same calls; their types only differ in overloads.
  const out = response as ServerResponse;
  out.writeHead(reply.status, {
    "content-type": reply.contentType,
    "content-length": body.length,
    "cache-control": reply.maxAge === undefined ? "no-store" : `public, max-age=${reply.maxAge}`,
    "x-content-type-options": "nosniff",
    ...headers,
  });
  out.end(request.method === "HEAD" ? undefined : body);
}
