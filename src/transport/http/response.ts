// Writes responses over either HTTP version.
import type { ServerResponse } from "node:http";
import { http } from "../../base/node-http.ts";
import type { Call } from "../../pipeline/call.ts";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./message.ts";
import { sendAtTickEnd } from "./response-batch.ts";

/** Headers by lower-case name. Only `set-cookie` may have several values (RFC 9110 §5.3). */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

/** A response, complete. Without `body` it has no content, and no content-length. */
export interface OutgoingResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body?: string | Uint8Array | undefined;
  /** Sent behind the body over HTTP/2, or as headers where there is no body. */
  readonly trailers?: Readonly<Record<string, string>>;
}

/**
 * Longer texts are passed to node:http2 as bytes. Until the client reads a text, node would keep it besides its bytes, and reserve three
 * bytes for each character.
 */
const longText = 16 * 1024;

/** Lower-case names and values. */
export type HeaderList = readonly (readonly [string, string])[];

/** The part of a call that determines its response's headers. */
export type ResponseCall = Pick<Call, "requestId" | "responseHeaders">;

/** Returns the headers of a response to a call. One that the call sets replaces its request id. */
export function callHeaders({ requestId, responseHeaders }: ResponseCall): HeaderList {
  const named = ["x-request-id", requestId] as const;
  if (responseHeaders.size === 0) return [named];
  return responseHeaders.has("x-request-id") ? [...responseHeaders] : [named, ...responseHeaders];
}

/** Sends a response with `headers` added, which replace its own; without the content for HEAD. */
export function sendResponse(req: HttpRequest, res: HttpResponse, reply: OutgoingResponse, headers: HeaderList): void {
  const { body: content = "" } = reply;
  const length = Buffer.byteLength(content);
  // RFC 9110 §8.6: without content there is no length, as in a 304.
  const hasLength = reply.body !== undefined && reply.headers["content-length"] === undefined;
  const lines = headLines(reply.headers, headers, hasLength ? ["content-length", String(length)] : []);
  // RFC 9110 §9.3.2: this holds for errors, too.
  const body = req.method === "HEAD" ? "" : content;
  if (isHttp2(res)) {
    check(headers);
    // The types lack the lists of names and values.
    res.writeHead(reply.status, lines as string[]);
    res.end(typeof body === "string" && length > longText ? Buffer.from(body) : body);
  } else {
    res.writeHead(reply.status, lines);
    // node sends a text in one packet with the head, but bytes in a second one. ASCII needs no encoding.
    const encoding = length === content.length ? "latin1" : "utf8";
    sendAtTickEnd(() => endReply(res, body, encoding));
  }
}

/** Ends a response after its caller has returned: an error closes the connection. */
function endReply(res: ServerResponse, body: string | Uint8Array, encoding: BufferEncoding): void {
  try {
    res.end(body, encoding);
  } catch (error) {
    res.destroy(error as Error);
  }
}

/** Appends headers to `lines` as alternating names and values. Those of `headers` replace those of the response. */
export function headLines(
  own: ResponseHeaders,
  headers: HeaderList,
  lines: (string | string[])[] = [],
): (string | string[])[] {
  for (const name in own) if (!isAmong(headers, name)) lines.push(name, own[name]!);
  for (const [name, value] of headers) lines.push(name, value);
  return lines;
}

function isAmong(headers: HeaderList, name: string): boolean {
  for (const [other] of headers) if (other === name) return true;
  return false;
}

/** Throws on line breaks in values, which node:http2 accepts. */
function check(headers: HeaderList): void {
  const { validateHeaderName, validateHeaderValue } = http;
  for (const [name, value] of headers) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}
